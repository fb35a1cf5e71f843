/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A symbolizer for the addresses of this process, for tests with hostile files and with helpers
 * that die.
 */
#ifndef TESTS_UNIT_SYMBOLIZER_OWN_SPACE_H
#define TESTS_UNIT_SYMBOLIZER_OWN_SPACE_H

#include "tests/unit/symbolizer/known.h"

extern struct symbolizer *sym;
extern struct symspace *space;

int set_up(void **state);
int tear_down(void **state);
/* Checks that names in other files than the test's hostile one are still found. */
void assert_others_named(unsigned int budget_ms);
void *map_code(const char *path, size_t *len);
void resolve_many(void *code, size_t len, unsigned int budget_ms);
bool build_library(const char *flags);

#endif
