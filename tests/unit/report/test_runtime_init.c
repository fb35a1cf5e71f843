// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which stacks count as initialisation of the runtime, and how a report treats them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/runtime_init.h"
#include "tests/unit/lib/fake_symbols.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define LIBC "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define LD "/lib64/ld-linux-x86-64.so.2"
#define LIBSTDCXX "/usr/lib/libstdc++.so.6.0.30"
#define PROGRAM "/usr/bin/prog"

/* A stack of functions with their modules, innermost first. NULL ends it. */
struct stack {
	const char *frames[6][2];
	uint64_t count;
	bool runtime_init;
};

static const struct stack stacks[] = {
	{{{"_IO_file_doallocate", LIBC}, {"puts", LIBC}, {"main", PROGRAM}}, 1, true},
	{{{"malloc", LIBC}, {"_IO_file_doallocate", LIBC}, {"main", PROGRAM}}, 3, true},
	/*
	 * Up to three stream buffers belong to stdin, stdout and stderr. If there are more, the
	 * program does not close its streams.
	 */
	{{{"_IO_file_doallocate", LIBC}, {"fgets", LIBC}, {"main", PROGRAM}}, 4, false},
	{{{"_nl_load_locale", LIBC}, {"setlocale", LIBC}, {"main", PROGRAM}}, 24, true},
	{{{NULL, LIBC}, {"setlocale", LIBC}, {"main", PROGRAM}}, 1, true},
	/*
	 * These stacks do not count: setlocale() belongs to the program, or libc's setlocale() has
	 * called back into it.
	 */
	{{{"setlocale", PROGRAM}, {"main", PROGRAM}}, 1, false},
	{{{"compare", PROGRAM}, {"setlocale", LIBC}, {"main", PROGRAM}}, 1, false},
	{{{"strdup", LIBC}, {"main", PROGRAM}, {"setlocale", LIBC}}, 1, false},
	/* Start-up code of a library counts only if the library belongs to the C or C++ runtime. */
	{{{"start", "/usr/lib/libfoo.so.1"}, {"call_init", LD}, {"_dl_init", LD}}, 1, false},
	{{{"strdup", LIBC}, {"start", "/usr/lib/libfoo.so.1"}, {"_dl_init", LD}}, 1, false},
	{{{NULL, LIBSTDCXX}, {"call_init", LD}, {"_dl_init", LD}}, 1, true},
	{{{"operator new(unsigned long)", LIBSTDCXX}, {"main", PROGRAM}}, 1, false},
	{{{"allocate_dtv", LD}, {"_dl_allocate_tls", LD}, {"pthread_create", LIBC}}, 9, true},
	{{{"allocate_stack", LIBC}, {"pthread_create", LIBC}, {"main", PROGRAM}}, 1, false},
	{{{"newlocale", LIBC}, {"main", PROGRAM}}, 1, false},
	{{{"setlocale2", LIBC}, {"main", PROGRAM}}, 1, false},
	/*
	 * A static program contains libc's functions. In a dynamic program, functions with these
	 * names are its own.
	 */
	{{{"_dl_init_paths", PROGRAM},
	  {"_dl_non_dynamic_init", PROGRAM},
	  {"__libc_init_first", PROGRAM},
	  {"__libc_start_main", PROGRAM}},
	 1,
	 true},
	{{{"_GLOBAL__sub_I_eh_alloc.cc", PROGRAM}, {"__libc_start_main", PROGRAM}}, 1, true},
	{{{"_GLOBAL__sub_I_eh_alloc.cc", PROGRAM}, {"__libc_start_main", PROGRAM}}, 2, false},
	{{{"_GLOBAL__sub_I_main.cc", PROGRAM}, {"__libc_start_main", PROGRAM}}, 1, false},
	{{{"strdup", PROGRAM},
	  {"setlocale", PROGRAM},
	  {"main", PROGRAM},
	  {"__libc_start_call_main", PROGRAM}},
	 1,
	 true},
	{{{"setlocale", PROGRAM}, {"main", PROGRAM}, {"__libc_start_call_main", LIBC}}, 1, false},
	{{{"cxa_atexit", PROGRAM}, {"main", PROGRAM}, {"__libc_start_call_main", PROGRAM}},
	 1,
	 false},
	{{{"_own", PROGRAM}, {"main", PROGRAM}, {"__libc_start_call_main", PROGRAM}}, 1, false},
	{{{"setlocale", NULL}}, 1, false},
	{{{NULL, NULL}}, 1, false},
};

static struct sym_frame frames[6 * LENGTH(stacks)];
static struct sym_location locations[6 * LENGTH(stacks)];
static uint64_t addresses[6 * LENGTH(stacks)];
static struct site sites[LENGTH(stacks)];

static void lay_out(void)
{
	size_t at = 0;

	for (size_t i = 0; i < LENGTH(stacks); i++) {
		sites[i] = (struct site){
			.id = i + 1,
			.bytes = 1000 - i,
			.count = stacks[i].count,
			.frames = &addresses[at],
		};
		for (size_t j = 0; j < 6; j++) {
			const char *const *frame = stacks[i].frames[j];

			if (!frame[0] && !frame[1])
				break;
			frames[at].symbol = frame[0];
			addresses[at] = 0x1000 + at;
			locations[at] = (struct sym_location){.addr = addresses[at],
							      .module = frame[1],
							      .frames = &frames[at],
							      .frame_cnt = 1};
			at++;
			sites[i].frame_cnt++;
		}
	}
}

static void known_by_stack(void **state)
{
	struct fake_symbols symbols = fake_symbols_of(locations, LENGTH(locations));

	lay_out();
	for (size_t i = 0; i < LENGTH(stacks); i++) {
		const struct candidate candidate = {.site = &sites[i]};
		bool all;

		assert_int_equal(
			runtime_init_is_all(&symbols.backend, UINT64_MAX, &candidate, 1, &all), 0);
		if (all != stacks[i].runtime_init)
			fail_msg("stack %zu", i);
	}
}

static void kernel_has_none(void **state)
{
	struct fake_symbols symbols = fake_symbols_of(locations, LENGTH(locations));
	const struct candidate candidate = {.site = &sites[0]};
	bool all;

	lay_out();
	sites[0].space = SPACE_KERNEL;
	assert_int_equal(runtime_init_is_all(&symbols.backend, UINT64_MAX, &candidate, 1, &all), 0);
	assert_false(all);
}

/*
 * Sites of runtime initialisation are moved to the end. No more sites are named than necessary, and
 * totals do not change.
 */
static void report_shows_others(void **state)
{
	struct fake_symbols symbols = fake_symbols_of(locations, LENGTH(locations));
	const struct snapshot snap = {.sites = sites, .site_cnt = LENGTH(stacks)};
	struct growth growth[LENGTH(stacks)] = {{0}};
	struct options opts = {.top = 2};
	struct report report;

	lay_out();
	assert_int_equal(
		report_init(&opts, &snap, growth, &symbols.backend, UINT64_MAX, false, &report), 0);
	assert_int_equal(report.site_cnt, 2);
	assert_int_equal(report.runtime_init_from, 2);
	assert_false(report.sites[1].runtime_init);
	assert_ptr_equal(report.sites[0].site, &sites[2]);
	assert_ptr_equal(report.sites[1].site, &sites[5]);
	assert_int_equal(report.sites_total, LENGTH(stacks));
	assert_int_equal(report.runtime_init.sites, 4);
	assert_int_equal(report.runtime_init.bytes, 1000 + 999 + 997 + 996);
	assert_int_equal(report.runtime_init.count, 1 + 3 + 24 + 1);
	assert_false(report.only_runtime_init);
	report_deinit(&report);
	opts.no_default_suppressions = true;
	assert_int_equal(
		report_init(&opts, &snap, growth, &symbols.backend, UINT64_MAX, false, &report), 0);
	assert_ptr_equal(report.sites[0].site, &sites[0]);
	assert_int_equal(report.runtime_init.sites, 0);
	assert_int_equal(report.runtime_init_from, 2);
	report_deinit(&report);
	opts = (struct options){.top = 100};
	assert_int_equal(
		report_init(&opts, &snap, growth, &symbols.backend, UINT64_MAX, false, &report), 0);
	assert_int_equal(report.site_cnt, LENGTH(stacks));
	assert_int_equal(report.runtime_init_from, LENGTH(stacks) - report.runtime_init.sites);
	for (size_t i = 0; i < report.site_cnt; i++)
		assert_int_equal(report.sites[i].runtime_init,
				 stacks[report.sites[i].site->id - 1].runtime_init);
	report_deinit(&report);
}

static void report_of_nothing_else(void **state)
{
	struct fake_symbols symbols = fake_symbols_of(locations, LENGTH(locations));
	const struct snapshot snap = {.sites = sites, .site_cnt = 2};
	struct growth growth[LENGTH(stacks)] = {{0}};
	const struct options opts = {.top = 10};
	struct report report;

	lay_out();
	assert_int_equal(
		report_init(&opts, &snap, growth, &symbols.backend, UINT64_MAX, false, &report), 0);
	assert_int_equal(report.site_cnt, 2);
	assert_int_equal(report.runtime_init_from, 0);
	assert_true(report.only_runtime_init);
	assert_int_equal(report.count, 4);
	report_deinit(&report);
	symbols.prepare_result = -ENOMEM;
	assert_int_equal(
		report_init(&opts, &snap, growth, &symbols.backend, UINT64_MAX, false, &report),
		-ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_by_stack),
		cmocka_unit_test(kernel_has_none),
		cmocka_unit_test(report_shows_others),
		cmocka_unit_test(report_of_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
