// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the sums of memory that is reachable only from lost blocks. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "recording/reader.h"

/*
 * Bytes of the memory budget per sum: its entry in the array, which may be half empty, and its copy
 * in the snapshot.
 */
#define SUM_MEMORY (3 * sizeof(struct hanging_sum))

int recording_take_hanging(struct recording *recording, struct byte_reader *from)
{
	size_t site = (size_t)bytes_take_below(from, recording->site_cnt);
	size_t head = (size_t)bytes_take_below(from, recording->site_cnt);
	struct reach_sum of;

	of.bytes = bytes_take_number(from);
	of.count = bytes_take_number(from);
	if (from->failed)
		return -EBADMSG;
	if (!recording_take_memory(recording, 1, SUM_MEMORY))
		return -EFBIG;
	if (array_reserve(&recording->hanging, &recording->hanging_cap,
			  recording->hanging_cnt + 1)) {
		recording->memory_left += SUM_MEMORY;
		return -ENOMEM;
	}
	recording->hanging[recording->hanging_cnt++] =
		(struct hanging_sum){.site = recording->sites[site].fixed.id,
				     .head = recording->sites[head].fixed.id,
				     .of = of};
	return 0;
}

void recording_free_hanging(struct recording *recording)
{
	recording->memory_left += recording->hanging_cnt * SUM_MEMORY;
	free(recording->hanging);
	recording->hanging = NULL;
	recording->hanging_cnt = 0;
	recording->hanging_cap = 0;
}

static int by_site(const void *left, const void *right)
{
	const struct hanging_sum *a = left, *b = right;

	return ORDER(a->site, b->site) ?: ORDER(a->head, b->head);
}

void recording_give_hanging(struct recording *recording, struct snapshot *snap)
{
	if (!recording->hanging_cnt)
		return;
	qsort(recording->hanging, recording->hanging_cnt, sizeof(*recording->hanging), by_site);
	snap->hanging = recording->hanging;
	snap->hanging_cnt = recording->hanging_cnt;
}
