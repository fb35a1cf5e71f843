// SPDX-License-Identifier: GPL-2.0-or-later
/* Records strings, processes and locations. Each of them is recorded only once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "recording/recorder.h"

/* Sets *ret to the number of an item. Adds a new item to the section. Returns 0 or -ENOMEM. */
static int intern_in(struct intern *table, struct section_buffer *section, const void *bytes,
		     size_t len, uint64_t *ret)
{
	bool fresh;

	*ret = intern_get(table, bytes, len, &fresh);
	if (!fresh)
		return *ret ? 0 : -ENOMEM;
	bytes_put(&section->bytes, bytes, len);
	section->cnt++;
	return 0;
}

int recorder_string(struct recorder *recorder, const char *text, uint64_t *ret)
{
	struct section_buffer *section = &recorder->sections[SECTION_STRINGS];
	size_t len = text ? strlen(text) : 0;
	bool fresh;

	*ret = 0;
	if (!text)
		return 0;
	*ret = intern_get(&recorder->strings, text, len, &fresh);
	if (!fresh)
		return *ret ? 0 : -ENOMEM;
	bytes_put_number(&section->bytes, len);
	bytes_put(&section->bytes, text, len);
	section->cnt++;
	return 0;
}

int recorder_process(struct recorder *recorder, const struct process *process, uint64_t *ret)
{
	struct byte_buffer bytes = {0};
	uint64_t comm = 0, cgroup = 0;
	int err = 0;

	*ret = 0;
	if (!process)
		return 0;
	err = recorder_string(recorder, process->comm, &comm);
	if (!err)
		err = recorder_string(recorder, process->cgroup, &cgroup);
	bytes_put_number(&bytes, process->image);
	bytes_put_number(&bytes, (uint32_t)process->pid);
	bytes_put_number(&bytes, comm);
	bytes_put_number(&bytes, cgroup);
	if (bytes.failed)
		err = -ENOMEM;
	if (!err)
		err = intern_in(&recorder->processes, &recorder->sections[SECTION_PROCESSES],
				bytes.bytes, bytes.len, ret);
	free(bytes.bytes);
	return err;
}

static int put_frame(struct recorder *recorder, const struct sym_frame *frame,
		     struct byte_buffer *bytes)
{
	uint64_t symbol, file;
	int err = recorder_string(recorder, frame->symbol, &symbol);

	if (!err)
		err = recorder_string(recorder, frame->file, &file);
	if (err)
		return err;
	bytes_put_number(bytes, symbol);
	bytes_put_number(bytes, frame->offset);
	bytes_put_number(bytes, file);
	bytes_put_number(bytes, frame->line);
	bytes_put_number(bytes, frame->inlined);
	return 0;
}

static int put_location(struct recorder *recorder, const struct sym_location *location,
			struct byte_buffer *bytes)
{
	uint64_t module, known_as, build_id;
	int err = recorder_string(recorder, location->module, &module);

	if (!err)
		err = recorder_string(recorder, location->known_as, &known_as);
	if (!err)
		err = recorder_string(recorder, location->build_id, &build_id);
	if (err)
		return err;
	bytes_put_number(bytes, location->addr);
	bytes_put_number(bytes, module);
	bytes_put_number(bytes, known_as);
	bytes_put_number(bytes, location->module_offset);
	bytes_put_number(bytes, build_id);
	bytes_put_number(bytes, location->frame_cnt);
	for (size_t i = 0; !err && i < location->frame_cnt; i++)
		err = put_frame(recorder, &location->frames[i], bytes);
	return err;
}

static int location_number(struct recorder *recorder, const struct sym_location *location,
			   uint64_t *ret)
{
	struct byte_buffer bytes = {0};
	int err;

	*ret = 0;
	if (!location)
		return 0;
	err = put_location(recorder, location, &bytes);
	if (bytes.failed)
		err = -ENOMEM;
	if (!err)
		err = intern_in(&recorder->locations, &recorder->sections[SECTION_LOCATIONS],
				bytes.bytes, bytes.len, ret);
	free(bytes.bytes);
	return err;
}

/* True if a location has a name, and no source line is still being looked up. */
static bool is_named(const struct sym_location *location)
{
	return location && location->frame_cnt && location->frames[0].symbol &&
	       !location->lines_follow;
}

/*
 * Sets the snapshot at which the names of a site are looked up again. The intervals grow, because
 * some code never gets a name.
 */
static void retry_later(struct recorder *recorder, struct recorded_site *entry)
{
	entry->retry_gap = entry->retry_gap ? entry->retry_gap * 2 : 1;
	entry->retry_at = recorder->snapshots + entry->retry_gap;
}

static int name_site(struct recorder *recorder, struct symbol_backend *symbols,
		     struct recorded_site *entry)
{
	const struct site *site = entry->site;
	struct section_buffer *section = &recorder->sections[SECTION_NAMES];
	struct byte_buffer bytes = {0};
	bool complete = true;
	uint64_t hash;
	int err = 0;

	for (size_t i = 0; !err && i < site->frame_cnt; i++) {
		const struct sym_location *location =
			symbols->lookup(symbols, site, site->frames[i]);
		uint64_t number = 0;

		complete &= is_named(location);
		err = location_number(recorder, location, &number);
		bytes_put_number(&bytes, number);
	}
	if (bytes.failed)
		err = -ENOMEM;
	hash = intern_hash(bytes.bytes, bytes.len);
	if (!err && site->frame_cnt && hash != entry->names) {
		bytes_put_number(&section->bytes, entry->number);
		bytes_put(&section->bytes, bytes.bytes, bytes.len);
		section->cnt++;
		entry->names = hash;
	}
	if (complete)
		entry->retry_at = 0;
	else
		retry_later(recorder, entry);
	free(bytes.bytes);
	return err;
}

int recorder_add_names(struct recorder *recorder, struct symbol_backend *symbols, bool all,
		       uint64_t deadline_ns)
{
	cleanup_free struct recorded_site **entries =
		calloc(recorder->site_cnt + 1, sizeof(struct recorded_site *));
	cleanup_free const struct site **sites = calloc(recorder->site_cnt + 1, sizeof(*sites));
	size_t cnt = 0;
	int err;

	if (!entries || !sites)
		return -ENOMEM;
	for (size_t i = 0; i < recorder->site_cnt; i++) {
		struct recorded_site *entry = recorder->sites[i];

		if (!entry || !entry->site || !entry->retry_at ||
		    (entry->retry_at > recorder->snapshots && !all))
			continue;
		sites[cnt] = entry->site;
		entries[cnt++] = entry;
	}
	if (!cnt)
		return 0;
	err = symbols->prepare(symbols, sites, cnt, deadline_ns);
	for (size_t i = 0; !err && i < cnt; i++)
		err = name_site(recorder, symbols, entries[i]);
	return err;
}
