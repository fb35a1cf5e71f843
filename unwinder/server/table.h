/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind table of one file as plain data, in the form of bpf/unwind.h. Knows nothing of ELF
 * or DWARF: builder.c reads those.
 */
#ifndef UNWINDER_SERVER_TABLE_H
#define UNWINDER_SERVER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"

/* The numbers of two rules that are in every table. */
#define UNWIND_RULE_NO_ROW 0U
#define UNWIND_RULE_UNKNOWN 1U

/* From offset on, up to the next row's, rule holds. */
struct unwind_row {
	uint64_t offset; /* in the file */
	uint32_t rule;
};

struct unwind_table {
	uint32_t *words; /* page_cnt * UNWIND_PAGE_WORDS */
	uint32_t page_cnt;
	uint32_t rule_cnt;
	uint32_t index; /* its first word */
	uint32_t granule_cnt;
	uint64_t first; /* offset of the first granule in the file */
	uint32_t row_cnt;
};

/*
 * Lays out rows, which are sorted by offset, no two with the same. The last one should be a rule
 * of kind NO_ROW, which ends the covered code. Returns 0, -E2BIG or -ENOMEM.
 */
int unwind_table_init(const struct unwind_rule *rules, uint32_t rule_cnt,
		      const struct unwind_row *rows, size_t row_cnt, struct unwind_table *ret);
void unwind_table_deinit(struct unwind_table *table);

/* Whether every number in the table lies within the table; one that does not is not to be used. */
bool unwind_table_valid(const struct unwind_table *table);

/* The rule of the instruction at offset, found as the BPF program finds it. */
struct unwind_rule unwind_table_find(const struct unwind_table *table, uint64_t offset);

#endif
