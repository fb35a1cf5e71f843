/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions for golden tests: compare text with files in tests/golden/, and check that text is safe
 * to print on a terminal.
 */
#ifndef TESTS_UNIT_LIB_GOLDEN_H
#define TESTS_UNIT_LIB_GOLDEN_H

/*
 * Compares text with tests/golden/NAME/report.SUFFIX. With GOLDEN_UPDATE=1, overwrites that file.
 */
void compare(const char *name, const char *suffix, const char *text);
/* Checks that text is UTF-8 without control characters except tabs and newlines. */
void check_text(const char *text);

#endif
