// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the symbolizer on its own process: functions, inlined calls, and libraries that are loaded
 * and unloaded.
 */
#include <dlfcn.h>
#include <sys/auxv.h>

#include "tests/unit/symbolizer/known.h"

struct spaces {
	struct symbolizer *sym;
	struct symspace *self;
};

static int open_self(void **state)
{
	static struct spaces spaces;

	if (symbolizer__new(&spaces.sym))
		return -1;
	*state = &spaces;
	return symspace__new(spaces.sym, getpid(), &spaces.self);
}

static int close_self(void **state)
{
	struct spaces *spaces = *state;

	symspace__free(spaces->self);
	symbolizer__free(spaces->sym);
	return 0;
}

static void function_and_line(void **state)
{
	struct spaces *spaces = *state;
	struct known known = known_function();
	const struct sym_location *loc, *again;

	loc = resolve_one(spaces->self, known.addr, false, BUDGET_MS);
	assert_known(loc, &known, true);
	assert_true(ends_with(loc->module, "test_symbolizer"));
	assert_true(loc->module_offset > 0 && loc->module_offset < loc->addr);
	again = resolve_one(spaces->self, known.addr, false, 0);
	assert_ptr_equal(loc, again);
}

static size_t search_cnt;

/* A progress function that counts searches: `path` is NULL at the end of each search. */
static void count_search(const char *path, int percent)
{
	search_cnt += !path;
}

/* Names that are known already are not searched for. */
static void known_names(void **state)
{
	struct spaces *spaces = *state;
	const struct sym_query queries[] = {
		{.addr = (uintptr_t)known_names, .exact = true},
		{.addr = (uintptr_t)known_names + 1},
	};
	const struct sym_location *locations[2];

	search_cnt = 0;
	symbolizer__set_progress(spaces->sym, count_search);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(symspace__resolve(spaces->self, queries, 2,
						   clock_deadline_ns(BUDGET_MS * 1000000ULL),
						   locations),
				 0);
		assert_string_equal(locations[1]->frames[0].symbol, "known_names");
		assert_int_equal(search_cnt, 1);
	}
	symbolizer__set_progress(spaces->sym, NULL);
}

struct inlined_calls {
	uint64_t addr;
	unsigned int inner_line;
	unsigned int middle_line;
	unsigned int outer_line;
};

static inline __attribute__((always_inline)) void inner(struct inlined_calls *calls)
{
	/* clang-format off */
	calls->addr = return_address(); calls->inner_line = __LINE__;
	/* clang-format on */
}

static inline __attribute__((always_inline)) void middle(struct inlined_calls *calls)
{
	calls->middle_line = __LINE__ + 1;
	inner(calls);
}

static noinline_function void outer(struct inlined_calls *calls)
{
	calls->outer_line = __LINE__ + 1;
	middle(calls);
	calls->addr += 0 * calls->inner_line;
}

static void inlined_functions(void **state)
{
	struct spaces *spaces = *state;
	struct inlined_calls calls;
	const struct sym_location *loc;

	outer(&calls);
	loc = resolve_one(spaces->self, calls.addr, false, BUDGET_MS);
	assert_int_equal(loc->frame_cnt, 3);
	assert_string_equal(loc->frames[0].symbol, "inner");
	assert_string_equal(loc->frames[1].symbol, "middle");
	assert_string_equal(loc->frames[2].symbol, "outer");
	assert_true(loc->frames[0].inlined && loc->frames[1].inlined && !loc->frames[2].inlined);
	assert_int_equal(loc->frames[0].line, calls.inner_line);
	assert_int_equal(loc->frames[1].line, calls.middle_line);
	assert_int_equal(loc->frames[2].line, calls.outer_line);
	assert_int_equal(loc->frames[0].offset, 0);
	assert_int_equal(loc->frames[1].offset, 0);
	assert_true(loc->frames[2].offset > 0);
	for (int i = 0; i < 3; i++)
		assert_true(ends_with(loc->frames[i].file, "test_symbolizer.c"));
}

static jmp_buf escape;
static uint64_t escaped_from;

static noinline_function __attribute__((noreturn)) void never_returns(void)
{
	escaped_from = (uintptr_t)__builtin_return_address(0);
	longjmp(escape, 1);
}

static noinline_function __attribute__((noreturn, aligned(1))) void ends_in_a_call(void)
{
	never_returns();
}

/*
 * If a call is the last instruction of a function, its return address is after the function,
 * perhaps in the next one.
 */
static void call_at_the_end(void **state)
{
	struct spaces *spaces = *state;
	const struct sym_location *loc;

	if (!setjmp(escape))
		ends_in_a_call();
	loc = resolve_one(spaces->self, escaped_from, false, BUDGET_MS);
	assert_non_null(loc->frames[0].symbol);
	assert_string_equal(loc->frames[0].symbol, "ends_in_a_call");
	assert_true(loc->frames[0].offset == escaped_from - (uintptr_t)ends_in_a_call);
	loc = resolve_one(spaces->self, escaped_from, true, BUDGET_MS);
	assert_true(!loc->frames[0].symbol || strcmp(loc->frames[0].symbol, "ends_in_a_call"));
	assert_true(loc->module_offset > 0);
}

static void exact_address(void **state)
{
	struct spaces *spaces = *state;
	const struct sym_location *loc;

	loc = resolve_one(spaces->self, (uintptr_t)known_function, true, BUDGET_MS);
	assert_string_equal(loc->frames[0].symbol, "known_function");
	assert_int_equal(loc->frames[0].offset, 0);
	loc = resolve_one(spaces->self, (uintptr_t)known_function + 1, false, BUDGET_MS);
	assert_string_equal(loc->frames[0].symbol, "known_function");
	assert_int_equal(loc->frames[0].offset, 1);
}

static void assert_hex(const char *text)
{
	assert_non_null(text);
	assert_true(strlen(text) >= 16 && strspn(text, "0123456789abcdef") == strlen(text));
}

static void library_function(void **state)
{
	struct spaces *spaces = *state;
	void *addr = dlsym(RTLD_DEFAULT, "getopt_long");
	const struct sym_location *loc;
	Dl_info info;

	assert_true(addr && dladdr(addr, &info));
	loc = resolve_one(spaces->self, (uintptr_t)addr, true, BUDGET_MS);
	assert_non_null(loc->frames[0].symbol);
	assert_string_equal(loc->frames[0].symbol, "getopt_long");
	assert_non_null(strstr(loc->module, "libc"));
	assert_true(loc->module_offset == (uintptr_t)addr - (uintptr_t)info.dli_fbase);
	assert_hex(loc->build_id);
}

static void unmapped_addresses(void **state)
{
	static const uint64_t addrs[] = {0, 1, 0x1000, UINT64_MAX, 1ULL << 63};
	struct spaces *spaces = *state;

	for (size_t i = 0; i < 2 * sizeof(addrs) / sizeof(*addrs); i++) {
		const struct sym_location *loc =
			resolve_one(spaces->self, addrs[i / 2], i % 2, BUDGET_MS);

		assert_null(loc->module);
		assert_null(loc->build_id);
		assert_unnamed(loc);
	}
}

static void vdso_functions(void **state)
{
	struct spaces *spaces = *state;
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	bool found = false;

	if (!start)
		SKIP("this system has no vdso");
	for (uint64_t addr = start; addr < start + 0x2000 && !found; addr += 16) {
		const struct sym_location *loc = resolve_one(spaces->self, addr, true, BUDGET_MS);

		found = loc->frames[0].symbol && strstr(loc->frames[0].symbol, "gettime");
		if (found)
			assert_string_equal(loc->module, "[vdso]");
	}
	assert_true(found);
}

int main(void);

/* Resolves main() and addresses after it in one call. Most must get names. */
static void large_batch(void **state)
{
	enum { CNT = 5000 };
	struct spaces *spaces = *state;
	struct sym_query *queries = calloc(CNT, sizeof(*queries));
	const struct sym_location **locs = calloc(CNT, sizeof(*locs));
	uint64_t start = (uintptr_t)main;
	size_t named = 0;

	assert_true(queries && locs);
	for (int i = 0; i < CNT; i++)
		queries[i] = (struct sym_query){.addr = start + i, .exact = true};
	assert_int_equal(symspace__resolve(spaces->self, queries, CNT,
					   clock_deadline_ns(BUDGET_MS * 1000000ULL), locs),
			 0);
	for (int i = 0; i < CNT; i++) {
		assert_true(locs[i]->addr == start + i);
		assert_true(locs[i]->module_offset - locs[0]->module_offset == (uint64_t)i);
		named += locs[i]->frames[0].symbol != NULL;
	}
	assert_string_equal(locs[0]->frames[locs[0]->frame_cnt - 1].symbol, "main");
	assert_true(named > CNT / 2);
	free(queries);
	free(locs);
}

static bool build_library(const char *function, const char *file)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "echo 'int %s(int x) { return x + 1; }' > l.c && "
		 "$CC -g -O1 -shared -fPIC -o %s l.c",
		 function, file);
	return run(command);
}

static void library_loaded_later(void **state)
{
	struct spaces *spaces = *state;
	const struct sym_location *before, *loc, *after;
	uint64_t addr;
	void *lib;

	if (!build_library("came_later", "later.so"))
		SKIP("no C compiler");
	lib = dlopen(in_folder("later.so"), RTLD_NOW);
	assert_non_null(lib);
	addr = (uintptr_t)dlsym(lib, "came_later");
	before = resolve_one(spaces->self, addr, true, BUDGET_MS);
	assert_unnamed(before);
	assert_int_equal(symspace__refresh(spaces->self), 0);
	loc = resolve_one(spaces->self, addr, true, BUDGET_MS);
	assert_string_equal(loc->frames[0].symbol, "came_later");
	assert_true(ends_with(loc->frames[0].file, "l.c"));
	assert_true(ends_with(loc->module, "later.so"));

	/*
	 * The library was unloaded, but its addresses still get names, even those that were not
	 * looked up before.
	 */
	dlclose(lib);
	assert_int_equal(symspace__refresh(spaces->self), 0);
	after = resolve_one(spaces->self, addr, true, BUDGET_MS);
	assert_ptr_equal(after, loc);
	after = resolve_one(spaces->self, addr + 1, true, BUDGET_MS);
	assert_string_equal(after->frames[0].symbol, "came_later");
}

static const struct sym_location *resolve_place(struct symspace *space, uint32_t file,
						uint64_t offset)
{
	const struct sym_query query = {.addr = offset, .exact = true, .file = file};
	const struct sym_location *loc = NULL;

	assert_int_equal(symspace__resolve(space, &query, 1,
					   clock_deadline_ns(BUDGET_MS * 1000000ULL), &loc),
			 0);
	assert_non_null(loc);
	return loc;
}

static uint32_t add_file(struct symbolizer *sym, const char *name)
{
	int fd = open(in_folder(name), O_RDONLY | O_CLOEXEC);
	uint32_t file = 0;

	assert_true(fd >= 0);
	assert_int_equal(symbolizer__add_file(sym, fd, in_folder(name), &file), 0);
	close(fd);
	assert_true(file != 0);
	return file;
}

/*
 * An offset in a file gets a name, mapped or not. The address in the result is the last one at
 * which it was mapped, or 0.
 */
static void place_in_file(void **state)
{
	struct spaces *spaces = *state;
	const struct sym_location *loc;
	uint32_t file, other;
	uint64_t addr, offset;
	Dl_info info;
	void *lib;

	if (!build_library("at_a_place", "place.so") || !build_library("elsewhere", "other.so"))
		SKIP("no C compiler");
	file = add_file(spaces->sym, "place.so");
	other = add_file(spaces->sym, "other.so");
	assert_int_not_equal(file, other);
	assert_int_equal(add_file(spaces->sym, "place.so"), file);
	lib = dlopen(in_folder("place.so"), RTLD_NOW);
	assert_non_null(lib);
	addr = (uintptr_t)dlsym(lib, "at_a_place");
	assert_true(dladdr((void *)addr, &info));
	offset = addr - (uintptr_t)info.dli_fbase;
	loc = resolve_place(spaces->self, file, offset);
	assert_string_equal(loc->frames[0].symbol, "at_a_place");
	assert_true(loc->addr == 0);
	assert_int_equal(symspace__refresh(spaces->self), 0);
	loc = resolve_place(spaces->self, file, offset);
	assert_true(loc->addr == addr);
	assert_true(ends_with(loc->module, "place.so"));
	dlclose(lib);
	assert_int_equal(symspace__refresh(spaces->self), 0);
	assert_true(resolve_place(spaces->self, file, offset)->addr == addr);
	loc = resolve_place(spaces->self, other, offset);
	assert_string_equal(loc->frames[0].symbol, "elsewhere");
	assert_true(loc->addr == 0);
	assert_true(ends_with(loc->module, "other.so"));
}

/* Maps a library in the test's folder as executable: at the address `at` unless it is NULL. */
static char *map_library(const char *name, void *at, size_t *len)
{
	int fd = open(in_folder(name), O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *code;

	assert_true(fd >= 0 && !fstat(fd, &st));
	code = mmap(at, st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE | (at ? MAP_FIXED : 0), fd,
		    0);
	assert_true(code != MAP_FAILED);
	close(fd);
	*len = st.st_size;
	return code;
}

/*
 * Another library is mapped over the first one. Addresses resolve to it; locations returned before
 * do not change.
 */
static void library_replaced(void **state)
{
	struct spaces *spaces = *state;
	const struct sym_location *one = NULL, *two;
	size_t len, second_len;
	char *code;

	if (!build_library("the_first", "first.so") || !build_library("the_other", "other.so"))
		SKIP("no C compiler");
	code = map_library("first.so", NULL, &len);
	assert_int_equal(symspace__refresh(spaces->self), 0);
	for (size_t i = 0; i < len; i++) {
		one = resolve_one(spaces->self, (uintptr_t)code + i, true, BUDGET_MS);
		if (one->frames[0].symbol && !strcmp(one->frames[0].symbol, "the_first"))
			break;
	}
	assert_non_null(one);
	assert_string_equal(one->frames[0].symbol, "the_first");
	assert_ptr_equal(map_library("other.so", code, &second_len), code);
	assert_int_equal(symspace__refresh(spaces->self), 0);
	two = resolve_one(spaces->self, one->addr, true, BUDGET_MS);
	assert_ptr_not_equal(one, two);
	assert_string_equal(two->frames[0].symbol, "the_other");
	assert_string_equal(one->frames[0].symbol, "the_first");
	munmap(code, len > second_len ? len : second_len);
}

int main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(function_and_line),    cmocka_unit_test(inlined_functions),
		cmocka_unit_test(call_at_the_end),      cmocka_unit_test(exact_address),
		cmocka_unit_test(library_function),     cmocka_unit_test(unmapped_addresses),
		cmocka_unit_test(vdso_functions),       cmocka_unit_test(large_batch),
		cmocka_unit_test(library_loaded_later), cmocka_unit_test(library_replaced),
		cmocka_unit_test(place_in_file),        cmocka_unit_test(known_names),
	};
	void *state = NULL;
	int failed;

	if (make_folder(NULL) || open_self(&state))
		return 99;
	/* All tests use the same symbolizer, as all parts of memleak do. */
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		tests[i].initial_state = state;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	close_self(&state);
	remove_folder(NULL);
	return failed;
}
