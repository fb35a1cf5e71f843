/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Uses huge pages for large memory with random access, which makes it faster. */
#ifndef BASE_HUGE_PAGES_H
#define BASE_HUGE_PAGES_H

#include <stddef.h>

/* Requests huge pages for the untouched part of some memory, if it is large. */
void huge_pages_use(void *start, size_t bytes);

#endif
