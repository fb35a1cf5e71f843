/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes random access to large memory faster by using huge pages. */
#ifndef BASE_HUGE_PAGES_H
#define BASE_HUGE_PAGES_H

#include <stddef.h>

/*
 * Requests huge pages for a piece of memory of at least 4 MiB; smaller pieces are left as they are.
 * Pages that are already in use stay small.
 */
void huge_pages_use(void *start, size_t bytes);

#endif
