/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the golden tests share: files in tests/golden/, and what no terminal may be sent. */
#ifndef TESTS_UNIT_LIB_GOLDEN_H
#define TESTS_UNIT_LIB_GOLDEN_H

/* With tests/golden/NAME/report.SUFFIX; GOLDEN_UPDATE=1 writes that file anew. */
void compare(const char *name, const char *suffix, const char *text);
/* Nothing that a terminal obeys but tabs and newlines, and nothing but UTF-8. */
void check_text(const char *text);

#endif
