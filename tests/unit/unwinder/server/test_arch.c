// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests what the builder of unwind tables knows about x86-64 and aarch64. Runs on any machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dwarf.h>
#include <unistd.h>

#include "tests/unit/unwinder/cfi_file.h"
#include "tests/unit/unwinder/table_find.h"
#include "unwinder/server/builder.h"

#define TEXT_BYTES 0x10000

static struct cfi_file empty(bool is_arm64)
{
	return (struct cfi_file){
		.text_bytes = TEXT_BYTES,
		.section = ".eh_frame",
		.is_arm64 = is_arm64,
	};
}

/*
 * Builds the table of a function of 0x40 bytes, whose frame information has these instructions.
 * Writes `code` at offset `place` of the text.
 */
static struct unwind_table build(struct cfi_file *file, const void *instructions,
				 size_t instruction_bytes, uint64_t place, const void *code,
				 size_t code_bytes)
{
	struct unwind_table table;
	int fd;

	cfi_add_fde(file, cfi_add_cie(file), CFI_TEXT + 0x10, 0x40, instructions,
		    instruction_bytes);
	fd = cfi_file_finish(file);
	cfi_write(fd, code, code_bytes, CFI_TEXT + place);
	assert_int_equal(unwind_table_build(fd, &table), 0);
	assert_true(unwind_table_valid(&table));
	close(fd);
	return table;
}

static void assert_rule(const struct unwind_table *table, uint64_t place, struct unwind_rule wanted)
{
	struct unwind_rule rule = unwind_table_find(table, CFI_TEXT + place);

	assert_memory_equal(&rule, &wanted, sizeof(rule));
}

static const struct unwind_rule no_row = {.cfa = UNWIND_CFA_NO_ROW},
				unknown = {.cfa = UNWIND_CFA_UNKNOWN},
				outermost = {.cfa = UNWIND_CFA_OUTERMOST},
				signal_frame = {.cfa = UNWIND_CFA_SIGNAL};

/*
 * The code to which a signal handler returns is recognised by its bytes, unless it has frame
 * information.
 */
static void x86_trampoline(void **state)
{
	static const unsigned char code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	static const struct unwind_rule plain = {.cfa = UNWIND_CFA_SP, .cfa_off = 8};
	struct cfi_file file = empty(false);
	struct unwind_table table = build(&file, "", 0, 0x200, code, sizeof(code));

	assert_rule(&table, 0x10, plain);
	assert_rule(&table, 0x50, no_row);
	assert_rule(&table, 0x1fe, no_row);
	assert_rule(&table, 0x1ff, signal_frame);
	assert_rule(&table, 0x208, signal_frame);
	assert_rule(&table, 0x209, no_row);
	unwind_table_deinit(&table);
	table = build(&file, "", 0, 0x20, code, sizeof(code));
	assert_rule(&table, 0x20, plain);
	assert_rule(&table, 0x2a, plain);
	unwind_table_deinit(&table);
}

/* Tests rules that tables can express, and some that they cannot. */
static void arm64_rules(void **state)
{
	static const unsigned char instructions[] = {
		DW_CFA_advance_loc + 4,
		0x2d, /* the return address is signed: the rule stays the same */
		DW_CFA_advance_loc + 4,
		DW_CFA_def_cfa_offset,
		48,
		DW_CFA_offset + 29,
		6,
		DW_CFA_offset + 30,
		5, /* x29 and x30 are saved next to each other */
		DW_CFA_advance_loc + 4,
		DW_CFA_def_cfa_register,
		29,
		DW_CFA_advance_loc + 4,
		DW_CFA_restore + 29, /* only x30, the return address, is saved from here on */
		DW_CFA_advance_loc + 4,
		DW_CFA_offset + 29,
		1, /* x29 and x30 are not saved next to each other */
		DW_CFA_advance_loc + 4,
		DW_CFA_undefined,
		29,
		DW_CFA_advance_loc + 4,
		DW_CFA_undefined,
		30};
	static const unsigned char sigreturn[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
	struct cfi_file file = empty(true);
	struct unwind_table table = build(&file, instructions, sizeof(instructions), 0x100,
					  sigreturn, sizeof(sigreturn));

	assert_rule(&table, 0x10, (struct unwind_rule){.cfa = UNWIND_CFA_SP});
	assert_rule(&table, 0x14, (struct unwind_rule){.cfa = UNWIND_CFA_SP});
	assert_rule(&table, 0x18, (struct unwind_rule){UNWIND_CFA_SP, UNWIND_SAVED_PAIR, -48, 48});
	assert_rule(&table, 0x1c, (struct unwind_rule){UNWIND_CFA_FP, UNWIND_SAVED_PAIR, -48, 48});
	assert_rule(&table, 0x20, (struct unwind_rule){UNWIND_CFA_FP, UNWIND_SAVED_RA, -40, 48});
	assert_rule(&table, 0x24, unknown);
	assert_rule(&table, 0x28, unknown);
	assert_rule(&table, 0x2c, outermost);
	assert_rule(&table, 0x50, no_row);
	assert_rule(&table, 0xfc, signal_frame);
	assert_rule(&table, 0x107, signal_frame);
	assert_rule(&table, 0x108, no_row);
	unwind_table_deinit(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_trampoline),
		cmocka_unit_test(arm64_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
