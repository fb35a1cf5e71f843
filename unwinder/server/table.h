/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind table of one file as plain data, in the format of bpf/unwind.h. Knows nothing of ELF
 * or DWARF, which builder.c reads.
 */
#ifndef UNWINDER_SERVER_TABLE_H
#define UNWINDER_SERVER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"

/* Numbers of two rules that are in every table. */
#define UNWIND_RULE_NO_ROW 0U
#define UNWIND_RULE_UNKNOWN 1U

/* A rule that applies from this row's offset up to the next row's offset. */
struct unwind_row {
	uint64_t offset; /* file offset of the first instruction to which the rule applies */
	uint32_t rule;
};

struct unwind_table {
	uint32_t *words; /* array of page_cnt * UNWIND_PAGE_WORDS words */
	uint32_t page_cnt;
	uint32_t rule_cnt;
	uint32_t index; /* number of words before the index of granules */
	uint32_t granule_cnt;
	uint64_t first; /* file offset of the first granule of the index */
	uint32_t row_cnt;
};

/*
 * Lays out rows as a table. The rows must be sorted by offset, with no duplicate offsets. The last
 * row should have rule NO_ROW, which ends the described code. Returns 0, -ENOENT if there are no
 * rows, -E2BIG or -ENOMEM.
 */
int unwind_table_init(const struct unwind_rule *rules, uint32_t rule_cnt,
		      const struct unwind_row *rows, size_t row_cnt, struct unwind_table *ret);
void unwind_table_deinit(struct unwind_table *table);

/* True if all numbers in the table are in range. An invalid table must not be used. */
bool unwind_table_valid(const struct unwind_table *table);

#endif
