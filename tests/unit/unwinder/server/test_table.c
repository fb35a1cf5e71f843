// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests unwind tables: the layout of a table, and the rules of hand-written frame information. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/unwinder/table_find.h"
#include "unwinder/server/builder.h"

#define RULE_CNT 3

static const struct unwind_rule rules[RULE_CNT] = {
	{.cfa = UNWIND_CFA_NO_ROW},
	{.cfa = UNWIND_CFA_UNKNOWN},
	{.cfa = UNWIND_CFA_SP, .cfa_off = 8},
};

static void rows_in_granules(void **state)
{
	static const struct unwind_row rows[] = {{0x1010, 2}, {0x1020, 1}, {0x1350, 0}};
	struct unwind_table table;

	assert_int_equal(unwind_table_init(rules, RULE_CNT, rows, 3, &table), 0);
	assert_true(unwind_table_valid(&table));
	assert_int_equal(table.first, 0x1000);
	assert_int_equal(table.granule_cnt, 4);
	assert_int_equal(table.index, UNWIND_PAGE_WORDS);
	/*
	 * Each granule must begin with a row. If none of the given rows begins there, a row is
	 * added with the rule that applies there. So the four granules have 3, 1, 1 and 2 rows.
	 */
	assert_int_equal(table.row_cnt, 7);
	assert_int_equal(unwind_table_find(&table, 0xfff).cfa, UNWIND_CFA_NO_ROW);
	assert_int_equal(unwind_table_find(&table, 0x100f).cfa, UNWIND_CFA_NO_ROW);
	assert_int_equal(unwind_table_find(&table, 0x1010).cfa, UNWIND_CFA_SP);
	assert_int_equal(unwind_table_find(&table, 0x101f).cfa, UNWIND_CFA_SP);
	assert_int_equal(unwind_table_find(&table, 0x1020).cfa, UNWIND_CFA_UNKNOWN);
	assert_int_equal(unwind_table_find(&table, 0x1200).cfa, UNWIND_CFA_UNKNOWN);
	assert_int_equal(unwind_table_find(&table, 0x134f).cfa, UNWIND_CFA_UNKNOWN);
	assert_int_equal(unwind_table_find(&table, 0x1350).cfa, UNWIND_CFA_NO_ROW);
	assert_int_equal(unwind_table_find(&table, 0x1400).cfa, UNWIND_CFA_NO_ROW);
	unwind_table_deinit(&table);
}

/* A row for each byte is more than a granule can have. Where rows are dropped, code is unknown. */
static void too_many_rows(void **state)
{
	struct unwind_row rows[300];
	struct unwind_table table;

	for (uint32_t i = 0; i < 300; i++)
		rows[i] = (struct unwind_row){0x4000 + i, 1 + i % 2};
	assert_int_equal(unwind_table_init(rules, RULE_CNT, rows, 300, &table), 0);
	assert_true(unwind_table_valid(&table));
	for (uint64_t i = 0; i < UNWIND_GRANULE_ROWS_MAX - 1; i++)
		assert_int_equal(unwind_table_find(&table, 0x4000 + i).cfa, rules[1 + i % 2].cfa);
	for (uint64_t i = UNWIND_GRANULE_ROWS_MAX - 1; i < UNWIND_GRANULE_BYTES; i++)
		assert_int_equal(unwind_table_find(&table, 0x4000 + i).cfa, UNWIND_CFA_UNKNOWN);
	assert_int_equal(unwind_table_find(&table, 0x4100).cfa, rules[1].cfa);
	unwind_table_deinit(&table);
}

/* No granule has its rows on two pages. */
static void many_pages(void **state)
{
	enum { CNT = 100000 };
	struct unwind_row *rows = calloc(CNT, sizeof(*rows));
	struct unwind_table table;

	assert_non_null(rows);
	for (uint32_t i = 0; i < CNT; i++)
		rows[i] = (struct unwind_row){i * 7ULL, i % RULE_CNT};
	assert_int_equal(unwind_table_init(rules, RULE_CNT, rows, CNT, &table), 0);
	assert_true(unwind_table_valid(&table));
	assert_true(table.page_cnt > CNT / UNWIND_PAGE_WORDS);
	for (uint64_t i = 0; i + 1 < CNT; i++) {
		assert_int_equal(unwind_table_find(&table, i * 7).cfa, rules[i % RULE_CNT].cfa);
		assert_int_equal(unwind_table_find(&table, i * 7 + 6).cfa, rules[i % RULE_CNT].cfa);
	}
	unwind_table_deinit(&table);
	free(rows);
}

static void too_large(void **state)
{
	const struct unwind_row far[] = {{0, 1}, {1ULL << 40, 0}};
	struct unwind_table table;

	assert_int_equal(unwind_table_init(rules, RULE_CNT, far, 2, &table), -E2BIG);
	assert_int_equal(unwind_table_init(rules, RULE_CNT, far, 0, &table), -ENOENT);
}

/* A table comes from a helper, so every number in it is checked. */
static void damaged(void **state)
{
	static const struct unwind_row rows[] = {{0x1010, 2}, {0x1020, 1}, {0x1350, 0}};
	const uint32_t position = 2 * UNWIND_PAGE_WORDS;
	struct unwind_table table, bad;

	assert_int_equal(unwind_table_init(rules, RULE_CNT, rows, 3, &table), 0);
	const struct {
		uint32_t word;
		uint32_t value;
	} words[] = {
		{table.index, 0},
		{table.index, UNWIND_INDEX(position, 0U)},
		{table.index, UNWIND_INDEX(3 * UNWIND_PAGE_WORDS - 1, 2U)},
		{table.index, UNWIND_INDEX(UNWIND_TABLE_WORDS_MAX - 1, 1U)},
		{position, UNWIND_ROW(1, 0U)},
		{position + 1, UNWIND_ROW(0x10, 3U)},
		{position + 2, UNWIND_ROW(0x10, 1U)},
		{0, UNWIND_CFA_CNT},
		{0, UNWIND_SAVED_CNT << 8},
	};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		uint32_t kept = table.words[words[i].word];

		table.words[words[i].word] = words[i].value;
		assert_false(unwind_table_valid(&table));
		table.words[words[i].word] = kept;
		assert_true(unwind_table_valid(&table));
	}
	bad = table, bad.index = 1;
	assert_false(unwind_table_valid(&bad));
	bad = table, bad.index = 0;
	assert_false(unwind_table_valid(&bad));
	bad = table, bad.granule_cnt = 0;
	assert_false(unwind_table_valid(&bad));
	bad = table, bad.granule_cnt = UINT32_MAX;
	assert_false(unwind_table_valid(&bad));
	bad = table, bad.rule_cnt = UINT32_MAX;
	assert_false(unwind_table_valid(&bad));
	bad = table, bad.page_cnt = 1;
	assert_false(unwind_table_valid(&bad));
	bad = table, bad.page_cnt = UINT32_MAX;
	assert_false(unwind_table_valid(&bad));
	bad = table, bad.first = 1;
	assert_false(unwind_table_valid(&bad));
	unwind_table_deinit(&table);
}

#if defined(__x86_64__)
/* Never called: only the frame information is used. */
asm(".text\n"
    ".globl written_by_hand, hand_pushed, hand_framed, hand_left, hand_drap, hand_end\n"
    ".hidden written_by_hand, hand_pushed, hand_framed, hand_left, hand_drap, hand_end\n"
    "written_by_hand:\n"
    ".cfi_startproc\n"
    "	push %rbp\n"
    "	.cfi_def_cfa_offset 16\n"
    "	.cfi_offset 6, -16\n"
    "hand_pushed:\n"
    "	mov %rsp, %rbp\n"
    "	.cfi_def_cfa_register 6\n"
    "hand_framed:\n"
    "	nop\n"
    "	leave\n"
    "	.cfi_restore 6\n"
    "	.cfi_def_cfa 7, 8\n"
    "hand_left:\n"
    "	ret\n"
    "	.cfi_escape 0x0f, 3, 0x76, 0x78, 0x06\n" /* CFA = *(rbp - 8) */
    "	.cfi_escape 0x10, 6, 2, 0x76, 0\n"       /* rbp is saved at rbp + 0 */
    "hand_drap:\n"
    "	nop\n"
    "	.cfi_undefined rip\n"
    "hand_end:\n"
    "	ret\n"
    ".cfi_endproc\n"
    ".fill 64, 1, 0xcc\n");
extern const char written_by_hand[], hand_pushed[], hand_framed[], hand_left[], hand_drap[],
	hand_end[];

static int find_self(struct dl_phdr_info *info, size_t size, void *arg)
{
	uint64_t *offset = arg;

	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_LOAD && *offset >= start &&
		    *offset - start < header->p_memsz) {
			*offset = *offset - start + header->p_offset;
			return 1;
		}
	}
	return 0;
}

static struct unwind_rule rule_at(const struct unwind_table *table, const char *code)
{
	uint64_t offset = (uint64_t)code;

	assert_int_equal(dl_iterate_phdr(find_self, &offset), 1);
	return unwind_table_find(table, offset);
}

static void assert_rule(struct unwind_rule rule, enum unwind_cfa cfa, int cfa_off,
			enum unwind_saved saved, int saved_off)
{
	assert_int_equal(rule.cfa, cfa);
	assert_int_equal(rule.cfa_off, cfa_off);
	assert_int_equal(rule.saved, saved);
	assert_int_equal(rule.saved_off, saved_off);
}

static void hand_written_rows(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct unwind_table table;

	assert_int_equal(unwind_table_build(fd, &table), 0);
	close(fd);
	assert_true(unwind_table_valid(&table));
	assert_rule(rule_at(&table, written_by_hand), UNWIND_CFA_SP, 8, UNWIND_SAVED_NONE, 0);
	assert_rule(rule_at(&table, hand_pushed), UNWIND_CFA_SP, 16, UNWIND_SAVED_FP, -16);
	assert_rule(rule_at(&table, hand_framed), UNWIND_CFA_FP, 16, UNWIND_SAVED_FP, -16);
	assert_rule(rule_at(&table, hand_framed + 1), UNWIND_CFA_FP, 16, UNWIND_SAVED_FP, -16);
	assert_rule(rule_at(&table, hand_left), UNWIND_CFA_SP, 8, UNWIND_SAVED_NONE, 0);
	assert_rule(rule_at(&table, hand_drap), UNWIND_CFA_FP_DEREF, UNWIND_DEREF(-8, 0),
		    UNWIND_SAVED_FP_REL, 0);
	assert_rule(rule_at(&table, hand_end), UNWIND_CFA_OUTERMOST, 0, UNWIND_SAVED_NONE, 0);
	/* No row applies long after the last function. */
	assert_int_equal(rule_at(&table, hand_end + 20).cfa, UNWIND_CFA_NO_ROW);
	unwind_table_deinit(&table);
}
#else
static void hand_written_rows(void **state)
{
	print_message("skipped: the hand-written function exists only for x86-64\n");
	skip();
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_in_granules), cmocka_unit_test(too_many_rows),
		cmocka_unit_test(many_pages),       cmocka_unit_test(too_large),
		cmocka_unit_test(damaged),          cmocka_unit_test(hand_written_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
