// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads each site's blocks by time of allocation ("births"). Their classes are defined by a list of
 * earlier times (struct moments).
 */
#include <errno.h>
#include <stdlib.h>

#include "recording/reader.h"

#define BIRTHS_BYTES_MIN 2
/* Bytes of the memory budget for a site's births: the current state, and a copy in the snapshot */
#define BIRTHS_MEMORY (2 * sizeof(struct ages))

void recording_free_births(struct recording *recording, struct read_site *site)
{
	if (site->births)
		recording->memory_left += BIRTHS_MEMORY;
	free(site->births);
	site->births = NULL;
}

static int take_moments(struct recording *recording, struct byte_reader *from, struct moments *ret)
{
	const struct moments *before = &recording->earlier;
	uint64_t last_ns = 0;

	ret->cnt = (size_t)bytes_take_below(from, MOMENTS_MAX);
	for (size_t i = 0; !from->failed && i < ret->cnt; i++) {
		uint64_t number = bytes_take_below(from, before->cnt + 1);

		if (from->failed)
			break;
		ret->ns[i] = number ? before->ns[number - 1] : bytes_take_number(from);
		if (i && ret->ns[i] <= last_ns)
			return -EBADMSG;
		last_ns = ret->ns[i];
	}
	return from->failed ? -EBADMSG : 0;
}

static int take_site(struct recording *recording, struct byte_reader *from, struct read_site *site)
{
	uint64_t words[BIRTH_WORDS];

	if (!site->words[SITE_PRESENT])
		return -EBADMSG;
	if (!site->births) {
		if (!recording_take_memory(recording, 1, BIRTHS_MEMORY))
			return -EFBIG;
		site->births = calloc(1, sizeof(*site->births));
		if (!site->births) {
			recording->memory_left += BIRTHS_MEMORY;
			return -ENOMEM;
		}
	}
	recording_birth_words(site->births, words);
	bytes_take_changes(from, words, BIRTH_WORDS);
	recording_births_from(words, site->births);
	return from->failed ? -EBADMSG : 0;
}

/*
 * Replaces the earlier times by `now`, and converts the births of all sites. Drops the births of
 * sites that are not in the snapshot.
 */
static void move_all(struct recording *recording, const struct moments *now)
{
	for (size_t i = 0; i < recording->site_cnt; i++) {
		struct read_site *site = &recording->sites[i];

		if (!site->words[SITE_PRESENT])
			recording_free_births(recording, site);
		else if (site->births)
			recording_births_move(site->births, &recording->earlier, now);
	}
	recording->earlier = *now;
}

int recording_take_births(struct recording *recording, struct byte_reader *from)
{
	size_t cnt = bytes_take_cnt(from, BIRTHS_BYTES_MIN), next = 0;
	struct moments now = {.cnt = 0};
	int err = take_moments(recording, from, &now);

	if (!err)
		move_all(recording, &now);
	for (size_t i = 0; !err && i < cnt; i++) {
		next += (size_t)bytes_take_below(from, recording->site_cnt - next);
		err = from->failed ? -EBADMSG
				   : take_site(recording, from, &recording->sites[next++]);
	}
	return err;
}
