/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command lines for test_options.c, with the expected results. The tests split them into words as a
 * shell does.
 */
#ifndef TESTS_UNIT_OPTIONS_LINES_H
#define TESTS_UNIT_OPTIONS_LINES_H

#include <stddef.h>

struct line {
	const char *line;
	const char *expected;
};

extern const struct line good[], bad[];
extern const size_t good_cnt, bad_cnt;

#endif
