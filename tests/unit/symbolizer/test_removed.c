// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests that code gets its own lines. A function that the linker has removed still has DWARF, for
 * addresses that may be those of other code.
 */
#include <dlfcn.h>

#include "tests/unit/symbolizer/known.h"

/* Bytes of `live` to check; the function is longer. */
#define CODE_BYTES 32

/*
 * Writes two source files. live.c has `live`, `other` and `here`; removed.c has `elsewhere`.
 * Nothing calls `here` and `elsewhere`, so the linker removes them. Each of these two is larger
 * than a page.
 */
static bool make_source(void)
{
	return run(
		"s='counter += counter;' && for i in 1 2 3 4 5 6 7 8 9 10; do s=\"$s\n$s\"; "
		"done && "
		"h='__attribute__((visibility(\"hidden\")))' && "
		"echo \"volatile unsigned counter; $h void here(void) { $s }\" > live.c && "
		"echo 'int other(int x) { counter++; return x + 1; }' >> live.c && "
		"echo '#line 5000' >> live.c && "
		"echo 'int live(int x) { counter *= x; counter *= x; counter *= x; counter *= x; "
		"counter *= x; counter *= x; return x; }' >> live.c && "
		"echo \"extern volatile unsigned counter; $h void elsewhere(void) { $s }\" "
		"> removed.c");
}

static void check_line(const char *path)
{
	const struct sym_location *loc;
	struct symbolizer *sym;
	struct symspace *space;
	void *lib = dlopen(in_folder(path), RTLD_NOW), *addr;

	assert_non_null(lib);
	addr = dlsym(lib, "live");
	assert_non_null(addr);
	assert_int_equal(symbolizer__new(&sym), 0);
	assert_int_equal(symspace__new(sym, getpid(), &space), 0);
	for (size_t i = 0; i < CODE_BYTES; i++) {
		loc = resolve_one(space, (uintptr_t)addr + i, true, BUDGET_MS);
		assert_string_equal(loc->frames[0].symbol, "live");
		assert_true(ends_with(loc->frames[0].file, "live.c"));
		assert_int_equal(loc->frames[0].line, 5000);
	}
	symspace__free(space);
	symbolizer__free(sym);
	dlclose(lib);
}

static void lines_beside_removed_functions(void **state)
{
	static const char *const linkers[] = {"bfd", "gold", "lld"};
	static const char *const compilers[] = {"$CC", "gcc", "clang"};
	size_t built = 0;

	assert_true(make_source());
	/* All pairs of a compiler, a linker and a version of DWARF, but not all combinations. */
	for (size_t i = 0; i < 3 * 3; i++) {
		const char *linker = linkers[i % 3], *compiler = compilers[i / 3];
		size_t dwarf = 4 + (i % 3 + i / 3) % 2;
		char command[512], name[32];

		snprintf(name, sizeof(name), "removed%zu.so", i);
		snprintf(command, sizeof(command),
			 "%s -g -gdwarf-%zu -O1 -fPIC -shared -ffunction-sections -fuse-ld=%s "
			 "-Wl,--gc-sections -o %s removed.c live.c 2>/dev/null",
			 compiler, dwarf, linker, name);
		if (!run(command))
			continue;
		built++;
		print_message("%s, %s, DWARF %zu\n", compiler, linker, dwarf);
		check_line(name);
	}
	if (!built)
		SKIP("no C compiler");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_beside_removed_functions),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
