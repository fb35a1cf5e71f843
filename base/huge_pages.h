/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Large memory that is gone about in at random: with huge pages it is found faster. */
#ifndef BASE_HUGE_PAGES_H
#define BASE_HUGE_PAGES_H

#include <stddef.h>

/* Has what was not touched yet of some memory, if that is large, in huge pages where there are. */
void huge_pages_use(void *start, size_t bytes);

#endif
