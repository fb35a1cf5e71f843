/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions for tests of HTML reports. */
#ifndef TESTS_UNIT_LIB_PAGE_H
#define TESTS_UNIT_LIB_PAGE_H

#include <stddef.h>

/* Checks that page is a single HTML page of printable UTF-8 and that its embedded data is JSON. */
void check_page(const char *page);
/*
 * Compares `page` with tests/golden/NAME/report.html, without the parts that all HTML reports
 * share.
 */
void compare_page(const char *name, char *page);

size_t count_of(const char *text, const char *what);

#endif
