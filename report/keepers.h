/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the sites that took the memory for the items of Python's growing containers. Their stacks
 * show which line of a script adds items.
 */
#ifndef REPORT_KEEPERS_H
#define REPORT_KEEPERS_H

#include "report/python_growth.h"
#include "report/suspects.h"

/* Returns the site whose block stores the items of a container; NULL if it is not in `keepers`. */
const struct report_site *keepers_find(const struct report_site *keepers, size_t cnt,
				       const struct python_container *container);

/*
 * If the blocks of the first suspect are small, and few enough to be the items of a growing
 * container, moves to the front the suspect whose function adds items to this container or, if
 * there is none, the suspect whose block stores the items. If there is none either, sets
 * may_be_reused of the first suspect. The stacks of small blocks may mislead: CPython reuses the
 * blocks of some freed objects without a call of the allocator, so a block may have the stack of an
 * earlier object. Does nothing unless each Python object is a block.
 */
void keepers_prefer(const struct python_growth *python, const struct report_site *keepers,
		    size_t keeper_cnt, struct suspect *suspects, size_t suspect_cnt);

#endif
