// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records the chains of holders of sites' blocks. A holder that is a block is recorded as the
 * number of its site, whose names are recorded anyway. Any other holder is recorded as text,
 * because it cannot be named once the process has ended.
 */
#include <errno.h>

#include "base/cleanup.h"
#include "recording/recorder.h"
#include "report/held_by.h"

/* Returns the number of a site, plus 1; 0 for NULL, or if the site was not recorded. */
static uint64_t site_number(const struct recorder *recorder, const struct site *site)
{
	const struct recorded_site *entry = site ? hash_map_get(&recorder->by_id, site->id) : NULL;

	return entry ? entry->number + 1 : 0;
}

static int put_words(struct recorder *recorder, const struct site *site,
		     const struct holder *holder, struct symbol_backend *symbols,
		     uint64_t deadline_ns)
{
	cleanup_free char *words = held_by_words(site, holder, symbols, deadline_ns);
	uint64_t number;
	int err = words ? recorder_string(recorder, words, &number) : -ENOMEM;

	if (!err)
		bytes_put_number(&recorder->sections[SECTION_HOLDERS].bytes, number);
	return err;
}

static int put_chain(struct recorder *recorder, const struct site *site,
		     struct symbol_backend *symbols, uint64_t deadline_ns)
{
	struct section_buffer *section = &recorder->sections[SECTION_HOLDERS];
	int err = 0;

	bytes_put_number(&section->bytes, site_number(recorder, site) - 1);
	bytes_put_number(&section->bytes, site->reach.held_by_cnt);
	for (size_t i = 0; !err && i < site->reach.held_by_cnt; i++) {
		const struct holder *holder = &site->reach.held_by[i];

		bytes_put_number(&section->bytes, holder->kind);
		if (holder->kind != HOLDER_BLOCK) {
			err = put_words(recorder, site, holder, symbols, deadline_ns);
			continue;
		}
		bytes_put_number(&section->bytes, site_number(recorder, holder->site));
		bytes_put_number(&section->bytes, holder->repeats);
	}
	section->cnt++;
	return err;
}

int recorder_add_holders(struct recorder *recorder, const struct snapshot *snap,
			 struct symbol_backend *symbols, uint64_t deadline_ns)
{
	int err = 0;

	for (size_t i = 0; !err && i < snap->site_cnt; i++)
		if (snap->sites[i].reach.held_by_cnt)
			err = put_chain(recorder, &snap->sites[i], symbols, deadline_ns);
	return err;
}
