// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests reading symbols from hostile files: damaged, truncated or endless ones, and ones with odd
 * names.
 */
#include <dlfcn.h>

#include "base/fair_lock.h"
#include "base/log.h"
#include "tests/unit/symbolizer/own_space.h"

static void write_file(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	close(fd);
}

/* Damages random bytes in the headers, in the last two thirds, or anywhere. */
static void damage(unsigned char *data, size_t len, unsigned int round)
{
	unsigned int cnt = 1 + rand() % 30;

	for (unsigned int i = 0; i < cnt; i++) {
		size_t at = rand() % len;

		if (round % 3 == 0)
			at = 20 + rand() % 1024;
		else if (round % 3 == 1)
			at = len / 3 + rand() % (len - len / 3);
		data[at] = rand() % 4 ? rand() : 0xff * (rand() % 2);
	}
}

static void damaged_files(void **state)
{
	static const char *const flags[] = {"-g", "-g -gdwarf-4 -gz", "-g -fdebug-types-section"};
	const char *rounds_text = getenv("FUZZ_ROUNDS");
	unsigned int rounds = rounds_text ? atoi(rounds_text) : 120;
	unsigned int before = sym->client.helper.incarnation;

	srand(rounds_text ? rounds : 1);
	for (unsigned int round = 0; round < rounds; round++) {
		unsigned char *data;
		struct stat st;
		void *code;
		size_t len;
		int fd;

		if (!(round % (rounds / 3)) && !build_library(flags[round / (rounds / 3) % 3]))
			SKIP("no C compiler");
		fd = open(in_folder("lib.so"), O_RDONLY | O_CLOEXEC);
		assert_true(fd >= 0 && !fstat(fd, &st));
		data = malloc(st.st_size);
		assert_non_null(data);
		assert_int_equal(read(fd, data, st.st_size), st.st_size);
		close(fd);
		damage(data, st.st_size, round);
		/*
		 * Make a new file in each round, since the symbolizer caches what it has read of a
		 * file.
		 */
		unlink(in_folder("bad.so"));
		write_file(in_folder("bad.so"), data, st.st_size);
		free(data);
		code = map_code(in_folder("bad.so"), &len);
		resolve_many(code, len, 3000);
		munmap(code, len);
	}
	print_message("%u damaged files ended the helper %u times\n", rounds,
		      sym->client.helper.incarnation - before);
	assert_others_named(BUDGET_MS);
}

static void truncated_while_mapped(void **state)
{
	size_t len;
	void *code;

	if (!build_library("-g"))
		SKIP("no C compiler");
	code = map_code(in_folder("lib.so"), &len);
	/*
	 * The file is truncated after the helper has opened it, so the helper reads beyond its end.
	 */
	resolve_many(code, 64, BUDGET_MS);
	assert_int_equal(truncate(in_folder("lib.so"), 4096), 0);
	resolve_many(code, len, BUDGET_MS);
	munmap(code, len);
	assert_others_named(BUDGET_MS);
}

static void odd_symbol_names(void **state)
{
	struct symspace *other;
	void *lib, *addr;

	if (!build_library("") ||
	    !run("objcopy --redefine-sym out=\"$(printf 'ev\\033[31m\\a\\377il')\" lib.so odd.so"))
		SKIP("no C compiler, no objcopy");
	lib = dlopen(in_folder("odd.so"), RTLD_NOW);
	assert_non_null(lib);
	/* Only .symtab has the hostile name, so dlsym() finds the function by its old name. */
	addr = dlsym(lib, "out");
	assert_non_null(addr);
	assert_int_equal(symspace__new(sym, getpid(), &other), 0);
	assert_string_equal(resolve_one(other, (uintptr_t)addr, true, BUDGET_MS)->frames[0].symbol,
			    "ev\033[31m\a\377il");
	symspace__free(other);
	dlclose(lib);
}

/*
 * A function with 20,000 inlined calls, all of which have the same list of 100,000 address ranges.
 * Reading the list for each of them takes minutes.
 */
static const char endless_dwarf[] =
	".text; .globl slow; .type slow,%function; slow: .Lstart: .skip 64; .Lend: .size slow,64\n"
	".section .debug_abbrev; .uleb128 1,17; .byte 1; .uleb128 17,1,18,1,0,0\n"
	".uleb128 2,46; .byte 1; .uleb128 17,1,18,1,0,0\n"
	".uleb128 3,29; .byte 0; .uleb128 85,23,0,0,0\n"
	".section .debug_info; .4byte .Linfo_end-.Linfo; .Linfo: .2byte 4; .4byte 0; .byte 8\n"
	".uleb128 1; .8byte .Lstart,.Lend; .uleb128 2; .8byte .Lstart,.Lend\n"
	".rept 20000; .uleb128 3; .4byte 0; .endr; .byte 0,0; .Linfo_end:\n"
	".section .debug_ranges; .rept 100000; .8byte 0x100000,0x100001; .endr; .8byte 0,0\n"
	".section .note.GNU-stack\n";

/*
 * A progress function that ends the wait for names once only DWARF is still to be read, as a
 * deadline would.
 */
static void end_wait_for_dwarf(const char *path, int percent)
{
	const struct job *job = &sym->client.job;

	if (path && job->kind == JOB_NAMES && job->level == NAME_FULL)
		fair_lock_interrupt(true);
}

/* Looks up an address in "slow", whose symbol must be found. True if this would wait for DWARF. */
static bool waits_for_dwarf(void *slow, unsigned int offset)
{
	const struct sym_location *loc;
	bool waited;

	symbolizer__set_progress(sym, end_wait_for_dwarf);
	fair_lock_acquire();
	fair_lock_begin_sharing();
	loc = resolve_one(space, (uintptr_t)slow + offset, true, BUDGET_MS);
	waited = fair_lock_is_interrupted();
	fair_lock_interrupt(false);
	fair_lock_end_sharing();
	fair_lock_release();
	symbolizer__set_progress(sym, NULL);
	assert_string_equal(loc->frames[0].symbol, "slow");
	assert_int_equal(loc->frames[0].offset, offset);
	return waited;
}

/* Counts the messages that say that debug information is not used. */
static void count_note(void *arg, const char *line, size_t len)
{
	static const char wanted[] = "endless.so: debug information is not used: the process "
				     "reading it crashed or hung\n";
	size_t *cnt = arg;

	*cnt += len >= sizeof(wanted) - 1 &&
		!memcmp(line + len - (sizeof(wanted) - 1), wanted, sizeof(wanted) - 1);
}

/* The function's symbol is found at once. DWARF is given up for this file only. */
static void endless_structures(void **state)
{
	void *lib, *addr;
	size_t note_cnt = 0;
	pid_t pid;

	write_file(in_folder("e.s"), endless_dwarf, sizeof(endless_dwarf) - 1);
	if (!run("$CC -shared -nostdlib -o endless.so e.s"))
		SKIP("no C compiler");
	lib = dlopen(in_folder("endless.so"), RTLD_NOW);
	assert_non_null(lib);
	addr = dlsym(lib, "slow");
	assert_non_null(addr);
	assert_int_equal(symspace__refresh(space), 0);
	sym->client.hang_ns = 100 * 1000000;
	log_divert(count_note, &note_cnt);
	pid = sym->client.helper.pid;
	assert_true(waits_for_dwarf(addr, 3));
	assert_others_named(BUDGET_MS);
	assert_int_not_equal(sym->client.helper.pid, pid);
	/* The DWARF of this file is not read again, whatever address is looked up. */
	assert_false(waits_for_dwarf(addr, 3));
	assert_false(waits_for_dwarf(addr, 5));
	assert_int_equal(sym->client.job.kind, JOB_NONE);
	log_divert(NULL, NULL);
	assert_int_equal(note_cnt, 1);
	dlclose(lib);
}

/* The demangled form of this name of 300 bytes would have petabytes, so it stays mangled. */
static void endless_name(void **state)
{
	char source[1024] = "int out(void) __asm__(\"_Z1fSt4pairIiiE";
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const char *name = strchr(source, '"') + 1;
	char *end = source + strlen(source);
	char *mangled;
	void *lib, *addr;

	for (const char *d = digits; *d; d++)
		end += sprintf(end, "S_IS%c_S%c_E", *d, *d);
	mangled = strndup(name, end - name);
	assert_non_null(mangled);
	strcpy(end, "\"); int out(void) { return 7; }\n");
	write_file(in_folder("n.c"), source, strlen(source));
	if (!run("$CC -shared -fPIC -o name.so n.c"))
		SKIP("no C compiler");
	lib = dlopen(in_folder("name.so"), RTLD_NOW);
	assert_non_null(lib);
	addr = dlsym(lib, mangled);
	assert_non_null(addr);
	assert_int_equal(symspace__refresh(space), 0);
	assert_string_equal(resolve_one(space, (uintptr_t)addr, true, BUDGET_MS)->frames[0].symbol,
			    mangled);
	free(mangled);
	dlclose(lib);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(endless_structures, set_up, tear_down),
		cmocka_unit_test_setup_teardown(endless_name, set_up, tear_down),
		cmocka_unit_test_setup_teardown(truncated_while_mapped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(odd_symbol_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(damaged_files, set_up, tear_down),
	};
	int failed;

	if (make_folder(NULL))
		return 99;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	remove_folder(NULL);
	return failed;
}
