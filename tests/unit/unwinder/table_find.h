/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Searches an unwind table as the BPF programs do. */
#ifndef TESTS_UNIT_UNWINDER_TABLE_FIND_H
#define TESTS_UNIT_UNWINDER_TABLE_FIND_H

#include "unwinder/server/table.h"

/* Returns the rule for the instruction at a file offset. */
struct unwind_rule unwind_table_find(const struct unwind_table *table, uint64_t offset);

#endif
