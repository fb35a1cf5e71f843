// SPDX-License-Identifier: GPL-2.0-or-later
/* Names the frames of one site: where its stack begins, and whose memory it is. */
#include "report/allocator_frames.h"
#include "report/culprit.h"
#include "report/report.h"

uint64_t frame_address(uint64_t frame, const struct sym_location *location)
{
	if (!MEMLEAK_FRAME_IN_FILE(frame))
		return MEMLEAK_FRAME_ADDR(frame);
	return location ? location->addr : 0;
}

void report_site_name(struct symbol_backend *symbols, struct report_site *shown)
{
	const struct site *site = shown->site;
	size_t first = 0;

	for (size_t i = 0; i < site->frame_cnt; i++)
		shown->locations[i] = symbols->lookup(symbols, site, site->frames[i]);
	while (first < site->frame_cnt && frame_is_allocator(site, shown->locations[first]))
		first++;
	/* Nobody else there: then show what is. */
	shown->first_frame = first < site->frame_cnt ? first : 0;
	shown->culprit = culprit_of(shown);
}
