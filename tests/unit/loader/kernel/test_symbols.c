// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests how the kernel's part of the loader finds names for kernel stacks, on a fake kernel. */
#include "tests/unit/symbolizer/fake_kernel.h"

#include "base/clock.h"
#include "loader/kernel/symbols.h"
#include "tests/unit/lib/capture.h"

#define IN_TIME clock_deadline_ns(BUDGET_MS * 1000000ULL)

/* Opens a backend on the fake kernel instead of the running one. */
static void open_fake(struct kernel_symbols *symbols, struct symbolizer *symbolizer)
{
	struct capture capture;

	/* Without root, the running kernel hides its addresses: discard the warning about this. */
	capture_begin(&capture, STDERR_FILENO);
	assert_int_equal(kernel_symbols_init(symbols, symbolizer), 0);
	free(capture_end(&capture));
	symspace__free(symbols->space);
	assert_int_equal(symspace__new_kernel_at(symbolizer, &fake_roots, &symbols->space), 0);
	symbols->noted = false;
}

static const uint64_t kernel_frames[] = {0xffffffff81000110, 0xffffffff81000100,
					 0xffffffff90000000};
static const uint64_t user_frames[] = {0xffffffff81000110};

static const struct site sites[] = {
	{.id = 1, .space = SPACE_USER, .frames = user_frames, .frame_cnt = 1},
	{.id = 2, .space = SPACE_KERNEL, .frames = kernel_frames, .frame_cnt = 3},
	{.id = 3, .space = SPACE_KERNEL},
};
static const struct site *const all_sites[] = {&sites[0], &sites[1], &sites[2]};

static const struct sym_location *look_up(struct kernel_symbols *symbols, const struct site *site,
					  uint64_t addr)
{
	return symbols->backend.lookup(&symbols->backend, site, addr);
}

static void kernel_sites_alone(void **state)
{
	struct kernel_symbols symbols;
	struct symbolizer *symbolizer;

	kernel_text("proc/kallsyms", "ffffffff81000000 T _stext\n"
				     "ffffffff81000000 t first\n"
				     "ffffffff81000100 T second\n"
				     "ffffffff81000200 T _etext\n");
	assert_int_equal(symbolizer__new(&symbolizer), 0);
	open_fake(&symbols, symbolizer);
	assert_int_equal(symbols.backend.prepare(&symbols.backend, all_sites, 3, IN_TIME), 0);
	assert_place(look_up(&symbols, &sites[1], kernel_frames[0]), "kernel", "second", 0x10);
	/* A frame is a return address: the call before it is still in the previous function. */
	assert_place(look_up(&symbols, &sites[1], kernel_frames[1]), "kernel", "first", 0x100);
	assert_nothing_there(look_up(&symbols, &sites[1], kernel_frames[2]));
	assert_null(look_up(&symbols, &sites[0], user_frames[0]));
	assert_int_equal(symbols.backend.prepare(&symbols.backend, all_sites, 1, IN_TIME), 0);
	assert_int_equal(symbols.backend.prepare(&symbols.backend, NULL, 0, IN_TIME), 0);
	kernel_symbols_deinit(&symbols);
	kernel_symbols_deinit(&symbols);
	symbolizer__free(symbolizer);
}

/*
 * Checks that the reason for missing names is printed once, with the first report that lacks them.
 */
static void says_why_there_are_no_names(const char *expected)
{
	struct kernel_symbols symbols;
	struct symbolizer *symbolizer;
	struct capture capture;
	char *text;

	assert_int_equal(symbolizer__new(&symbolizer), 0);
	open_fake(&symbols, symbolizer);
	capture_begin(&capture, STDERR_FILENO);
	for (int i = 0; i < 3; i++)
		assert_int_equal(symbols.backend.prepare(&symbols.backend, all_sites, 3, IN_TIME),
				 0);
	text = capture_end(&capture);
	assert_non_null(strstr(text, expected));
	assert_true(strchr(text, '\n') == text + strlen(text) - 1);
	assert_nothing_there(look_up(&symbols, &sites[1], kernel_frames[0]));
	free(text);
	kernel_symbols_deinit(&symbols);
	symbolizer__free(symbolizer);
}

static void hidden_addresses(void **state)
{
	kernel_text("proc/kallsyms", "0000000000000000 T _stext\n");
	says_why_there_are_no_names("kernel.kptr_restrict");
}

static void no_list(void **state)
{
	assert_int_equal(unlink(in_folder("proc/kallsyms")), 0);
	says_why_there_are_no_names("/proc/kallsyms");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_sites_alone),
		cmocka_unit_test(hidden_addresses),
		cmocka_unit_test(no_list),
	};

	return cmocka_run_group_tests(tests, make_kernel, remove_kernel);
}
