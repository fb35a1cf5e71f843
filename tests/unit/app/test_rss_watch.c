// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests when resident memory is read, and which results are added to which report. The fake reader
 * times out unless a test sets its result.
 */
#include "app/rss_watch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "app/prover.h"
#include "base/clock.h"
#include "proof/rss_reader.h"

#define SECOND_NS 1000000000ULL

static struct {
	unsigned int begun, stopped;
	int result;    /* result of rss_take() */
	pid_t copy;    /* `copy` passed to the most recent rss_begin() */
	pid_t pid;     /* process of the most recent rss_begin() */
	pid_t refused; /* process that rss_begin() refuses to read */
	pid_t slow;    /* process whose reading never ends */
	struct rss_pinners pinners;
	struct python_growth python;
	uint32_t container_sites[PYTHON_CONTAINERS_MAX];
} reader;

int rss_begin(const struct process_tally *tally, const struct heap *heap, bool counts_objects,
	      pid_t copy, uint64_t deadline_ns)
{
	const struct process *process = tally->process;

	(void)heap;
	(void)counts_objects;
	(void)deadline_ns;
	reader.begun++;
	reader.pid = process->pid;
	reader.copy = copy;
	return process->pid == reader.refused ? -EACCES : 0;
}

int rss_take(uint64_t deadline_ns, struct rss_reading *ret)
{
	(void)deadline_ns;
	if (reader.pid == reader.slow)
		return -ETIMEDOUT;
	if (!reader.result) {
		*ret = (struct rss_reading){.rss.parts = {[RSS_LIVE] = (uint64_t)reader.pid - 6},
					    .pinners = reader.pinners,
					    .python = reader.python};
		memcpy(ret->container_sites, reader.container_sites, sizeof(ret->container_sites));
	}
	return reader.result;
}

void rss_stop(void)
{
	reader.stopped++;
}

pid_t prover_copy_of(const struct prover *prover, uint32_t image)
{
	(void)prover;
	return (pid_t)image + 100;
}

static const struct process process = {.pid = 7, .image = 1};
static struct process_tally tally;
static struct snapshot snap = {.tallies = &tally, .tally_cnt = 1};

static int set_up(void **state)
{
	static struct rss_watch watch;

	watch = (struct rss_watch){0};
	tally = (struct process_tally){.process = &process, .footprint.is_known = true};
	reader.begun = reader.stopped = 0;
	reader.refused = reader.slow = 0;
	reader.pinners.cnt = 0;
	reader.result = -ETIMEDOUT;
	*state = &watch;
	return 0;
}

static void report(struct rss_watch *watch)
{
	tally.rss = (struct rss){0};
	snap.python = NULL;
	rss_watch_begin(watch, &snap, false, false);
	rss_watch_finish(watch, &snap, 0);
}

static void late_result(void **state)
{
	struct rss_watch *watch = *state;

	report(watch);
	assert_int_equal(rss_total(&tally.rss), 0);
	reader.result = 0;
	report(watch);
	assert_int_equal(rss_total(&tally.rss), 1);
	assert_int_equal(reader.begun, 1);
	/* For the last report, memory is read even if the next reading is not yet due. */
	watch->next_ns = UINT64_MAX - 1;
	rss_watch_begin(watch, &snap, true, false);
	assert_int_equal(reader.begun, 2);
}

/*
 * Reports show the latest known counts of Python objects until there are new ones, unless the
 * process has called exec() since.
 */
static void python_objects(void **state)
{
	static const struct process other = {.pid = 7, .image = 2};
	struct rss_watch *watch = *state;

	reader.python.container_cnt = 1;
	reader.result = 0;
	report(watch);
	assert_non_null(snap.python);
	reader.result = -ETIMEDOUT;
	report(watch);
	assert_non_null(snap.python);
	tally.process = &other;
	report(watch);
	assert_null(snap.python);
	/*
	 * If a count was cut, the number of uncounted objects is reported even if nothing has
	 * grown.
	 */
	reader.result = 0;
	reader.python = (struct python_growth){.uncounted = 1};
	watch->next_ns = 0;
	report(watch);
	assert_non_null(snap.python);
	reader.python.uncounted = 0;
	arena_deinit(&snap.arena);
}

static void stale_result(void **state)
{
	struct rss_watch *watch = *state;

	if (clock_ns(CLOCK_MONOTONIC) < 60 * SECOND_NS) {
		print_message("skipped: the machine has just started\n");
		skip();
	}
	report(watch);
	watch->asked_ns -= 60 * SECOND_NS;
	watch->seen_ns -= 60 * SECOND_NS;
	reader.result = 0;
	report(watch);
	assert_int_equal(reader.stopped, 1);
	assert_int_equal(reader.begun, 2);
}

static void no_result(void **state)
{
	struct rss_watch *watch = *state;

	report(watch);
	watch->asked_ns -= 60 * SECOND_NS;
	report(watch);
	assert_int_equal(reader.stopped, 1);
	report(watch);
	assert_int_equal(reader.begun, 1);
}

static void another_process(void **state)
{
	struct rss_watch *watch = *state;

	report(watch);
	watch->asked = 8;
	report(watch);
	assert_int_equal(reader.stopped, 1);
	assert_int_equal(reader.begun, 2);
}

/*
 * A result gives sites by their index in the snapshot at which the reading began. Its pinned bytes
 * must be added to the same sites of a later snapshot, in which they have other indexes.
 */
static void pinners(void **state)
{
	struct rss_watch *watch = *state;
	struct site then[] = {{.id = 5}, {.id = 6}, {.id = 7}};
	struct site now[] = {{.id = 7}, {.id = 8}, {.id = 6}};
	struct snapshot first = snap, second = snap;

	first.sites = then;
	second.sites = now;
	first.site_cnt = second.site_cnt = 3;
	rss_watch_begin(watch, &first, false, true);
	rss_watch_finish(watch, &first, 0);
	reader.result = 0;
	reader.pinners = (struct rss_pinners){.items = {{2, 3000}, {0, 2000}, {1, 1000}, {99, 500}},
					      .cnt = 4};
	rss_watch_begin(watch, &second, false, true);
	rss_watch_finish(watch, &second, 0);
	assert_int_equal(now[0].pinned_bytes, 3000);
	assert_int_equal(now[1].pinned_bytes, 0);
	assert_int_equal(now[2].pinned_bytes, 1000);
	rss_watch_deinit(watch);
}

#define SEVERAL 3

static const struct process processes[RSS_PROCESSES_MAX + 1] = {
	{.pid = 7, .image = 1}, {.pid = 8, .image = 2}, {.pid = 9, .image = 3},
	{.image = 4},           {.image = 5},           {.image = 6},
	{.image = 7},           {.image = 8},           {.image = 9}};
static struct process_tally tallies[RSS_PROCESSES_MAX + 1];

static void report_several(struct rss_watch *watch, size_t cnt, bool is_last)
{
	struct snapshot several = {.tallies = tallies, .tally_cnt = cnt};

	for (size_t i = 0; i < cnt; i++)
		tallies[i] = (struct process_tally){.process = &processes[i],
						    .footprint.is_known = true};
	rss_watch_begin(watch, &several, is_last, true);
	rss_watch_finish(watch, &several, 0);
}

static void expect_several(uint64_t a, uint64_t b, uint64_t c)
{
	assert_int_equal(rss_total(&tallies[0].rss), a);
	assert_int_equal(rss_total(&tallies[1].rss), b);
	assert_int_equal(rss_total(&tallies[2].rss), c);
}

/*
 * All processes are read one after the other. The next report is made before the next readings are
 * due, so it has no results. Another one follows the end of the pause.
 */
static void several_processes(void **state)
{
	struct rss_watch *watch = *state;

	reader.result = 0;
	report_several(watch, SEVERAL, false);
	expect_several(1, 2, 3);
	assert_int_equal(reader.begun, SEVERAL);
	watch->next_ns = UINT64_MAX - 1;
	report_several(watch, SEVERAL, false);
	expect_several(0, 0, 0);
	assert_int_equal(reader.begun, SEVERAL);
	rss_watch_hurry(watch);
	report_several(watch, SEVERAL, false);
	expect_several(1, 2, 3);
	assert_int_equal(reader.begun, 2 * SEVERAL);
	watch->next_ns = UINT64_MAX;
	rss_watch_hurry(watch);
	assert_false(rss_watch_is_due(watch, false));
}

/*
 * The results of several processes are added to a report once all of them are known. The last
 * report gets those that are known.
 */
static void slow_process(void **state)
{
	struct rss_watch *watch = *state;

	reader.result = 0;
	reader.slow = 8;
	report_several(watch, SEVERAL, false);
	expect_several(0, 0, 0);
	report_several(watch, SEVERAL, true);
	expect_several(1, 0, 0);
	reader.slow = 0;
	report_several(watch, SEVERAL, false);
	expect_several(1, 2, 3);
	assert_int_equal(reader.begun, SEVERAL);
}

/*
 * If the prover has made a copy of the process, this copy is read. If it has ended before, the
 * process itself is read from then on.
 */
static void copy_of_proof(void **state)
{
	static const struct prover prover;
	struct rss_watch *watch = *state;

	report(watch);
	assert_int_equal(reader.copy, 0);
	watch->prover = &prover;
	for (int i = 0; i < 2; i++) {
		watch->asked = 0;
		watch->is_in_round = false;
		watch->next_ns = 0;
		reader.result = -ESRCH;
		report(watch);
		assert_int_equal(reader.copy, i ? 0 : 101);
	}
}

static void unreadable_process(void **state)
{
	struct rss_watch *watch = *state;

	reader.result = 0;
	reader.refused = 7;
	report_several(watch, SEVERAL, false);
	expect_several(0, 2, 3);
}

/* Only a process whose reading takes too long is not read again. */
static void slowest_process(void **state)
{
	struct rss_watch *watch = *state;

	reader.result = 0;
	reader.slow = 9;
	report_several(watch, SEVERAL, false);
	watch->asked_ns -= 60 * SECOND_NS;
	report_several(watch, SEVERAL, false);
	expect_several(1, 2, 0);
	assert_int_equal(reader.stopped, 1);
	watch->next_ns = 0;
	report_several(watch, SEVERAL, false);
	expect_several(1, 2, 0);
	assert_int_equal(reader.begun, 2 * SEVERAL - 1);
}

static void too_many_processes(void **state)
{
	struct rss_watch *watch = *state;

	reader.result = 0;
	report_several(watch, RSS_PROCESSES_MAX + 1, false);
	assert_int_equal(reader.begun, 0);
	report_several(watch, RSS_PROCESSES_MAX, false);
	assert_int_equal(reader.begun, RSS_PROCESSES_MAX);
}

/*
 * A result gives the site of a container by its index in the snapshot at which the reading began.
 * The report has the id of this site, or 0 if there is no site with this index.
 */
static void container_sites(void **state)
{
	struct rss_watch *watch = *state;
	struct site sites[] = {{.id = 10}, {.id = 20}};
	struct snapshot own = snap;

	own.sites = sites;
	own.site_cnt = 2;
	reader.python.container_cnt = 2;
	reader.python.containers[0] = (struct python_container){.class = "set", .addr = 4096};
	reader.container_sites[0] = 1;
	reader.container_sites[1] = 99;
	reader.result = 0;
	rss_watch_begin(watch, &own, false, true);
	rss_watch_finish(watch, &own, 0);
	assert_non_null(own.python);
	assert_int_equal(own.python->containers[0].site, 20);
	assert_int_equal(own.python->containers[1].site, 0);
	/*
	 * Now the block of the container's items is too young for the snapshot: the site found
	 * before is still shown.
	 */
	reader.container_sites[0] = 99;
	rss_watch_begin(watch, &own, true, true);
	rss_watch_finish(watch, &own, 0);
	assert_int_equal(own.python->containers[0].site, 20);
	reader.python.container_cnt = 0;
	arena_deinit(&own.arena);
	rss_watch_deinit(watch);
}

/*
 * Reads a process in which a container with the name "a" grows: a set if is_set, else a list. site:
 * index of the site that allocated its items.
 */
static void read_container(struct rss_watch *watch, struct snapshot *own, uint32_t image,
			   bool is_set, uint64_t addr, uint32_t site)
{
	static struct process target;
	static struct process_tally counts;

	target = (struct process){.pid = 7, .image = image};
	counts = (struct process_tally){.process = &target, .footprint.is_known = true};
	own->tallies = &counts;
	reader.python.container_cnt = 1;
	reader.python.containers[0] =
		(struct python_container){.named_by = PYTHON_VARIABLE, .name = "a", .addr = addr};
	strcpy(reader.python.containers[0].class, is_set ? "set" : "list");
	reader.container_sites[0] = site;
	rss_watch_begin(watch, own, true, true);
	rss_watch_finish(watch, own, 0);
	assert_non_null(own->python);
}

/*
 * A container does not get the site of an earlier container that differs in address, class or
 * process, even if both have the same name.
 */
static void containers_of_one_name(void **state)
{
	struct rss_watch *watch = *state;
	struct site sites[] = {{.id = 10}, {.id = 20}};
	struct snapshot own = {.sites = sites, .site_cnt = 2, .tally_cnt = 1};

	reader.result = 0;
	read_container(watch, &own, 1, true, 4096, 1);
	assert_int_equal(own.python->containers[0].site, 20);
	read_container(watch, &own, 1, true, 8192, 99);
	assert_int_equal(own.python->containers[0].site, 0);
	/* A list may be at the address of a freed set with the same name. */
	read_container(watch, &own, 1, true, 4096, 1);
	read_container(watch, &own, 1, false, 4096, 99);
	assert_int_equal(own.python->containers[0].site, 0);
	/* Another process may have a set with this name at this address. */
	read_container(watch, &own, 1, true, 4096, 1);
	read_container(watch, &own, 2, true, 4096, 99);
	assert_int_equal(own.python->containers[0].site, 0);
	reader.python.container_cnt = 0;
	arena_deinit(&own.arena);
	rss_watch_deinit(watch);
}

static struct python_container asked[PYTHON_CONTAINERS_MAX];
static size_t asked_cnt;
static uint32_t asked_image;

static void find_adders(struct source *source, uint32_t image, struct python_container *containers,
			size_t cnt)
{
	assert_non_null(source);
	asked_image = image;
	asked_cnt = cnt;
	memcpy(asked, containers, cnt * sizeof(*asked));
	if (cnt)
		containers[0].adder = (struct python_place){"keep", "/app.py", 12};
}

/*
 * The source line that adds to a container is shown in the next report if the container is still
 * there.
 */
static void adders(void **state)
{
	static const struct source_ops blind, seeing = {.find_adders = find_adders};
	struct source source = {.ops = &blind};
	struct rss_watch *watch = *state;
	struct site sites[] = {{.id = 10}, {.id = 20}};
	struct snapshot own = {.sites = sites, .site_cnt = 2, .tally_cnt = 1};

	reader.result = 0;
	read_container(watch, &own, 5, false, 4096, 1);
	rss_watch_find_adders(watch, &source);
	source.ops = &seeing;
	rss_watch_find_adders(watch, &source);
	assert_int_equal(asked_image, 5);
	assert_int_equal(asked_cnt, 1);
	assert_int_equal(asked[0].addr, 4096);
	read_container(watch, &own, 5, false, 4096, 1);
	assert_string_equal(own.python->containers[0].adder.function, "keep");
	assert_int_equal(own.python->containers[0].adder.line, 12);
	read_container(watch, &own, 5, false, 8192, 1);
	assert_string_equal(own.python->containers[0].adder.function, "");
	reader.python.container_cnt = 0;
	arena_deinit(&own.arena);
	rss_watch_deinit(watch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(late_result, set_up),
		cmocka_unit_test_setup(python_objects, set_up),
		cmocka_unit_test_setup(container_sites, set_up),
		cmocka_unit_test_setup(containers_of_one_name, set_up),
		cmocka_unit_test_setup(adders, set_up),
		cmocka_unit_test_setup(stale_result, set_up),
		cmocka_unit_test_setup(pinners, set_up),
		cmocka_unit_test_setup(no_result, set_up),
		cmocka_unit_test_setup(another_process, set_up),
		cmocka_unit_test_setup(several_processes, set_up),
		cmocka_unit_test_setup(slow_process, set_up),
		cmocka_unit_test_setup(copy_of_proof, set_up),
		cmocka_unit_test_setup(unreadable_process, set_up),
		cmocka_unit_test_setup(slowest_process, set_up),
		cmocka_unit_test_setup(too_many_processes, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
