// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests resolving kernel addresses (core kernel, modules, BPF programs) while modules are loaded
 * and unloaded, and while addresses are hidden.
 */
#include "tests/unit/symbolizer/fake_kernel.h"

#define CORE                                                                                       \
	"ffffffff81000000 T _stext\n"                                                              \
	"ffffffff81000000 t first\n"                                                               \
	"ffffffff81000100 T second\n"                                                              \
	"ffffffff81000200 T _etext\n"

static const unsigned char core_notes[] = {
	4, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 'X', 'e', 'n', 0, 1,    2,    3,    0, /* a Xen note */
	4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xde, 0xad, 0xbe, 0xef,
};

static void core_functions(void **state)
{
	const struct sym_location *loc;
	struct kernel kernel;

	kernel_text("proc/kallsyms", CORE);
	kernel_file("sys/kernel/notes", core_notes, sizeof(core_notes));
	kernel = kernel_open();
	assert_int_equal(symspace__kernel_error(kernel.space), 0);
	loc = resolve_exact(&kernel, 0xffffffff81000110);
	assert_place(loc, "kernel", "second", 0x10);
	assert_true(loc->module_offset == 0x110);
	assert_string_equal(loc->build_id, "deadbeef");
	/* A return address just after the end of a function belongs to this function. */
	assert_place(resolve_one(kernel.space, 0xffffffff81000100, false, BUDGET_MS), "kernel",
		     "first", 0x100);
	assert_place(resolve_exact(&kernel, 0xffffffff81000100), "kernel", "second", 0);
	assert_nothing_there(resolve_exact(&kernel, 0xffffffff81000200));
	assert_nothing_there(resolve_exact(&kernel, 0));
	assert_nothing_there(resolve_one(kernel.space, 0, false, BUDGET_MS));
	assert_nothing_there(resolve_exact(&kernel, UINT64_MAX));
	kernel_close(&kernel);
	assert_int_equal(unlink(in_folder("sys/kernel/notes")), 0);
}

/* There is no build id if notes are truncated or have wrong lengths. */
static void broken_notes(void **state)
{
	unsigned char notes[sizeof(core_notes)];
	struct kernel kernel;

	kernel_text("proc/kallsyms", CORE);
	for (size_t len = 0; len < sizeof(core_notes); len++) {
		kernel_file("sys/kernel/notes", core_notes, len);
		kernel = kernel_open();
		assert_null(resolve_exact(&kernel, 0xffffffff81000000)->build_id);
		kernel_close(&kernel);
	}
	memcpy(notes, core_notes, sizeof(notes));
	memset(notes, 0xff, 8);
	kernel_file("sys/kernel/notes", notes, sizeof(notes));
	kernel = kernel_open();
	assert_null(resolve_exact(&kernel, 0xffffffff81000000)->build_id);
	kernel_close(&kernel);
	assert_int_equal(unlink(in_folder("sys/kernel/notes")), 0);
}

static void modules_end(void **state)
{
	struct kernel kernel;

	kernel_text("proc/kallsyms", CORE "ffffffffc0001000 t leak_one\t[leak]\n"
					  "ffffffffc0001040 t leak_two\t[leak]\n"
					  "ffffffffc0009000 t far_one\t[far]\n");
	kernel_text("proc/modules", "leak 4096 0 - Live 0xffffffffc0001000 (OE)\n"
				    "far 8192 2 leak,other, Live 0xffffffffc0008000\n");
	kernel = kernel_open();
	assert_place(resolve_exact(&kernel, 0xffffffffc000103f), "leak", "leak_one", 0x3f);
	assert_place(resolve_exact(&kernel, 0xffffffffc0001fff), "leak", "leak_two", 0xfbf);
	assert_nothing_there(resolve_exact(&kernel, 0xffffffffc0002000));
	assert_nothing_there(resolve_exact(&kernel, 0xffffffffc000a000));
	/* An address in a module, but in none of its functions, has no name. */
	assert_unnamed(resolve_exact(&kernel, 0xffffffffc0008010));
	assert_string_equal(resolve_exact(&kernel, 0xffffffffc0008010)->module, "far");
	assert_true(resolve_exact(&kernel, 0xffffffffc0009010)->module_offset == 0x1010);
	kernel_close(&kernel);
}

static void odd_module_lists(void **state)
{
	static const char *const lists[] = {
		"",
		"\n\n",
		"leak",
		"leak 4096",
		"leak 4096 0 - Live 0xffffffffc0001000",
		"leak 4096 0 - Live\n",
		"leak 4096 0 - Live 0x0\n",
		"leak 18446744073709551615 0 - Live 0xffffffffc0001000\n",
		" 4096 0 - Live 0xffffffffc0001000\n",
		"leak x y z Live w\n",
		"leak 4096 0 - Live  \n",
		"leak  0 - Live 0xffffffffc0001000\n",
	};

	kernel_text("proc/kallsyms", CORE "ffffffffc0001000 t leak_one\t[leak]\n");
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		struct kernel kernel;

		kernel_text("proc/modules", lists[i]);
		kernel = kernel_open();
		assert_place(resolve_exact(&kernel, 0xffffffffc0001010), "leak", "leak_one", 0x10);
		/*
		 * The size of the module is unknown. Even so, addresses far from its functions do
		 * not belong to it.
		 */
		assert_unnamed(resolve_exact(&kernel, 0xffffffffd0000000));
		kernel_close(&kernel);
	}
}

static void code_made_at_run_time(void **state)
{
	struct kernel kernel;

	kernel_text("proc/modules", "");
	kernel_text("proc/kallsyms",
		    CORE "ffffffffc0100000 t bpf_prog_6deef7357e7b4530_count\t[bpf]\n"
			 "ffffffffc0100080 t bpf_prog_12345678abcdef00_other\t[bpf]\n"
			 "ffffffffc0200000 t ftrace_trampoline\t[__builtin__ftrace]\n");
	kernel = kernel_open();
	assert_place(resolve_exact(&kernel, 0xffffffffc010007f), "bpf",
		     "bpf_prog_6deef7357e7b4530_count", 0x7f);
	assert_place(resolve_exact(&kernel, 0xffffffffc0100080), "bpf",
		     "bpf_prog_12345678abcdef00_other", 0);
	assert_true(resolve_exact(&kernel, 0xffffffffc0100080)->module_offset ==
		    0xffffffffc0100080);
	assert_nothing_there(resolve_exact(&kernel, 0xffffffffc0180000));
	assert_place(resolve_exact(&kernel, 0xffffffffc0200010), "ftrace", "ftrace_trampoline",
		     0x10);
	/*
	 * Another BPF program is now at the address. Locations that were returned before keep their
	 * names.
	 */
	{
		const struct sym_location *old = resolve_exact(&kernel, 0xffffffffc0100090);

		kernel_text("proc/kallsyms",
			    CORE "ffffffffc0100040 t bpf_prog_aaaaaaaaaaaaaaaa_new\t[bpf]\n");
		assert_int_equal(symspace__refresh(kernel.space), 0);
		assert_place(resolve_exact(&kernel, 0xffffffffc0100090), "bpf",
			     "bpf_prog_aaaaaaaaaaaaaaaa_new", 0x50);
		assert_place(old, "bpf", "bpf_prog_12345678abcdef00_other", 0x10);
	}
	kernel_close(&kernel);
}

static void hidden_and_shown(void **state)
{
	struct kernel kernel;

	kernel_text("proc/modules", "leak 4096 0 - Live 0x0000000000000000\n");
	kernel_text("proc/kallsyms", "0000000000000000 T _stext\n"
				     "0000000000000000 t leak_one\t[leak]\n");
	kernel = kernel_open();
	assert_int_equal(symspace__kernel_error(kernel.space), -EPERM);
	assert_nothing_there(resolve_exact(&kernel, 0xffffffff81000010));
	assert_int_equal(symspace__refresh(kernel.space), 0);
	assert_int_equal(symspace__kernel_error(kernel.space), -EPERM);
	kernel_text("proc/kallsyms", CORE);
	assert_int_equal(symspace__refresh(kernel.space), 0);
	assert_int_equal(symspace__kernel_error(kernel.space), 0);
	assert_place(resolve_exact(&kernel, 0xffffffff81000010), "kernel", "first", 0x10);
	kernel_close(&kernel);
}

static void nothing_to_read(void **state)
{
	struct kernel kernel;

	assert_int_equal(unlink(in_folder("proc/kallsyms")), 0);
	assert_int_equal(unlink(in_folder("proc/modules")), 0);
	kernel = kernel_open();
	assert_int_equal(symspace__kernel_error(kernel.space), -ENOENT);
	assert_nothing_there(resolve_exact(&kernel, 0xffffffff81000010));
	assert_int_equal(symspace__refresh(kernel.space), 0);
	kernel_close(&kernel);
}

#define LEAK "ffffffffc0001000 t leak_one\t[leak]\n"

static void new_module_is_found(void **state)
{
	const struct sym_location *loc, *before;
	struct kernel kernel;
	uint64_t read_ns;

	kernel_text("proc/modules", "");
	kernel_text("proc/kallsyms", CORE);
	kernel = kernel_open();
	before = resolve_exact(&kernel, 0xffffffff81000010);
	loc = resolve_exact(&kernel, 0xffffffffc0001010);
	assert_nothing_there(loc);
	kernel_text("proc/modules", "leak 4096 0 - Live 0xffffffffc0001000\n");
	kernel_text("proc/kallsyms", CORE LEAK);
	/* The list of modules has changed. */
	kernel.space->kernel->image.pause_ns = 1000000 * 1000000ULL;
	assert_int_equal(symspace__refresh(kernel.space), 0);
	assert_true(resolve_exact(&kernel, 0xffffffffc0001010) == loc);
	assert_place(loc, "leak", "leak_one", 0x10);
	assert_true(resolve_exact(&kernel, 0xffffffff81000010) == before);
	/* Only the use count of a module has changed, so the symbols are not read again. */
	read_ns = kernel.space->kernel->image.read_ns = 1;
	kernel_text("proc/modules", "leak 4096 3 a,b,c, Live 0xffffffffc0001000\n");
	assert_int_equal(symspace__refresh(kernel.space), 0);
	assert_true(kernel.space->kernel->image.read_ns == read_ns);
	kernel_close(&kernel);
}

/* For an unknown address, the symbols are read again, but only once and not too often. */
static void unknown_address_reads_again(void **state)
{
	struct kernel kernel;
	uint64_t read_ns;

	kernel_text("proc/modules", "");
	kernel_text("proc/kallsyms", CORE);
	kernel = kernel_open();
	kernel_text("proc/kallsyms", CORE LEAK);
	kernel.space->kernel->image.pause_ns = 1000000 * 1000000ULL;
	assert_nothing_there(resolve_exact(&kernel, 0xffffffffc0001010));
	kernel.space->kernel->image.pause_ns = 0;
	assert_place(resolve_exact(&kernel, 0xffffffffc0001010), "leak", "leak_one", 0x10);
	/*
	 * Repeating a query does not read the symbols again if they were read after the first one.
	 */
	resolve_exact(&kernel, 0xffffffffe0000000);
	read_ns = kernel.space->kernel->image.read_ns;
	assert_nothing_there(resolve_exact(&kernel, 0xffffffffe0000000));
	assert_true(kernel.space->kernel->image.read_ns == read_ns);
	kernel_close(&kernel);
}

static void unloaded_module_keeps_its_names(void **state)
{
	const struct sym_location *old;
	struct kernel kernel;

	kernel_text("proc/modules", "leak 4096 0 - Live 0xffffffffc0001000\n");
	kernel_text("proc/kallsyms", CORE LEAK "ffffffffc0001100 t leak_two\t[leak]\n");
	kernel = kernel_open();
	old = resolve_exact(&kernel, 0xffffffffc0001010);
	kernel_text("proc/modules", "");
	kernel_text("proc/kallsyms", CORE);
	assert_int_equal(symspace__refresh(kernel.space), 0);
	assert_true(resolve_exact(&kernel, 0xffffffffc0001010) == old);
	assert_place(old, "leak", "leak_one", 0x10);
	/*
	 * Addresses of the unloaded module still get names, even if they were not looked up before
	 * and another module was loaded since.
	 */
	assert_place(resolve_exact(&kernel, 0xffffffffc0001110), "leak", "leak_two", 0x10);
	kernel_text("proc/modules", "new 256 0 - Live 0xffffffffc0001000\n");
	kernel_text("proc/kallsyms", CORE "ffffffffc0001000 t new_one\t[new]\n");
	assert_int_equal(symspace__refresh(kernel.space), 0);
	assert_place(resolve_exact(&kernel, 0xffffffffc0001120), "leak", "leak_two", 0x20);
	/*
	 * This address belongs to the new module now. A location that was returned before keeps its
	 * name.
	 */
	assert_place(resolve_exact(&kernel, 0xffffffffc0001010), "new", "new_one", 0x10);
	assert_place(old, "leak", "leak_one", 0x10);
	kernel_close(&kernel);
}

/* The init code of a module is in separate memory. It is no longer listed once it has run. */
static void start_of_a_module(void **state)
{
	struct kernel kernel;

	kernel_text("proc/modules", "leak 4096 0 - Loading 0xffffffffc0001000\n");
	kernel_text("proc/kallsyms", CORE LEAK "ffffffffc0100000 t leak_init\t[leak]\n");
	kernel = kernel_open();
	kernel_text("proc/modules", "leak 4096 0 - Live 0xffffffffc0001000\n"
				    "late 4096 0 - Live 0xffffffffc0200000\n");
	kernel_text("proc/kallsyms", CORE LEAK);
	assert_int_equal(symspace__refresh(kernel.space), 0);
	assert_place(resolve_exact(&kernel, 0xffffffffc0100010), "leak", "leak_init", 0x10);
	assert_place(resolve_exact(&kernel, 0xffffffffc0001010), "leak", "leak_one", 0x10);
	kernel_text("proc/modules", "leak 4096 0 - Live 0xffffffffc0001000\n"
				    "new 4096 0 - Live 0xffffffffc0100000\n");
	assert_int_equal(symspace__refresh(kernel.space), 0);
	assert_unnamed(resolve_exact(&kernel, 0xffffffffc0100020));
	assert_string_equal(resolve_exact(&kernel, 0xffffffffc0100020)->module, "new");
	kernel_close(&kernel);
}

/* On the running kernel, addresses are either hidden or have names. */
static void this_kernel(void **state)
{
	struct symbolizer *sym;
	struct symspace *space;
	const struct sym_location *loc;
	int err;

	assert_int_equal(symbolizer__new(&sym), 0);
	assert_int_equal(symspace__new_kernel(sym, &space), 0);
	err = symspace__kernel_error(space);
	if (err) {
		print_message("this kernel's addresses are hidden: %s\n", strerror(-err));
		loc = resolve_one(space, 0xffffffff81000010, true, 0);
		assert_unnamed(loc);
	} else {
		uint64_t addr = space->kernel->image.table.symbols[0].start;

		assert_true(space->kernel->image.table.cnt > 1000);
		loc = resolve_one(space, addr, true, 0);
		assert_non_null(loc->frames[0].symbol);
		assert_true(loc->frames[0].offset == 0);
	}
	symspace__free(space);
	symbolizer__free(sym);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(core_functions),
		cmocka_unit_test(broken_notes),
		cmocka_unit_test(modules_end),
		cmocka_unit_test(odd_module_lists),
		cmocka_unit_test(code_made_at_run_time),
		cmocka_unit_test(hidden_and_shown),
		cmocka_unit_test(nothing_to_read),
		cmocka_unit_test(new_module_is_found),
		cmocka_unit_test(unknown_address_reads_again),
		cmocka_unit_test(unloaded_module_keeps_its_names),
		cmocka_unit_test(start_of_a_module),
		cmocka_unit_test(this_kernel),
	};

	return cmocka_run_group_tests(tests, make_kernel, remove_kernel);
}
