// SPDX-License-Identifier: GPL-2.0-or-later
/* Names the frames of a site. Then finds the first frame to show, and the function to blame. */
#include "report/naming.h"

#include "report/allocator_frames.h"
#include "report/blame.h"

/*
 * Returns the location that a site of the same process has at the frame of the same distance from
 * the outermost one, if the frames are equal; else NULL.
 */
static const struct sym_location *known_location(const struct report_site *known,
						 const struct site *site, size_t frame)
{
	size_t cnt = known ? known->site->frame_cnt : 0, distance = site->frame_cnt - frame;

	if (cnt < distance || known->site->process != site->process ||
	    known->site->frames[cnt - distance] != site->frames[frame])
		return NULL;
	return known->locations[cnt - distance];
}

void report_site_name(const struct options *opts, struct symbol_backend *symbols,
		      const struct report_site *known, struct report_site *shown)
{
	const struct site *site = shown->site;
	size_t first = 0;

	for (size_t i = 0; i < site->frame_cnt; i++) {
		shown->locations[i] = known_location(known, site, i);
		if (!shown->locations[i])
			shown->locations[i] = symbols->lookup(symbols, site, site->frames[i]);
	}
	while (first < site->frame_cnt && frame_is_allocator(site, shown->locations[first]))
		first++;
	/* If all frames are in the allocator, show all of them. */
	shown->first_frame = first < site->frame_cnt ? first : 0;
	blame(opts, shown);
}
