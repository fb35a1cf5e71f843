/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the sites that took the memory for the items of Python's growing containers. Their stacks
 * show which line of a script adds items.
 */
#ifndef REPORT_KEEPERS_H
#define REPORT_KEEPERS_H

#include "report/python_growth.h"
#include "report/suspects.h"

/* Returns the one of cnt sites whose block has the items of a container; NULL if there is none. */
const struct report_site *keepers_find(const struct report_site *keepers, size_t cnt,
				       const struct python_container *container);

/*
 * If each object of Python is a block: moves the suspect that adds items to a growing container to
 * the front, if the blocks of the first suspect are small, and few enough to be the items.
 * CPython uses the blocks of some freed objects again, without a call of the allocator. So a
 * block's stack may belong to an earlier object than the one that is in it now.
 */
void keepers_prefer(const struct python_growth *python, const struct report_site *keepers,
		    size_t keeper_cnt, struct suspect *suspects, size_t suspect_cnt);

#endif
