// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests finding the return instructions of functions: in the assembly code below, and in damaged
 * files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prober/server/function_returns.h"
#include "tests/unit/lib/random.h"

#ifdef __x86_64__

/*
 * Functions whose return instructions are to be found. Some of them call or jump to named_function.
 * For the expected verdicts see `things`.
 */
__asm__(".pushsection .text\n"
	".macro function name\n"
	".globl \\name\n.type \\name, @function\n.balign 16\n\\name:\n"
	".endm\n"
	"function named_function\n ret\n"
	"function returns_twice\n test %rdi, %rdi\n je 1f\n ret\n1: nop\n ret\n"
	"function returns_elsewhere\n jmp far_part\n"
	"function jumps_there\n jmp named_function\n"
	"function goes_through\n push %rbx\n1: call named_function\n test %rax, %rax\n je 1b\n"
	" pop %rbx\n ret\n"
	"function goes_through_sometimes\n test %rdi, %rdi\n je 1f\n ret\n"
	"1: push %rbx\n call named_function\n pop %rbx\n ret\n"
	"function calls_others\n push %rbx\n call far_part\n pop %rbx\n ret\n"
	"function jumps_by_register\n test %rdi, %rdi\n je 1f\n ret\n1: jmp *%rsi\n"
	"function jumps_by_table\n lea table(%rip), %rax\n movslq (%rax,%rdi,4), %rdi\n"
	" add %rdi, %rax\n jmp *%rax\n1: ret\n"
	"function never_returns\n ud2\n"
	"function loops\n1: jmp 1b\n"
	"far_part: nop\n ret\n"
	".balign 4\ntable: .long 0\n"
	".popsection\n");

static const struct {
	const char *name;
	enum function_verdict verdict;
	size_t cnt;
	bool jumps_there;
} things[] = {
	{"named_function", FUNCTION_RETURNS, 1, false},
	{"returns_twice", FUNCTION_RETURNS, 2, false},
	{"returns_elsewhere", FUNCTION_RETURNS, 1, false},
	{"jumps_there", FUNCTION_THROUGH, 0, true},
	{"goes_through", FUNCTION_THROUGH, 0, false},
	{"goes_through_sometimes", FUNCTION_RETURNS, 2, false},
	{"calls_others", FUNCTION_RETURNS, 1, false},
	{"jumps_by_register", FUNCTION_RETURNS, 1, false},
	{"jumps_by_table", FUNCTION_UNKNOWN, 0, false},
	{"never_returns", FUNCTION_UNKNOWN, 0, false},
	{"loops", FUNCTION_UNKNOWN, 0, false},
};

static const struct wanted_function named_only[] = {{.name = "named_function"}};

static void find_one(int fd, const char *name, struct elf_function *ret)
{
	const struct wanted_function item = {.name = name};
	const struct wanted_functions wanted = {.items = &item, .cnt = 1, .scope = SCOPE_GLOBAL};
	struct elf_functions found;

	assert_int_equal(elf_functions_find(fd, EM_X86_64, &wanted, &found), 0);
	assert_int_equal(found.cnt, 1);
	*ret = found.items[0];
	free(found.items);
}

static void test_verdicts(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct named_functions named = {named_only, 1, NULL, 1};
	struct elf_function through;
	struct code_file code;

	assert_int_equal(code_file_init(&code, fd), 0);
	find_one(fd, "named_function", &through);
	named.found = &through;
	for (size_t i = 0; i < sizeof(things) / sizeof(things[0]); i++) {
		struct function_returns returns;
		struct elf_function function;

		find_one(fd, things[i].name, &function);
		assert_int_equal(function_returns_find(&code, &function, &named, &returns), 0);
		assert_int_equal(returns.verdict, things[i].verdict);
		assert_int_equal(returns.jumps_there, things[i].jumps_there);
		assert_int_equal(returns.cnt, things[i].cnt);
		if (returns.verdict == FUNCTION_THROUGH)
			assert_int_equal(returns.through, 0);
		for (size_t j = 0; j < returns.cnt; j++) {
			uint8_t insn;

			assert_int_equal(pread(fd, &insn, 1, (off_t)returns.offsets[j]), 1);
			assert_int_equal(insn, 0xc3);
		}
		free(returns.offsets);
	}
	code_file_deinit(&code);
	close(fd);
}

/* Searches functions in files that were truncated or damaged after their symbols were read. */
static void test_hostile(void **state)
{
	int exe = open("/proc/self/exe", O_RDONLY), fd = memfd_create("hostile", 0);
	struct named_functions named = {named_only, 1, NULL, 0};
	struct elf_function function;
	struct stat st;
	uint64_t seed = 1;
	uint8_t *bytes;

	find_one(exe, "goes_through_sometimes", &function);
	assert_int_equal(fstat(exe, &st), 0);
	bytes = malloc((size_t)st.st_size);
	for (int round = 0; round < 60; round++) {
		struct function_returns returns = {0};
		struct code_file code;
		size_t size = (size_t)st.st_size;

		assert_int_equal(pread(exe, bytes, size, 0), size);
		if (round % 3 == 0)
			size = random_next(&seed) % size;
		else if (round % 3 == 1)
			for (int i = 0; i < 64; i++)
				bytes[random_next(&seed) % 4096] = (uint8_t)random_next(&seed);
		else
			for (int i = 0; i < 64; i++)
				bytes[function.offset + random_next(&seed) % 256] =
					(uint8_t)random_next(&seed);
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, bytes, size, 0), size);
		if (code_file_init(&code, fd))
			continue;
		if (function_returns_find(&code, &function, &named, &returns) == 0)
			free(returns.offsets);
		code_file_deinit(&code);
	}
	free(bytes);
	close(exe);
	close(fd);
}

#endif

int main(void)
{
#ifdef __x86_64__
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
#else
	return 77;
#endif
}
