/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages for a browser. */
#ifndef TESTS_UNIT_LIB_PAGE_H
#define TESTS_UNIT_LIB_PAGE_H

#include <stddef.h>

/* It is one page, whose data is JSON, and of printable UTF-8, whatever names are in it. */
void check_page(const char *page);
/* With tests/golden/NAME/report.html; takes out what is the same in all pages. */
void compare_page(const char *name, char *page);

size_t count_of(const char *text, const char *what);

#endif
