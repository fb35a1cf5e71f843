// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads which slab caches and lines of kernel code have grown. */
#include <errno.h>

#include "recording/reader.h"

int recording_take_growth(struct recording *recording, struct byte_reader *from)
{
	const size_t most = sizeof(recording->growths) / sizeof(recording->growths[0]);
	struct kernel_growth *growth = &recording->growths[recording->growth_cnt];

	if (recording->growth_cnt == most)
		return -EBADMSG;
	growth->kind = (enum kernel_growth_kind)bytes_take_below(from, KERNEL_GROWTH_KIND_CNT);
	growth->name = recording_take_string_ref(recording, from);
	growth->bytes = bytes_take_number(from);
	growth->grown_bytes = bytes_take_number(from);
	growth->reclaim = (enum reclaim)bytes_take_below(from, RECLAIM_CNT);
	if (from->failed || !growth->name)
		return -EBADMSG;
	recording->growth_cnt++;
	return 0;
}
