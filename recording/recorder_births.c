// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records blocks by time of allocation ("births"): the earlier times that define the classes, and
 * the changes of each site's classes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "recording/recorder.h"

/*
 * Records the list of earlier times. A time that was in the previous list is recorded as its number
 * in that list, counted from 1; any other time as 0 and its value.
 */
static void put_moments(struct byte_buffer *bytes, const struct moments *before,
			const struct moments *now)
{
	bytes_put_number(bytes, now->cnt);
	for (size_t i = 0; i < now->cnt; i++) {
		size_t at = bisect_numbers(before->ns, before->cnt, now->ns[i]);
		bool is_known = at < before->cnt && before->ns[at] == now->ns[i];

		bytes_put_number(bytes, is_known ? at + 1 : 0);
		if (!is_known)
			bytes_put_number(bytes, now->ns[i]);
	}
}

/*
 * Returns the classes of a site as recorded last; all 0 if there are none yet. NULL if out of
 * memory.
 */
static struct ages *births_of(struct recorded_site *entry)
{
	if (!entry->births)
		entry->births = calloc(1, sizeof(*entry->births));
	return entry->births;
}

static int add_site(struct section_buffer *section, const struct moments *before,
		    const struct moments *now, struct recorded_site *entry, size_t *next)
{
	static const struct ages none;
	const struct ages *latest = entry->site->births ? entry->site->births : &none;
	uint64_t recorded[BIRTH_WORDS], words[BIRTH_WORDS];
	bool is_new = !entry->births;
	struct ages *births;

	if (!entry->births && !entry->site->births)
		return 0;
	births = births_of(entry);
	if (!births)
		return -ENOMEM;
	recording_births_move(births, before, now);
	recording_birth_words(births, recorded);
	recording_birth_words(latest, words);
	/*
	 * Record the first classes of a site even if all of them are empty: otherwise, readers
	 * would take them for unknown.
	 */
	if (!is_new && !memcmp(recorded, words, sizeof(words)))
		return 0;
	bytes_put_number(&section->bytes, entry->number - *next);
	bytes_put_changes(&section->bytes, recorded, words, BIRTH_WORDS);
	section->cnt++;
	*next = entry->number + 1;
	*births = *latest;
	return 0;
}

int recorder_add_births(struct recorder *recorder, const struct snapshot *snap)
{
	struct section_buffer *section = &recorder->sections[SECTION_BIRTHS];
	size_t next = 0;
	int err = 0;

	put_moments(&section->bytes, &recorder->earlier, &snap->earlier);
	for (size_t i = 0; !err && i < recorder->site_cnt; i++) {
		struct recorded_site *entry = recorder->sites[i];

		if (entry && entry->present) {
			err = add_site(section, &recorder->earlier, &snap->earlier, entry, &next);
		} else if (entry) {
			free(entry->births);
			entry->births = NULL;
		}
	}
	recorder->earlier = snap->earlier;
	return err;
}
