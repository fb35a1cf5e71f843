// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes keys of sites. A site has the same key in two runs, even though addresses and pids differ.
 */
#include "report/diff_key.h"
#include "base/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Methods of identifying a frame. The key contains the method's letter, so that frames identified
 * by different methods never match.
 */
enum way { BY_ADDRESS = 'a', BY_BUILD = 'b', BY_FILE = 'f', BY_LINE = 'l', BY_NAMES = 'n' };

static int add_builds(const struct diff_side *side, struct intern *builds)
{
	for (size_t i = 0; i < side->snap->site_cnt; i++) {
		const struct site *site = &side->snap->sites[i];

		for (size_t j = 0; j < site->frame_cnt; j++) {
			const struct sym_location *location =
				side->symbols->lookup(side->symbols, site, site->frames[j]);
			bool fresh;

			if (location && location->build_id &&
			    !intern_get(builds, location->build_id, strlen(location->build_id),
					&fresh))
				return -ENOMEM;
		}
	}
	return 0;
}

int diff_keys_init(const struct diff_side *sides, bool same_run, struct diff_keys *ret)
{
	int err;

	*ret = (struct diff_keys){.same_run = same_run};
	err = add_builds(&sides[0], &ret->builds[0]);
	return err ? err : add_builds(&sides[1], &ret->builds[1]);
}

void diff_keys_deinit(struct diff_keys *keys)
{
	intern_deinit(&keys->builds[0]);
	intern_deinit(&keys->builds[1]);
	free(keys->key.bytes);
	*keys = (struct diff_keys){0};
}

static void put_text(struct byte_buffer *key, const char *text)
{
	bytes_put(key, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void put_way(struct byte_buffer *key, enum way way)
{
	const char letter = (char)way;

	bytes_put(key, &letter, 1);
}

static bool in_both(const struct diff_keys *keys, const char *build_id)
{
	return build_id && intern_has(&keys->builds[0], build_id, strlen(build_id)) &&
	       intern_has(&keys->builds[1], build_id, strlen(build_id));
}

static bool has_names(const struct sym_location *location)
{
	return location->frame_cnt && location->frames[0].symbol;
}

/*
 * True if a module is a file. A name in brackets stands for other memory, whose offsets are not
 * stable.
 */
static bool is_file(const char *module)
{
	return module && *module != '[';
}

/* Puts the line of a script into the key: frames of scripts have no address to be compared. */
static void put_line(struct byte_buffer *key, const struct sym_frame *frame)
{
	put_way(key, BY_LINE);
	put_text(key, frame->file);
	put_text(key, frame->symbol);
	bytes_put_number(key, frame->line);
}

static void put_frame(struct diff_keys *keys, uint64_t frame, const struct sym_location *location)
{
	struct byte_buffer *key = &keys->key;

	if (sym_is_script(location) && location->frame_cnt) {
		put_line(key, &location->frames[0]);
	} else if (location && in_both(keys, location->build_id)) {
		put_way(key, BY_BUILD);
		put_text(key, location->build_id);
		bytes_put_number(key, location->module_offset);
	} else if (keys->same_run && location && is_file(location->module)) {
		put_way(key, BY_FILE);
		put_text(key, location->module);
		bytes_put_number(key, location->module_offset);
	} else if (keys->same_run || !location || !location->module) {
		put_way(key, BY_ADDRESS);
		bytes_put_number(key, keys->same_run ? frame_address(frame, location) : 0);
	} else if (has_names(location)) {
		put_way(key, BY_NAMES);
		put_text(key, path_name(location->module));
		for (size_t i = 0; i < location->frame_cnt; i++)
			put_text(key, location->frames[i].symbol);
	} else {
		put_way(key, BY_FILE);
		put_text(key, path_name(location->module));
		bytes_put_number(key, is_file(location->module) ? location->module_offset : 0);
	}
}

int diff_keys_make(struct diff_keys *keys, struct symbol_backend *symbols, const struct site *site)
{
	struct byte_buffer *key = &keys->key;
	const struct process *process = site->process;

	key->len = 0;
	bytes_put_number(key, site->space);
	bytes_put_number(key, site->kind);
	bytes_put_number(key, site->origin.interrupt);
	put_text(key, process && !keys->same_run ? process->comm : "");
	bytes_put_number(key, process && keys->same_run ? (uint32_t)process->pid : 0);
	for (size_t i = 0; i < site->frame_cnt; i++)
		put_frame(keys, site->frames[i], symbols->lookup(symbols, site, site->frames[i]));
	return key->failed ? -ENOMEM : 0;
}
