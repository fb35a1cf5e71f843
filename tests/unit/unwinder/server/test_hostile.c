// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the builder of unwind tables with wrong, contradictory or hostile call frame information.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dwarf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/unwinder/cfi_file.h"
#include "tests/unit/unwinder/table_find.h"
#include "unwinder/server/builder.h"

#define NONE "", 0
#define MUTATIONS 3000

static const char push[] = {DW_CFA_advance_loc + 1, DW_CFA_def_cfa_offset, 16};

/*
 * The kind of rule that is expected at an offset of the text. An element with offset 0 ends an
 * array, unless it is the first element.
 */
struct expected {
	uint64_t place; /* offset in the text */
	enum unwind_cfa cfa;
};

static void check(struct cfi_file *file, const struct expected *expected)
{
	struct unwind_table table;
	int fd = cfi_file_finish(file);

	assert_int_equal(unwind_table_build(fd, &table), 0);
	close(fd);
	assert_true(unwind_table_valid(&table));
	do {
		assert_int_equal(unwind_table_find(&table, CFI_TEXT + expected->place).cfa,
				 expected->cfa);
	} while ((++expected)->place);
	unwind_table_deinit(&table);
}

static void check_fails(struct cfi_file *file, int err)
{
	struct unwind_table table;
	int fd = cfi_file_finish(file);

	assert_int_equal(unwind_table_build(fd, &table), err);
	close(fd);
}

static struct cfi_file usual(void)
{
	return (struct cfi_file){.text_bytes = 0x10000, .section = ".eh_frame"};
}

static const struct expected one_function[] = {{0, UNWIND_CFA_NO_ROW},
					       {0x10, UNWIND_CFA_SP},
					       {0x4f, UNWIND_CFA_SP},
					       {0x50, UNWIND_CFA_NO_ROW},
					       {0}};

static void add_one_function(struct cfi_file *file)
{
	cfi_add_fde(file, cfi_add_cie(file), CFI_TEXT + 0x10, 0x40, push, sizeof(push));
}

static void sections(void **state)
{
	struct cfi_file file = usual();

	add_one_function(&file);
	check(&file, one_function);
	file.section = ".debug_frame";
	add_one_function(&file);
	check(&file, one_function);
	file.section = ".other";
	add_one_function(&file);
	check(&file, one_function); /* found by its program header */
}

static void headers(void **state)
{
	struct cfi_file file = usual();

	file.by_header = true;
	add_one_function(&file);
	check(&file, one_function);
	/* The section headers are beyond the end of the file. */
	file.by_header = false;
	file.far_headers = 1ULL << 40;
	add_one_function(&file);
	check(&file, one_function);
	file.far_headers = UINT64_MAX - 64;
	add_one_function(&file);
	check(&file, one_function);
}

/* An unknown instruction makes the rest of the function unknown. The rows before it are used. */
static void unknown_instruction(void **state)
{
	static const char instructions[] = {DW_CFA_advance_loc + 4, DW_CFA_high_user};
	static const struct expected expected[] = {
		{0x10, UNWIND_CFA_SP},      {0x13, UNWIND_CFA_SP},     {0x14, UNWIND_CFA_UNKNOWN},
		{0x4f, UNWIND_CFA_UNKNOWN}, {0x50, UNWIND_CFA_NO_ROW}, {0}};
	struct cfi_file file = usual();

	cfi_add_fde(&file, cfi_add_cie(&file), CFI_TEXT + 0x10, 0x40, instructions,
		    sizeof(instructions));
	check(&file, expected);
}

/*
 * FDEs that overlap, but begin at different addresses, contradict each other: code is unknown from
 * the start of the second to the end of the last.
 */
static void overlapping(void **state)
{
	static const struct expected expected[] = {
		{0x10, UNWIND_CFA_SP},      {0x2f, UNWIND_CFA_SP},      {0x30, UNWIND_CFA_UNKNOWN},
		{0x8f, UNWIND_CFA_UNKNOWN}, {0x90, UNWIND_CFA_NO_ROW},  {0x100, UNWIND_CFA_SP},
		{0x10f, UNWIND_CFA_SP},     {0x110, UNWIND_CFA_NO_ROW}, {0}};
	struct cfi_file file = usual();
	uint32_t cie = cfi_add_cie(&file);

	cfi_add_fde(&file, cie, CFI_TEXT + 0x50, 0x40, NONE);
	cfi_add_fde(&file, cie, CFI_TEXT + 0x30, 0x30, NONE);
	cfi_add_fde(&file, cie, CFI_TEXT + 0x10, 0x30, NONE);
	cfi_add_fde(&file, cie, CFI_TEXT + 0x100, 0x10, NONE);
	check(&file, expected);
}

/*
 * FDEs of functions that the linker has dropped, and FDEs that occur twice, are no contradiction.
 */
static void dropped_and_doubled(void **state)
{
	struct cfi_file file = usual();
	uint32_t cie = cfi_add_cie(&file);

	cfi_add_fde(&file, cie, 0, 0x8000, NONE);
	cfi_add_fde(&file, cie, CFI_TEXT + 0x10, 0x40, push, sizeof(push));
	cfi_add_fde(&file, cie, CFI_TEXT + 0x10, 0x40, push, sizeof(push));
	cfi_add_fde(&file, cie, CFI_TEXT + 0x20, 0, NONE);
	check(&file, one_function);
}

static void endless_function(void **state)
{
	static const struct expected expected[] = {{0x10, UNWIND_CFA_SP},
						   {0xffff, UNWIND_CFA_SP},
						   {1ULL << 40, UNWIND_CFA_NO_ROW},
						   {0}};
	struct cfi_file file = usual();

	cfi_add_fde(&file, cfi_add_cie(&file), CFI_TEXT + 0x10, 1ULL << 63, NONE);
	check(&file, expected);
	cfi_add_fde(&file, cfi_add_cie(&file), CFI_TEXT + 0x10, UINT64_MAX, NONE);
	check_fails(&file, -ENOENT);
	cfi_add_fde(&file, cfi_add_cie(&file), UINT64_MAX - 1, 100, NONE);
	check_fails(&file, -ENOENT);
}

static void outside(void **state)
{
	struct cfi_file file = usual();

	cfi_add_fde(&file, cfi_add_cie(&file), 1ULL << 32, 0x100, NONE);
	check_fails(&file, -ENOENT);
}

/*
 * FDEs must refer to a CIE. These refer to themselves, to each other or to nothing, and are
 * ignored.
 */
static void cycles(void **state)
{
	struct cfi_file file = usual();

	cfi_add_fde(&file, 0, CFI_TEXT + 0x10, 0x10, NONE);
	cfi_add_fde(&file, 0, CFI_TEXT + 0x20, 0x10, NONE);
	cfi_add_fde(&file, UINT32_MAX - 100, CFI_TEXT + 0x30, 0x10, NONE);
	check_fails(&file, -ENOENT);
	cfi_add_fde(&file, 24, CFI_TEXT + 0x10, 0x10, NONE);
	cfi_add_fde(&file, 0, CFI_TEXT + 0x20, 0x10, NONE);
	cfi_add_fde(&file, cfi_add_cie(&file), CFI_TEXT + 0x30, 0x10, NONE);
	check(&file,
	      (const struct expected[]){{0x20, UNWIND_CFA_NO_ROW}, {0x30, UNWIND_CFA_SP}, {0}});
}

/* A function has a row for each byte, after an expression that tables cannot represent. */
static void many_steps(void **state)
{
	static const char expression[] = {DW_CFA_expression, 6, 1, DW_OP_lit0,
					  DW_CFA_same_value, 6};
	static const struct expected expected[] = {
		{0x10, UNWIND_CFA_SP}, {0xf00f, UNWIND_CFA_SP}, {0xf010, UNWIND_CFA_NO_ROW}, {0}};
	static char instructions[0xf000];
	struct cfi_file file = usual();

	memset(instructions, DW_CFA_advance_loc + 1, sizeof(instructions));
	memcpy(instructions, expression, sizeof(expression));
	cfi_add_fde(&file, cfi_add_cie(&file), CFI_TEXT + 0x10, 0xf000, instructions,
		    sizeof(instructions));
	check(&file, expected);
}

/* An expression that tables cannot represent makes code unknown up to the next instruction. */
static void unknown_expressions(void **state)
{
	static const char instructions[] = {DW_CFA_val_expression,
					    6,
					    2,
					    DW_OP_breg6,
					    0,
					    DW_CFA_advance_loc + 4,
					    DW_CFA_same_value,
					    6,
					    DW_CFA_advance_loc + 4,
					    DW_CFA_def_cfa_expression,
					    1,
					    DW_OP_lit0,
					    DW_CFA_advance_loc + 4,
					    DW_CFA_def_cfa_sf,
					    7,
					    0x7f,
					    DW_CFA_advance_loc + 4,
					    DW_CFA_def_cfa_expression,
					    2,
					    DW_OP_breg6,
					    16,
					    DW_CFA_advance_loc + 4,
					    DW_CFA_register,
					    6,
					    0};
	static const struct expected expected[] = {
		{0x10, UNWIND_CFA_UNKNOWN}, {0x14, UNWIND_CFA_SP},     {0x18, UNWIND_CFA_UNKNOWN},
		{0x1c, UNWIND_CFA_SP},      {0x20, UNWIND_CFA_FP},     {0x24, UNWIND_CFA_UNKNOWN},
		{0x4f, UNWIND_CFA_UNKNOWN}, {0x50, UNWIND_CFA_NO_ROW}, {0}};
	struct cfi_file file = usual();

	cfi_add_fde(&file, cfi_add_cie(&file), CFI_TEXT + 0x10, 0x40, instructions,
		    sizeof(instructions));
	check(&file, expected);
	file.section = ".debug_frame";
	cfi_add_fde(&file, cfi_add_cie(&file), CFI_TEXT + 0x10, 0x40, instructions,
		    sizeof(instructions));
	check(&file, expected);
}

/*
 * A function may remember states without restoring them. If it restores a state that it has not
 * remembered, its code is unknown.
 */
static void states_kept(void **state)
{
	static char instructions[100000];
	struct cfi_file file = usual();

	memset(instructions, DW_CFA_remember_state, sizeof(instructions));
	cfi_add_fde(&file, cfi_add_cie(&file), CFI_TEXT + 0x10, 0x40, instructions,
		    sizeof(instructions));
	check(&file, one_function);
	instructions[0] = DW_CFA_restore_state;
	cfi_add_fde(&file, cfi_add_cie(&file), CFI_TEXT + 0x10, 0x40, instructions, 1);
	check(&file, (const struct expected[]){
			     {0x10, UNWIND_CFA_UNKNOWN}, {0x50, UNWIND_CFA_NO_ROW}, {0}});
}

/* A sparse file with gigabytes of text is refused. */
static void sparse(void **state)
{
	struct cfi_file file = usual();
	uint32_t cie = cfi_add_cie(&file);

	file.text_bytes = 1ULL << 33;
	cfi_add_fde(&file, cie, CFI_TEXT + 0x10, 0x40, NONE);
	cfi_add_fde(&file, cie, CFI_TEXT + file.text_bytes - 0x100, 0x40, NONE);
	check_fails(&file, -E2BIG);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Adds functions whose frame information has many different instructions. */
static void add_functions(struct cfi_file *file)
{
	static const unsigned char many[] = {DW_CFA_advance_loc + 1,
					     DW_CFA_def_cfa_offset,
					     16,
					     DW_CFA_offset + 6,
					     2,
					     DW_CFA_advance_loc + 3,
					     DW_CFA_def_cfa_register,
					     6,
					     DW_CFA_remember_state,
					     DW_CFA_advance_loc1,
					     8,
					     DW_CFA_def_cfa_expression,
					     3,
					     DW_OP_breg6,
					     0x78,
					     DW_OP_deref,
					     DW_CFA_expression,
					     6,
					     2,
					     DW_OP_breg6,
					     0,
					     DW_CFA_advance_loc2,
					     2,
					     0,
					     DW_CFA_restore_state,
					     DW_CFA_advance_loc + 4,
					     DW_CFA_def_cfa,
					     7,
					     8,
					     DW_CFA_restore + 6};
	uint32_t cie = cfi_add_cie(file);

	for (uint64_t i = 0; i < 8; i++)
		cfi_add_fde(file, cie, CFI_TEXT + i * 0x40, 0x40 - i, many, sizeof(many));
}

/* Changes a few bytes, often to small values or limits of ranges. */
static void damage(struct cfi_file *file, uint64_t *seed)
{
	static const unsigned char words[] = {0x00, 0xff, 0x7f, 0x80, 0x01, 0x40, 0x0a, 0x0b,
					      0x0f, 0x10, 0x16, 0x2e, 0x03, 0x04, 0x1b, 0xfe};
	uint64_t cnt = 1 + next_random(seed) % 6;

	for (uint64_t i = 0; i < cnt; i++) {
		size_t at = next_random(seed) % file->size;
		uint64_t value = next_random(seed);

		file->bytes[at] = value & 256 ? words[value % sizeof(words)] : (unsigned char)value;
	}
	if (next_random(seed) % 32 == 0)
		file->size = next_random(seed) % file->size;
}

/* From damaged frame information, either a valid table is built, or there is an error. */
static void damaged(void **state)
{
	uint64_t seed = 0x756e77696e64ULL;
	int built = 0;

	for (int i = 0; i < MUTATIONS; i++) {
		struct cfi_file file = usual();
		struct unwind_table table;
		int err, fd;

		file.section = i % 3 ? ".eh_frame" : ".debug_frame";
		file.by_header = i % 5 == 1;
		add_functions(&file);
		damage(&file, &seed);
		fd = cfi_file_finish(&file);
		err = unwind_table_build(fd, &table);
		close(fd);
		assert_in_range(-err, 0, 4095);
		if (err)
			continue;
		built++;
		assert_true(unwind_table_valid(&table));
		unwind_table_deinit(&table);
	}
	assert_in_range(built, MUTATIONS / 2, MUTATIONS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections),
		cmocka_unit_test(headers),
		cmocka_unit_test(unknown_instruction),
		cmocka_unit_test(overlapping),
		cmocka_unit_test(dropped_and_doubled),
		cmocka_unit_test(endless_function),
		cmocka_unit_test(outside),
		cmocka_unit_test(cycles),
		cmocka_unit_test(many_steps),
		cmocka_unit_test(unknown_expressions),
		cmocka_unit_test(states_kept),
		cmocka_unit_test(sparse),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
