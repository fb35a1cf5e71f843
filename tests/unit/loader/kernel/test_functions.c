// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests finding functions in /proc/kallsyms, with valid and malformed text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "loader/kernel/functions.h"

static struct kernel_functions read_text(const char *text)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	struct kernel_functions ret;

	assert_non_null(file);
	assert_int_equal(kernel_functions_read(file, &ret), 0);
	fclose(file);
	return ret;
}

static void test_ranges(void **state)
{
	struct kernel_functions got = read_text("ffffffff81000010 T __entry_text_start\n"
						"ffffffff81000100 T entry_SYSCALL_64\n"
						"ffffffff81001a87 T __entry_text_end\n"
						"ffffffff81362070 t handle_softirqs\n"
						"ffffffff81362500 t other\n"
						"ffffffff8162ef70 t ___slab_alloc.isra.0\n"
						"ffffffff8162ead0 t allocate_slab\n"
						"ffffffff8162f900 d data\n"
						"ffffffff81630000 T next\n");

	assert_int_equal(got.slab_cnt, 2);
	assert_int_equal(got.slab[0].start, 0xffffffff8162ef70);
	assert_int_equal(got.slab[0].end, 0xffffffff81630000);
	assert_int_equal(got.slab[1].start, 0xffffffff8162ead0);
	assert_int_equal(got.slab[1].end, 0xffffffff8162ef70);
	assert_int_equal(got.edge_cnt, 2);
	assert_int_equal(got.edges[0].start, 0xffffffff81000010);
	assert_int_equal(got.edges[0].end, 0xffffffff81001a87);
	assert_int_equal(got.edges[1].end, 0xffffffff81362500);
}

static void test_tracing_frames(void **state)
{
	struct kernel_functions got = read_text("1000 T bpf_trace_run2\n"
						"2000 T __traceiter_kmalloc\n"
						"3000 T __kmalloc\n"
						"4000 T caller\n");
	const uint64_t stack[] = {0xc0000010, 0x1010, 0x2010, 0x3010, 0x4010};
	const uint64_t plain[] = {0x3010, 0x4010};

	assert_int_equal(kernel_functions_tracing_frames(&got, stack, 5), 3);
	assert_int_equal(kernel_functions_tracing_frames(&got, plain, 2), 0);
	/* If all frames of a stack belong to the tracing code, none is removed. */
	assert_int_equal(kernel_functions_tracing_frames(&got, stack, 3), 0);
	assert_int_equal(kernel_functions_tracing_frames(&got, stack, 0), 0);
}

static void test_hidden(void **state)
{
	struct kernel_functions got = read_text("0000000000000000 T allocate_slab\n"
						"0000000000000000 t handle_softirqs\n");

	assert_int_equal(got.slab_cnt, 0);
	assert_int_equal(got.edge_cnt, 0);
}

static void test_odd(void **state)
{
	struct kernel_functions got = read_text("\n\n \nffffffff8162ead0\nffffffff8162ead0 \n"
						"ffffffff8162ead0 t\nffffffff8162ead0 t \n"
						"zz t allocate_slab\n"
						"ffffffff8162ead0 t allocate_slabs\n"
						"ffffffff8162ead0 t allocate_slab\t[evil]\n"
						"ffffffff8162ead0 t allocate_slab");

	assert_int_equal(got.slab_cnt, 1);
	assert_int_equal(got.slab[0].end - got.slab[0].start, 65536);
}

/* Functions that do not fit into the result's arrays are left out. */
static void test_many(void **state)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct kernel_functions got;

	for (unsigned int i = 0; i < 1000; i++)
		fprintf(out, "%x t kmalloc_large_%u\n%x t bpf_trace_run%u\n", 0x1000 + i * 32, i,
			0x1010 + i * 32, i);
	fclose(out);
	got = read_text(text);
	assert_int_equal(got.slab_cnt, MEMLEAK_SLAB_FUNCTIONS);
	assert_int_equal(got.tracing_cnt, TRACING_FUNCTIONS);
	assert_int_equal(got.slab[0].end, 0x1010);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges), cmocka_unit_test(test_tracing_frames),
		cmocka_unit_test(test_hidden), cmocka_unit_test(test_odd),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
