// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests that leaking stacks which blame the same function are merged into one suspect. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/runtime_objects.h"
#include "report/site_order.h"
#include "report/suspects.h"
#include "report/trend.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define MOST 8

static const struct process one = {1, 1, "one", NULL}, other = {2, 2, "other", NULL},
			    worker = {3, 3, "one", NULL};
/* Used instead of `one` for paths whose memory is kernel memory. */
static const struct process in_kernel = {1, 1, "one", NULL};

#define FUNCTION(name)                                                                             \
	{                                                                                          \
		.module = "/srv/app", .frame_cnt = 1, .frames = &(const struct sym_frame)          \
		{                                                                                  \
			.symbol = (name)                                                           \
		}                                                                                  \
	}

static const struct sym_location load = FUNCTION("load"), save = FUNCTION("save"),
				 no_name = FUNCTION(NULL);

#define INSTANCE(name, source)                                                                     \
	{                                                                                          \
		.module = "/srv/app", .frame_cnt = 1, .frames = &(const struct sym_frame)          \
		{                                                                                  \
			.symbol = (name), .file = (source)                                         \
		}                                                                                  \
	}

static const struct sym_location instance = INSTANCE("Keep<1>::put", "keep.h"),
				 same_instance = INSTANCE("Keep<1>::put", "keep.h"),
				 second_instance = INSTANCE("Keep<x<2>>::put", "keep.h"),
				 elsewhere = INSTANCE("Keep<3>::put", "other.h"),
				 no_source = INSTANCE("Keep<4>::put", NULL),
				 foo = INSTANCE("Foo* make<Foo>(int)", "make.h"),
				 bar = INSTANCE("Bar* make<Bar>(int)", "make.h"),
				 overload = INSTANCE("make(std::vector<int>)", "make.h"),
				 other_overload = INSTANCE("make(std::vector<int>, int)", "make.h"),
				 other_method = INSTANCE("Keep<1>::take", "keep.h");
static const struct sym_frame nameless_frame;
static const struct sym_location nameless = {
	.module = "/srv/app", .module_offset = 0x1234, .frame_cnt = 1, .frames = &nameless_frame};

struct path {
	const struct process *process;
	const struct sym_location *location;
	double bytes_per_s;
};

/* An expected suspect. */
struct merged {
	const struct sym_location *location;
	size_t path_cnt;
	double bytes_per_s;
	size_t process_cnt;
	bool has_instances;
	bool is_slight;
};

static void check_beside(const struct trifle_scale *scale, const struct path *paths, size_t cnt,
			 const struct merged *expected, size_t expected_cnt)
{
	static const uint64_t frames[] = {0x1000};
	struct site_history histories[MOST] = {0};
	struct site sites[MOST] = {0};
	struct report_site shown[MOST] = {0};
	struct suspect *suspects;
	size_t found;

	for (size_t i = 0; i < cnt; i++) {
		histories[i].trend = (struct trend){.tendency = TENDENCY_STEADY,
						    .bytes_per_s = paths[i].bytes_per_s,
						    .since_ns = i,
						    .score.total = 0.5};
		histories[i].seen = 10;
		histories[i].freed[0] = 1;
		sites[i] = (struct site){.id = i + 1,
					 .space = paths[i].process == &in_kernel ? SPACE_KERNEL
										 : SPACE_USER,
					 .process = paths[i].process,
					 .frames = frames,
					 .frame_cnt = 1};
		shown[i] = (struct report_site){
			.site = &sites[i],
			.locations = (const struct sym_location **)&paths[i].location,
			.history = &histories[i]};
	}
	assert_int_equal(suspects_init(shown, cnt, scale, 3, &found, &suspects), 0);
	assert_int_equal(found, expected_cnt);
	for (size_t i = 0; i < found; i++) {
		assert_ptr_equal(suspects[i].site->locations[0], expected[i].location);
		assert_int_equal(suspects[i].path_cnt, expected[i].path_cnt);
		assert_true(suspects[i].bytes_per_s == expected[i].bytes_per_s);
		assert_int_equal(suspects[i].process_cnt, expected[i].process_cnt);
		assert_int_equal(suspects[i].has_instances, expected[i].has_instances);
		assert_int_equal(suspects[i].is_slight, expected[i].is_slight);
		assert_int_equal(suspects[i].seen, 10 * expected[i].path_cnt);
		assert_int_equal(suspects[i].freed, expected[i].path_cnt);
	}
	free(suspects);
}

static void check(const struct path *paths, size_t cnt, const struct merged *expected,
		  size_t expected_cnt)
{
	check_beside(&(struct trifle_scale){0}, paths, cnt, expected, expected_cnt);
}

static void paths_of_one_function(void **state)
{
	static const struct path paths[] = {
		{&one, &save, 250}, {&one, &load, 100}, {&one, &load, 200}, {&one, &load, 24}};
	static const struct merged expected[] = {{&load, 3, 324, 1, false, false},
						 {&save, 1, 250, 1, false, false}};

	check(paths, LENGTH(paths), expected, LENGTH(expected));
}

static void instances_of_a_template(void **state)
{
	static const struct path paths[] = {
		{&one, &instance, 100}, {&one, &same_instance, 10}, {&one, &second_instance, 50},
		{&one, &elsewhere, 40}, {&one, &no_source, 30},     {&one, &other_method, 20}};
	static const struct path alone[] = {{&one, &instance, 100}, {&one, &same_instance, 10}};
	static const struct merged expected[] = {{&instance, 3, 160, 1, true, false},
						 {&elsewhere, 1, 40, 1, false, false},
						 {&no_source, 1, 30, 1, false, false}};
	static const struct merged expected_alone[] = {{&instance, 2, 110, 1, false, false}};
	static const struct path factories[] = {
		{&one, &foo, 5}, {&one, &bar, 9}, {&one, &overload, 3}, {&one, &other_overload, 2}};
	static const struct merged expected_factories[] = {
		{&bar, 2, 14, 1, true, false},
		{&overload, 1, 3, 1, false, false},
		{&other_overload, 1, 2, 1, false, false}};

	check(factories, LENGTH(factories), expected_factories, LENGTH(expected_factories));
	check(paths, LENGTH(paths), expected, LENGTH(expected));
	check(alone, LENGTH(alone), expected_alone, LENGTH(expected_alone));
}

/*
 * Tests callers of suspects and losses whose paths are instances of a template. Callers that are
 * instances of one template count as one. If only one path has a caller, or the callers differ,
 * there is no common caller.
 */
static void callers_of_instances(void **state)
{
	static const struct sym_frame callers[] = {{.symbol = "run<1>", .file = "/a.cc"},
						   {.symbol = "run<2>", .file = "/a.cc"},
						   {.symbol = "stop", .file = "/a.cc"},
						   {.symbol = NULL}};
	static const uint64_t frames[] = {0x1000, 0x2000};
	const struct site_history history = {.trend = {.bytes_per_s = 10, .score.total = 0.5}};
	const struct site site = {.process = &one,
				  .frames = frames,
				  .frame_cnt = 2,
				  .reach = {.proved = true, .lost = {10, 1}}};

	for (size_t second = 0; second < LENGTH(callers); second++) {
		const struct sym_location located[] = {
			{.frame_cnt = 1, .frames = &callers[0]},
			{.frame_cnt = 1, .frames = &callers[second]}};
		const struct sym_location *stacks[][2] = {{&instance, &located[0]},
							  {&second_instance, &located[1]}};
		const struct report_site paths[] = {
			{.site = &site, .locations = stacks[0], .history = &history},
			{.site = &site, .locations = stacks[1], .history = &history}};
		struct suspect *suspects;
		struct proven_loss *losses;
		size_t found;

		assert_int_equal(
			suspects_init(paths, 2, &(struct trifle_scale){0}, 3, &found, &suspects),
			0);
		assert_int_equal(found, 1);
		assert_true(suspects[0].has_instances);
		assert_int_equal(suspects[0].has_other_callers, second >= 2);
		free(suspects);
		assert_int_equal(losses_init(paths, 2, 3, &found, &losses), 0);
		assert_int_equal(found, 1);
		assert_true(losses[0].has_instances);
		assert_int_equal(losses[0].has_other_callers, second >= 2);
		free(losses);
	}
}

static void workers(void **state)
{
	static const struct path paths[] = {
		{&one, &load, 30}, {&worker, &load, 50}, {&worker, &load, 10}, {&worker, &save, 5}};
	static const struct merged expected[] = {{&load, 3, 90, 2, false, false},
						 {&save, 1, 5, 1, false, false}};

	check(paths, LENGTH(paths), expected, LENGTH(expected));
}

/* Objects of a language runtime are merged only within a process. */
static void objects(void **state)
{
	static const uint64_t frames[] = {0x1000};
	static const struct process *const processes[] = {&one, &worker, &one};
	static const struct sym_location *const location = &load;
	const struct runtime_objects *objects = runtime_objects_of("/usr/bin/python3");
	struct site_history history = {.trend = {.bytes_per_s = 10, .score.total = 0.5}};
	struct report_site shown[LENGTH(processes)] = {0};
	struct site sites[LENGTH(processes)] = {0};
	struct suspect *suspects;
	size_t found;

	assert_non_null(objects);
	for (size_t i = 0; i < LENGTH(processes); i++) {
		sites[i] = (struct site){
			.id = i, .process = processes[i], .frames = frames, .frame_cnt = 1};
		shown[i] =
			(struct report_site){.site = &sites[i],
					     .locations = (const struct sym_location **)&location,
					     .objects = objects,
					     .history = &history};
	}
	assert_int_equal(suspects_init(shown, LENGTH(shown), &(struct trifle_scale){0}, MOST,
				       &found, &suspects),
			 0);
	assert_int_equal(found, 2);
	assert_ptr_equal(suspects[0].site->site->process, &one);
	assert_int_equal(suspects[0].path_cnt, 2);
	for (size_t i = 0; i < found; i++)
		assert_int_equal(suspects[i].process_cnt, 1);
	free(suspects);
	/* Growth of a starting process is not suspected. */
	shown[1].settling = true;
	assert_int_equal(suspects_init(shown, LENGTH(shown), &(struct trifle_scale){0}, MOST,
				       &found, &suspects),
			 0);
	assert_int_equal(found, 1);
	assert_ptr_equal(suspects[0].site->site->process, &one);
	free(suspects);
}

static void what_stays_apart(void **state)
{
	static const struct path paths[] = {
		{&one, &load, 30}, {&other, &load, 20}, {&one, &no_name, 10}, {&one, &no_name, 10}};
	static const struct merged expected[] = {{&load, 1, 30, 1, false, false},
						 {&load, 1, 20, 1, false, false},
						 {&no_name, 1, 10, 1, false, false}};

	check(paths, LENGTH(paths), expected, LENGTH(expected));
}

static void trifles(void **state)
{
	static const struct path paths[] = {{&one, &load, 97280}, {&one, &save, 2}};
	static const struct merged expected[] = {{&load, 1, 97280, 1, false, false}};
	static const struct path alone[] = {{&one, &save, 2}};
	static const struct merged expected_alone[] = {{&save, 1, 2, 1, false, false}};

	check(paths, LENGTH(paths), expected, LENGTH(expected));
	check(alone, LENGTH(alone), expected_alone, LENGTH(expected_alone));
	check(NULL, 0, NULL, 0);
	/*
	 * 2 bytes per second are 172,800 bytes a day. The leak is shown if this is at least a
	 * thousandth of held_bytes.
	 */
	check_beside(&(struct trifle_scale){.held_bytes = 172800000}, alone, LENGTH(alone),
		     expected_alone, LENGTH(expected_alone));
	check_beside(&(struct trifle_scale){.held_bytes = 172801000}, alone, LENGTH(alone), NULL,
		     0);
	/* Beside untraced or explained growth of 2 MiB per second, the leak is negligible. */
	check_beside(&(struct trifle_scale){.untraced_per_s = 2 << 20}, alone, LENGTH(alone), NULL,
		     0);
	check_beside(&(struct trifle_scale){.explained_per_s = 2 << 20}, alone, LENGTH(alone), NULL,
		     0);
}

/*
 * A suspect is slight, and last, if it grows by less than a hundredth of the fastest suspect of the
 * same program (or of the kernel). With wants_all, none is slight.
 */
static void slight(void **state)
{
	static const struct path paths[] = {
		{&one, &load, 10000}, {&worker, &save, 100}, {&other, &load, 50}};
	static const struct path below[] = {
		{&one, &load, 10000}, {&worker, &save, 99.99}, {&other, &load, 50}};
	static const struct path of_kernel[] = {
		{&one, &load, 10000}, {&in_kernel, &save, 50}, {&other, &load, 20}};
	static const struct merged expected[] = {{&load, 1, 10000, 1, false, false},
						 {&save, 1, 100, 1, false, false},
						 {&load, 1, 50, 1, false, false}};
	static const struct merged last[] = {{&load, 1, 10000, 1, false, false},
					     {&load, 1, 50, 1, false, false},
					     {&save, 1, 99.99, 1, false, true}};
	static const struct merged with[] = {{&load, 1, 10000, 1, false, false},
					     {&save, 1, 99.99, 1, false, false},
					     {&load, 1, 50, 1, false, false}};
	static const struct merged with_kernel[] = {{&load, 1, 10000, 1, false, false},
						    {&save, 1, 50, 1, false, false},
						    {&load, 1, 20, 1, false, false}};

	check(paths, LENGTH(paths), expected, LENGTH(expected));
	check(below, LENGTH(below), last, LENGTH(last));
	check(of_kernel, LENGTH(of_kernel), with_kernel, LENGTH(with_kernel));
	check_beside(&(struct trifle_scale){.wants_all = true}, below, LENGTH(below), with,
		     LENGTH(with));
}

/* With wants_all, small suspects are reported as well, unless all suspects are small. */
static void all_wanted(void **state)
{
	static const struct path paths[] = {{&one, &load, 97280}, {&one, &save, 2}};
	static const struct merged expected[] = {{&load, 1, 97280, 1, false, false},
						 {&save, 1, 2, 1, false, false}};
	const struct trifle_scale scale = {.wants_all = true},
				  large = {.wants_all = true, .held_bytes = UINT64_MAX};

	check_beside(&scale, paths, LENGTH(paths), expected, LENGTH(expected));
	check_beside(&large, paths, LENGTH(paths), NULL, 0);
}

/* If kernel caches grow, a small suspect in the kernel is shown only if it is the largest one. */
static void kernel_trifles(void **state)
{
	static const struct sym_location *const locations[] = {&load, &save};
	static const uint64_t frames[] = {0x1000};
	static const double rates[] = {5000, 640}, kernel_per_s[] = {640000, 641000, 1e9};
	static const size_t expected[] = {2, 1, 1};
	struct site_history histories[2] = {0};
	struct site sites[2] = {0};
	struct report_site shown[2] = {0};

	for (size_t i = 0; i < 2; i++) {
		histories[i].trend = (struct trend){.bytes_per_s = rates[i], .score.total = 0.5};
		sites[i] = (struct site){
			.id = i + 1, .space = SPACE_KERNEL, .frames = frames, .frame_cnt = 1};
		shown[i] = (struct report_site){.site = &sites[i],
						.locations =
							(const struct sym_location **)&locations[i],
						.history = &histories[i]};
	}
	for (size_t i = 0; i < LENGTH(expected); i++) {
		const struct trifle_scale scale = {.kernel_per_s = kernel_per_s[i]};
		struct suspect *suspects;
		size_t found;

		assert_int_equal(suspects_init(shown, 2, &scale, MOST, &found, &suspects), 0);
		assert_int_equal(found, expected[i]);
		assert_ptr_equal(suspects[0].site, &shown[0]);
		free(suspects);
	}
}

struct lossy_path {
	const struct process *process;
	const struct sym_location *location;
	uint64_t lost;
	uint64_t hanging;
	double per_s;
	uint64_t for_ns;
};

static void make_lossy(const struct lossy_path *paths, size_t cnt, struct site *sites,
		       struct report_site *shown)
{
	static const uint64_t frames[] = {0x1000};

	for (size_t i = 0; i < cnt; i++) {
		sites[i] = (struct site){.id = i + 1,
					 .process = paths[i].process,
					 .frames = frames,
					 .frame_cnt = 1,
					 .reach = {.proved = true,
						   .lost = {paths[i].lost, 1},
						   .hanging = {paths[i].hanging, 2},
						   .lost_per_s = paths[i].per_s,
						   .lost_for_ns = paths[i].for_ns}};
		shown[i] = (struct report_site){
			.site = &sites[i],
			.locations = (const struct sym_location **)&paths[i].location};
	}
}

static void losses_of_functions(void **state)
{
	static const struct lossy_path paths[] = {
		{&one, &save, 50, 0, 0, 7},       {&one, &load, 10, 20, 0.5, 3},
		{&worker, &load, 15, 20, 1.5, 9}, {&other, &load, 1, 1, 0, 0},
		{&one, &no_name, 4, 0, 0, 0},     {&one, &no_name, 4, 0, 0, 0},
	};
	struct site sites[LENGTH(paths)];
	struct report_site shown[LENGTH(paths)];
	struct suspect suspect = {.site = &shown[2]}, spared = {.site = &shown[3]};
	struct proven_loss *losses;
	size_t found;

	make_lossy(paths, LENGTH(paths), sites, shown);
	assert_int_equal(losses_init(shown, LENGTH(paths), 3, &found, &losses), 0);
	assert_int_equal(found, 3);
	assert_ptr_equal(losses[0].site, &shown[2]);
	assert_int_equal(losses[0].path_cnt, 2);
	assert_int_equal(losses[0].process_cnt, 2);
	assert_int_equal(losses[0].lost.bytes, 25);
	assert_int_equal(losses[0].lost.count, 2);
	assert_int_equal(losses[0].hanging.bytes, 40);
	assert_int_equal(losses[0].hanging.count, 4);
	assert_true(losses[0].per_s == 2);
	assert_int_equal(losses[0].for_ns, 9);
	assert_ptr_equal(losses[1].site, &shown[0]);
	assert_int_equal(losses[1].process_cnt, 1);
	/*
	 * Stacks are not merged if the function has neither a name nor an offset in its file.
	 * Stacks with equal losses are ordered by id.
	 */
	assert_ptr_equal(losses[2].site, &shown[4]);
	assert_int_equal(losses[2].path_cnt, 1);
	assert_true(suspect_is_lost(&suspect, losses, found));
	assert_false(suspect_is_lost(&spared, losses, found));
	free(losses);
	assert_int_equal(losses_init(shown, 0, 3, &found, &losses), 0);
	assert_int_equal(found, 0);
	free(losses);
}

static void losses_of_instances(void **state)
{
	static const struct lossy_path paths[] = {{&one, &instance, 50, 0, 0, 0},
						  {&one, &second_instance, 90, 0, 0, 0},
						  {&one, &load, 10, 0, 0, 0},
						  {&one, &load, 20, 0, 0, 0}};
	struct site sites[LENGTH(paths)];
	struct report_site shown[LENGTH(paths)];
	struct proven_loss *losses;
	size_t found;

	make_lossy(paths, LENGTH(paths), sites, shown);
	assert_int_equal(losses_init(shown, LENGTH(paths), 9, &found, &losses), 0);
	assert_int_equal(found, 2);
	assert_int_equal(losses[0].lost.bytes, 140);
	assert_true(losses[0].has_instances);
	assert_false(losses[1].has_instances);
	free(losses);
}

/* Stacks that blame unnamed functions are merged if these have the same offset in the same file. */
static void losses_without_names(void **state)
{
	static const struct lossy_path paths[] = {{&one, &nameless, 10, 0, 0, 0},
						  {&one, &no_name, 5, 0, 0, 0},
						  {&one, &nameless, 20, 0, 0, 0},
						  {&one, &no_name, 4, 0, 0, 0}};
	struct site sites[LENGTH(paths)] = {0};
	struct report_site shown[LENGTH(paths)];
	struct proven_loss *losses;
	size_t found;

	make_lossy(paths, LENGTH(paths), sites, shown);
	assert_int_equal(losses_init(shown, LENGTH(paths), 9, &found, &losses), 0);
	assert_int_equal(found, 3);
	assert_int_equal(losses[0].path_cnt, 2);
	assert_int_equal(losses[0].lost.bytes, 30);
	free(losses);
}

/*
 * Sites are ordered by their lost bytes, including bytes that are reachable only from lost blocks.
 * Sites without a loss are left out.
 */
static void losses_in_order(void **state)
{
	static const struct lossy_path paths[] = {
		{&one, &load, 10, 0, 0, 0}, {&one, &load, 1, 30, 0, 0}, {&one, &load, 20, 0, 0, 0}};
	struct site sites[LENGTH(paths) + 1] = {0};
	struct report_site shown[LENGTH(paths)];
	struct candidate candidates[LENGTH(sites)] = {0}, *found;
	size_t cnt;

	make_lossy(paths, LENGTH(paths), sites, shown);
	for (size_t i = 0; i < LENGTH(sites); i++)
		candidates[i].site = &sites[i];
	assert_int_equal(site_order_losses(candidates, LENGTH(sites), &cnt, &found), 0);
	assert_int_equal(cnt, 3);
	assert_ptr_equal(found[0].site, &sites[1]);
	assert_ptr_equal(found[1].site, &sites[2]);
	assert_ptr_equal(found[2].site, &sites[0]);
	free(found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_of_one_function),
		cmocka_unit_test(instances_of_a_template),
		cmocka_unit_test(callers_of_instances),
		cmocka_unit_test(workers),
		cmocka_unit_test(objects),
		cmocka_unit_test(what_stays_apart),
		cmocka_unit_test(trifles),
		cmocka_unit_test(slight),
		cmocka_unit_test(all_wanted),
		cmocka_unit_test(kernel_trifles),
		cmocka_unit_test(losses_of_functions),
		cmocka_unit_test(losses_of_instances),
		cmocka_unit_test(losses_in_order),
		cmocka_unit_test(losses_without_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
