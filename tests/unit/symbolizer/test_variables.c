// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests finding the names of variables: of this process, of libraries, and of threads. */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

#include "tests/unit/symbolizer/own_space.h"

struct place {
	long many[5];
	int one;
};

/* clang-format off */
struct place in_data = {{1}, 2}; enum { DATA_LINE = __LINE__ };
static struct place in_bss; enum { BSS_LINE = __LINE__ };
const struct place in_rodata = {{3}, 4}; enum { RODATA_LINE = __LINE__ };
const void *const relocated[4] = {&in_data, &in_bss}; enum { RELOCATED_LINE = __LINE__ };
#ifdef __aarch64__ /* gcc gives no location for thread-local variables in DWARF */
static __thread struct place of_thread = {{5}, 6}; enum { THREAD_LINE = 0 };
#else
static __thread struct place of_thread = {{5}, 6}; enum { THREAD_LINE = __LINE__ };
#endif
/* clang-format on */
__thread char aligned_of_thread[256] __attribute__((aligned(256)));
static __thread long zero_of_thread;
void *table_of_class[6] __asm__("_ZTV5Thing") = {NULL, NULL, &in_data};

static const struct sym_location *resolve(const struct sym_query *query)
{
	const struct sym_location *loc = NULL;

	assert_int_equal(symspace__resolve(space, query, 1, patience(), &loc), 0);
	assert_non_null(loc);
	assert_int_equal(loc->frame_cnt, 1);
	return loc;
}

static const struct sym_location *resolve_data(const volatile void *at)
{
	return resolve(&(struct sym_query){.addr = (uintptr_t)at, .kind = SYM_DATA});
}

static void expect(const struct sym_location *loc, const char *symbol, uint64_t offset,
		   const char *module)
{
	assert_non_null(loc->frames[0].symbol);
	assert_string_equal(loc->frames[0].symbol, symbol);
	assert_int_equal(loc->frames[0].offset, offset);
	assert_non_null(loc->module);
	assert_true(ends_with(loc->module, module));
}

static void expect_line(const struct sym_location *loc, const char *file, unsigned int line)
{
	assert_non_null(loc->frames[0].file);
	assert_true(ends_with(loc->frames[0].file, file));
	assert_int_equal(loc->frames[0].line, line);
}

static void all_sections(void **state)
{
	const struct sym_location *loc;

	in_bss.one = 7;
	loc = resolve_data(&in_data.one);
	expect(loc, "in_data", offsetof(struct place, one), "test_variables");
	expect_line(loc, "test_variables.c", DATA_LINE);
	loc = resolve_data(&in_bss.many[2]);
	expect(loc, "in_bss", 16, "test_variables");
	expect_line(loc, "test_variables.c", BSS_LINE);
	loc = resolve_data(&in_rodata);
	expect(loc, "in_rodata", 0, "test_variables");
	expect_line(loc, "test_variables.c", RODATA_LINE);
	loc = resolve_data(&relocated[1]);
	expect(loc, "relocated", 8, "test_variables");
	expect_line(loc, "test_variables.c", RELOCATED_LINE);
	assert_true(loc->module_offset > 0 && loc->module_offset < (uintptr_t)&relocated[1]);
	assert_true(strlen(loc->build_id) >= 16);
	assert_ptr_equal(resolve_data(&relocated[1]), loc);
	loc = resolve_data(&table_of_class[2]);
	expect(loc, "vtable for Thing", 16, "test_variables");
}

static void statics_of_functions(void **state)
{
	static volatile long counted[3];
	const struct sym_location *loc = resolve_data(&counted[1]);

	counted[0]++;
	assert_non_null(loc->frames[0].symbol);
	/* Compilers append different suffixes to the names of static variables in functions. */
	assert_non_null(strstr(loc->frames[0].symbol, "counted"));
	assert_int_equal(loc->frames[0].offset, 8);
	/* The symbol table gives a local symbol's source file, but not its line. */
	expect_line(loc, "test_variables.c", 0);
}

static void of_the_c_library(void **state)
{
	expect(resolve_data(stdout), "_IO_2_1_stdout_", 0, "libc.so.6");
}

/* A function is not found as data, and a variable is not found as code. */
static void code_is_no_data(void **state)
{
	assert_unnamed(resolve_data((void *)(uintptr_t)all_sections));
	assert_unnamed(resolve_one(space, (uintptr_t)&in_data, true, 10000));
}

static void other_memory(void **state)
{
	void *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *small = malloc(24);
	const struct sym_location *loc;
	long on_stack = 1;

	assert_true(pages != MAP_FAILED);
	assert_int_equal(symspace__refresh(space), 0);
	loc = resolve_data(pages);
	assert_null(loc->frames[0].symbol);
	assert_true(!strncmp(loc->module, "[anon", 5));
	assert_true(loc->addr == (uintptr_t)pages && loc->module_offset == loc->addr);
#ifndef __SANITIZE_ADDRESS__
	loc = resolve_data(small);
	assert_null(loc->frames[0].symbol);
	assert_string_equal(loc->module, "[heap]");
#endif
	loc = resolve_data(&on_stack);
	assert_null(loc->frames[0].symbol);
	assert_string_equal(loc->module, "[stack]");
	munmap(pages, 8192);
	assert_int_equal(symspace__refresh(space), 0);
	assert_null(resolve_data(pages)->module);
	free(small);
}

static const struct sym_location *resolve_tls(const volatile void *at)
{
	return resolve(&(struct sym_query){
		.addr = (uintptr_t)resolve_tls,
		.kind = SYM_TLS,
		.distance = (uintptr_t)at - (uintptr_t)__builtin_thread_pointer(),
	});
}

static void *in_thread(void *arg)
{
	const struct sym_location *loc = resolve_tls(&of_thread.one);

	expect(loc, "of_thread", offsetof(struct place, one), "test_variables");
	expect_line(loc, "test_variables.c", THREAD_LINE);
	expect(resolve_tls(aligned_of_thread + 255), "aligned_of_thread", 255, "test_variables");
	zero_of_thread++;
	expect(resolve_tls(&zero_of_thread), "zero_of_thread", 0, "test_variables");
	/* Thread-local variables of libraries are not found. */
	loc = resolve_tls(&errno);
	assert_null(loc->frames[0].symbol);
	return NULL;
}

static void of_threads(void **state)
{
	pthread_t thread;

	in_thread(NULL);
	assert_int_equal(pthread_create(&thread, NULL, in_thread, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static bool build(const char *flags, const char *after)
{
	char command[1024];

	snprintf(command, sizeof(command),
		 "printf 'static long hidden[4] = {1}; long shown[4] = {2}; static long "
		 "none[4096];\n"
		 "long *at_hidden(void) { return hidden; } long *at_none(void) { return none; }\n' "
		 "> v.c && $CC %s -O1 -shared -fPIC -Wl,--build-id -o v.so v.c && %s",
		 flags, after);
	return run(command);
}

typedef long *at_fn(void);

static long *call(void *lib, const char *name)
{
	at_fn *fn = (at_fn *)(uintptr_t)dlsym(lib, name);

	assert_non_null(fn);
	return fn();
}

static void *open_library(const char *name)
{
	void *lib = dlopen(in_folder(name), RTLD_NOW);

	assert_non_null(lib);
	assert_int_equal(symspace__refresh(space), 0);
	return lib;
}

static void expect_library(void *lib, const char *hidden)
{
	const struct sym_location *loc = resolve_data(call(lib, "at_hidden") + 3);

	expect(resolve_data((long *)dlsym(lib, "shown") + 1), "shown", 8, "v.so");
	if (hidden) {
		expect(loc, hidden, 24, "v.so");
		expect(resolve_data(call(lib, "at_none") + 4000), "none", 32000, "v.so");
	} else {
		assert_null(loc->frames[0].symbol);
		assert_true(ends_with(loc->module, "v.so"));
		assert_true(loc->module_offset < 0x100000);
	}
}

/* Loads libraries of the same name, built in different ways, one after the other. */
static void libraries(void **state)
{
	static const struct {
		const char *flags, *after, *hidden;
	} ways[] = {
		{"-g", "true", "hidden"},
		{"", "strip v.so", NULL},
		{"-Wl,-z,noseparate-code", "true", "hidden"},
		{"-g -Wl,-z,relro,-z,now", "true", "hidden"},
		{"-fuse-ld=gold", "true", "hidden"},
		{"-fuse-ld=lld", "true", "hidden"},
		{"-g",
		 "objcopy --only-keep-debug v.so v.debug && strip v.so && "
		 "objcopy --add-gnu-debuglink=v.debug v.so",
		 "hidden"},
		/* the debug file belongs to another build of the library */
		{"-g -DOTHER",
		 "objcopy --only-keep-debug v.so w.debug && "
		 "sed -i 's/{1}/{5}/' v.c && $CC -O1 -shared -fPIC -Wl,--build-id "
		 "-o v.so v.c && strip v.so && mv w.debug v.debug && "
		 "objcopy --add-gnu-debuglink=v.debug v.so",
		 NULL},
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		void *lib;

		unlink(in_folder("v.so"));
		if (!build(ways[i].flags, ways[i].after)) {
			print_message("not built: %s\n", ways[i].flags);
			continue;
		}
		lib = open_library("v.so");
		expect_library(lib, ways[i].hidden);
		dlclose(lib);
		assert_int_equal(symspace__refresh(space), 0);
	}
}

/* If a process has loaded a file twice, each address is found in the right copy. */
static void twice(void **state)
{
	void *first, *second;

	if (!build("-g", "true"))
		SKIP("no C compiler");
	first = open_library("v.so");
	second = dlmopen(LM_ID_NEWLM, in_folder("v.so"), RTLD_NOW);
	if (!second)
		SKIP("no second name space");
	assert_int_equal(symspace__refresh(space), 0);
	assert_true(call(first, "at_hidden") != call(second, "at_hidden"));
	expect_library(first, "hidden");
	expect_library(second, "hidden");
	dlclose(second);
	dlclose(first);
}

/* Looks up variables and code together. */
static void mixed(void **state)
{
	enum { CNT = 3000 };
	struct sym_query *queries = calloc(CNT, sizeof(*queries));
	const struct sym_location **locs = calloc(CNT, sizeof(*locs));

	assert_true(queries && locs);
	for (size_t i = 0; i < CNT; i++)
		queries[i] = (struct sym_query){
			.addr = i % 2 ? (uintptr_t)mixed : (uintptr_t)in_data.many + i % 40,
			.exact = true,
			.kind = i % 2 ? SYM_CODE : SYM_DATA,
		};
	assert_int_equal(symspace__resolve(space, queries, CNT, patience(), locs), 0);
	for (size_t i = 0; i < CNT; i++)
		expect(locs[i], i % 2 ? "mixed" : "in_data", i % 2 ? 0 : i % 40, "test_variables");
	free(queries);
	free(locs);
}

static int begin(void **state)
{
	return make_folder(state) || set_up(state) ? -1 : 0;
}

static int end(void **state)
{
	tear_down(state);
	return remove_folder(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_sections),
		cmocka_unit_test(statics_of_functions),
		cmocka_unit_test(of_the_c_library),
		cmocka_unit_test(code_is_no_data),
		cmocka_unit_test(other_memory),
		cmocka_unit_test(of_threads),
		cmocka_unit_test(libraries),
		cmocka_unit_test(twice),
		cmocka_unit_test(mixed),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
