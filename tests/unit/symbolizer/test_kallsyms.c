// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests parsing /proc/kallsyms: valid and malformed lines, and where symbols end. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbolizer/kallsyms.h"

#define OWNERS_MAX 8

struct owners {
	char *names[OWNERS_MAX];
	size_t cnt;
	size_t asked;
};

static int owner_of(void *arg, const char *name, size_t len)
{
	struct owners *owners = arg;

	owners->asked++;
	for (size_t i = 1; i < owners->cnt; i++)
		if (!strncmp(owners->names[i], name, len) && !owners->names[i][len])
			return i;
	if (!owners->cnt)
		owners->cnt = 1;
	if (owners->cnt == OWNERS_MAX)
		return -1;
	owners->names[owners->cnt] = strndup(name, len);
	return owners->cnt++;
}

static void owners_deinit(struct owners *owners)
{
	for (size_t i = 1; i < owners->cnt; i++)
		free(owners->names[i]);
}

/*
 * Parses text in a buffer with one more byte, which does not belong to the text and must not be
 * read.
 */
static struct kallsyms parse_bytes(const char *text, size_t len, struct owners *owners)
{
	struct kallsyms table;
	char *copy = malloc(len + 1);

	assert_non_null(copy);
	memcpy(copy, text, len);
	copy[len] = '!';
	assert_int_equal(kallsyms_init(&table, copy, len, owner_of, owners), 0);
	return table;
}

static struct kallsyms parse(const char *text)
{
	struct owners owners = {.cnt = 0};
	struct kallsyms table = parse_bytes(text, strlen(text), &owners);

	owners_deinit(&owners);
	return table;
}

static void assert_name(const struct kallsyms *table, uint64_t addr, const char *name,
			uint64_t start)
{
	const struct kernel_symbol *symbol = kallsyms_find(table, addr);

	assert_non_null(symbol);
	assert_string_equal(table->names + symbol->name, name);
	assert_true(symbol->start == start);
}

static void each_ends_where_the_next_begins(void **state)
{
	struct kallsyms table = parse("ffffffff81000000 T _stext\n"
				      "ffffffff81000010 t one\n"
				      "ffffffff81000020 T two\n"
				      "ffffffff81000030 R data_in_between\n"
				      "ffffffff81000040 W three\n"
				      "ffffffff81000100 T _etext\n"
				      "ffffffff81000200 T not_code\n"
				      "ffffffff81000300 T _sinittext\n"
				      "ffffffff81000310 t setup\n"
				      "ffffffff81000320 T _einittext\n");

	assert_name(&table, 0xffffffff81000010, "one", 0xffffffff81000010);
	assert_name(&table, 0xffffffff8100001f, "one", 0xffffffff81000010);
	assert_name(&table, 0xffffffff8100002f, "two", 0xffffffff81000020);
	assert_null(kallsyms_find(&table, 0xffffffff81000030));
	assert_null(kallsyms_find(&table, 0xffffffff8100003f));
	assert_name(&table, 0xffffffff810000ff, "three", 0xffffffff81000040);
	assert_null(kallsyms_find(&table, 0xffffffff81000100));
	assert_null(kallsyms_find(&table, 0xffffffff81000200));
	assert_name(&table, 0xffffffff8100031f, "setup", 0xffffffff81000310);
	assert_null(kallsyms_find(&table, 0xffffffff81000320));
	assert_null(kallsyms_find(&table, 0));
	assert_null(kallsyms_find(&table, 0xffffffff80ffffff));
	assert_null(kallsyms_find(&table, UINT64_MAX));
	assert_true(kallsyms_in_core(&table, 0xffffffff81000030));
	assert_false(kallsyms_in_core(&table, 0xffffffff81000100));
	assert_false(table.hidden);
	kallsyms_deinit(&table);
}

static void owners_are_reported(void **state)
{
	static const char text[] = "ffffffff81000000 T _text\n"
				   "ffffffff81000000 T core\n"
				   "ffffffff81000080 T _etext\n"
				   "ffffffffc0002000 t b_one\t[module_b]\n"
				   "ffffffffc0001000 t a_one\t[module_a]\n"
				   "ffffffffc0001010 T a_two\t[module_a]\n"
				   "ffffffffc0001020 d a_data\t[module_a]\n"
				   "ffffffffc0003000 t bpf_prog_6deef7357e7b4530_f\t[bpf]\n"
				   "ffffffffc0002010 t b_two\t[module_b]\n";
	struct owners owners = {.cnt = 0};
	struct kallsyms table = parse_bytes(text, strlen(text), &owners);

	assert_int_equal(owners.cnt, 4);
	/* The owner of a line is not looked up if the previous line has the same owner. */
	assert_int_equal(owners.asked, 4);
	assert_int_equal(kallsyms_find(&table, 0xffffffff81000001)->owner, KALLSYMS_CORE);
	assert_string_equal(owners.names[kallsyms_find(&table, 0xffffffffc0001010)->owner],
			    "module_a");
	assert_string_equal(owners.names[kallsyms_find(&table, 0xffffffffc0002011)->owner],
			    "module_b");
	assert_string_equal(owners.names[kallsyms_find(&table, 0xffffffffc0003000)->owner], "bpf");
	assert_name(&table, 0xffffffffc000101f, "a_two", 0xffffffffc0001010);
	assert_null(kallsyms_find(&table, 0xffffffffc0001020));
	owners_deinit(&owners);
	kallsyms_deinit(&table);
}

static void best_of_the_names_of_one_address(void **state)
{
	struct kallsyms table = parse("ffffffff81000000 T __irqentry_text_start\n"
				      "ffffffff81000000 t interrupt\n"
				      "ffffffff81000000 T _stext\n"
				      "ffffffff81000010 t __pfx_local\n"
				      "ffffffff81000010 t local\n"
				      "ffffffff81000020 t a_local_alias\n"
				      "ffffffff81000020 T the_global_one\n"
				      "ffffffff81000030 T __x64_sys_getpid\n"
				      "ffffffff81000030 T x64_sys_getpid\n"
				      "ffffffff81000040 D data_first\n"
				      "ffffffff81000040 t code\n"
				      "ffffffff81000050 t part.cold\n"
				      "ffffffff81000060 t $x\n"
				      "ffffffff81000060 t marked\n"
				      "ffffffff81000068 t .L12\n"
				      "ffffffff8100006c t $d.7\n"
				      "ffffffff81000100 T _etext\n");

	assert_name(&table, 0xffffffff81000001, "interrupt", 0xffffffff81000000);
	assert_name(&table, 0xffffffff81000011, "local", 0xffffffff81000010);
	assert_name(&table, 0xffffffff81000021, "the_global_one", 0xffffffff81000020);
	assert_name(&table, 0xffffffff81000031, "x64_sys_getpid", 0xffffffff81000030);
	assert_name(&table, 0xffffffff81000041, "code", 0xffffffff81000040);
	assert_name(&table, 0xffffffff81000051, "part.cold", 0xffffffff81000050);
	assert_name(&table, 0xffffffff8100007f, "marked", 0xffffffff81000060);
	kallsyms_deinit(&table);
}

static void hidden_addresses(void **state)
{
	struct kallsyms table = parse("0000000000000000 T _stext\n"
				      "0000000000000000 T one\n"
				      "0000000000000000 t two\t[module]\n");

	assert_true(table.hidden);
	assert_int_equal(table.cnt, 0);
	assert_null(kallsyms_find(&table, 0));
	assert_false(kallsyms_in_core(&table, 0));
	kallsyms_deinit(&table);
	table = parse("");
	assert_false(table.hidden);
	assert_null(kallsyms_find(&table, 1));
	kallsyms_deinit(&table);
}

/* Malformed lines are skipped. Valid lines before and after them are read. */
static void lines_that_are_none(void **state)
{
	static const char *const lines[] = {
		"\n",
		" \n",
		"ffffffff81000010\n",
		"ffffffff81000010 \n",
		"ffffffff81000010 T\n",
		"ffffffff81000010 T \n",
		"ffffffff81000010 T\tbad\n",
		"ffffffff81000010  bad\n",
		" ffffffff81000010 T bad\n",
		"fffffffff81000010 T bad\n",
		"0xffffffff81000010 T bad\n",
		"ffffffff8100001g T bad\n",
		"ffffffff81000010 T bad\t\n",
		"ffffffff81000010 T bad\t[\n",
		"ffffffff81000010 T bad\t[]\n",
		"ffffffff81000010 T bad\t[module\n",
		"ffffffff81000010 T bad\tmodule]\n",
		"ffffffff81000010 T \t[module]\n",
		"-ffffff81000010 T bad\n",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct kallsyms table;
		char *text;

		assert_true(asprintf(&text,
				     "ffffffff81000000 T before\n%sffffffff81000020 T behind\n",
				     lines[i]) > 0);
		table = parse(text);
		assert_int_equal(table.cnt, 2);
		assert_name(&table, 0xffffffff81000010, "before", 0xffffffff81000000);
		assert_name(&table, 0xffffffff81000020, "behind", 0xffffffff81000020);
		kallsyms_deinit(&table);
		free(text);
	}
}

static void odd_bytes(void **state)
{
	static const char text[] = "ffffffff81000000 T \x80\xff\x1b[31m\n"
				   "ffffffff81000010 T with\0null\n"
				   "ffffffff81000020 T a name with blanks\n"
				   "ffffffff81000030 T cut_off_at_the_en";
	struct owners owners = {.cnt = 0};
	struct kallsyms table = parse_bytes(text, sizeof(text) - 1, &owners);

	assert_int_equal(table.cnt, 2);
	assert_name(&table, 0xffffffff81000000, "\x80\xff\x1b[31m", 0xffffffff81000000);
	assert_name(&table, 0xffffffff81000020, "a name with blanks", 0xffffffff81000020);
	kallsyms_deinit(&table);
	owners_deinit(&owners);
}

/* A read of the file may end anywhere in the text. */
static void cut_anywhere(void **state)
{
	static const char text[] = "ffffffff81000000 T _stext\n"
				   "ffffffff81000010 t one\n"
				   "ffffffffc0001000 t a_one\t[module_a]\n"
				   "ffffffffc0002000 t b_one\t[module_b]\n";

	for (size_t len = 0; len < sizeof(text); len++) {
		struct owners owners = {.cnt = 0};
		struct kallsyms table = parse_bytes(text, len, &owners);
		size_t lines = 0;

		for (size_t i = 0; i < len; i++)
			lines += text[i] == '\n';
		assert_int_equal(table.cnt, lines);
		kallsyms_deinit(&table);
		owners_deinit(&owners);
	}
}

static void long_names(void **state)
{
	const size_t len = 100000;
	char *name = malloc(len + 1), *text;
	struct kallsyms table;

	assert_non_null(name);
	memset(name, 'n', len);
	name[len] = '\0';
	assert_true(asprintf(&text,
			     "ffffffff81000000 T %s\n"
			     "ffffffff81000010 T short\n",
			     name) > 0);
	table = parse(text);
	assert_name(&table, 0xffffffff81000001, name, 0xffffffff81000000);
	assert_name(&table, 0xffffffff81000010, "short", 0xffffffff81000010);
	kallsyms_deinit(&table);
	free(text);
	free(name);
}

static void any_order(void **state)
{
	struct kallsyms table = parse("ffffffff81000100 T _etext\n"
				      "ffffffff81000040 T three\n"
				      "ffffffffffffffff T last\t[m]\n"
				      "0000000000000001 T first\n"
				      "ffffffff81000000 T one\n"
				      "ffffffff81000020 T two\n"
				      "ffffffff81000020 T two\n"
				      "ffffffff81000000 T _stext\n");

	assert_name(&table, 0xffffffff81000001, "one", 0xffffffff81000000);
	assert_name(&table, 0xffffffff8100003f, "two", 0xffffffff81000020);
	assert_name(&table, 0xffffffff810000ff, "three", 0xffffffff81000040);
	assert_null(kallsyms_find(&table, 1));
	assert_null(kallsyms_find(&table, 0xffffffff81000100));
	kallsyms_deinit(&table);
}

static int no_owner(void *arg, const char *name, size_t len)
{
	return -ENOMEM;
}

static void owner_that_fails(void **state)
{
	struct kallsyms table = {.cnt = 7};
	char *text = strdup("ffffffff81000000 T one\nffffffffc0000000 T two\t[m]\n");

	assert_non_null(text);
	assert_int_equal(kallsyms_init(&table, text, strlen(text), no_owner, NULL), -ENOMEM);
	assert_int_equal(table.cnt, 7);
}

/* Parses as many symbols as a large kernel has. */
static void large_table(void **state)
{
	const size_t cnt = 200000;
	size_t len = 0, cap = cnt * 48;
	char *text = malloc(cap);
	struct owners owners = {.cnt = 0};
	struct kallsyms table;

	assert_non_null(text);
	for (size_t i = 0; i < cnt; i++)
		len += snprintf(text + len, cap - len, "%016zx t function_%zu\n",
				(size_t)0xffffffff81000000 + 16 * (cnt - i), i);
	table = parse_bytes(text, len, &owners);
	assert_int_equal(table.cnt, cnt);
	assert_name(&table, 0xffffffff81000000 + 16 * (cnt - 77) + 15, "function_77",
		    0xffffffff81000000 + 16 * (cnt - 77));
	kallsyms_deinit(&table);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_ends_where_the_next_begins),
		cmocka_unit_test(owners_are_reported),
		cmocka_unit_test(best_of_the_names_of_one_address),
		cmocka_unit_test(hidden_addresses),
		cmocka_unit_test(lines_that_are_none),
		cmocka_unit_test(odd_bytes),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(long_names),
		cmocka_unit_test(any_order),
		cmocka_unit_test(owner_that_fails),
		cmocka_unit_test(large_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
