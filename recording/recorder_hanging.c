// SPDX-License-Identifier: GPL-2.0-or-later
/* Records the sums of memory that is reachable only from lost blocks. */
#include "recording/recorder.h"

/* Returns the number of a site, which must be in the snapshot. */
static uint64_t number_of(const struct recorder *recorder, uint64_t id)
{
	const struct recorded_site *entry = hash_map_get(&recorder->by_id, id);

	return entry->number;
}

void recorder_add_hanging(struct recorder *recorder, const struct snapshot *snap)
{
	struct section_buffer *section = &recorder->sections[SECTION_HANGING];

	for (size_t i = 0; i < snap->hanging_cnt; i++) {
		const struct hanging_sum *sum = &snap->hanging[i];

		bytes_put_number(&section->bytes, number_of(recorder, sum->site));
		bytes_put_number(&section->bytes, number_of(recorder, sum->head));
		bytes_put_number(&section->bytes, sum->of.bytes);
		bytes_put_number(&section->bytes, sum->of.count);
		section->cnt++;
	}
}
