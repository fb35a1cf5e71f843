// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests when resident memory is read, and which results are used. The reader is a fake that times
 * out unless a test sets a result.
 */
#include "app/rss_watch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "proof/rss_reader.h"

#define SECOND_NS 1000000000ULL

static struct {
	unsigned int begun, stopped;
	int result; /* of rss_take() */
	struct rss_pinners pinners;
	struct python_growth python;
} reader;

int rss_begin(const struct process *process, const struct heap *heap, uint64_t deadline_ns)
{
	(void)process;
	(void)heap;
	(void)deadline_ns;
	reader.begun++;
	return 0;
}

int rss_take(uint64_t deadline_ns, struct rss_reading *ret)
{
	(void)deadline_ns;
	if (!reader.result) {
		*ret = (struct rss_reading){.rss.parts = {[RSS_LIVE] = 1},
					    .pinners = reader.pinners,
					    .python = reader.python};
	}
	return reader.result;
}

void rss_stop(void)
{
	reader.stopped++;
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
	/* For the last report, memory is read even if the next reading is not due yet. */
	watch->next_ns = UINT64_MAX - 1;
	rss_watch_begin(watch, &snap, true, false);
	assert_int_equal(reader.begun, 2);
}

/* Python's objects are shown until the next result, unless the process runs another program. */
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
	reader.python.container_cnt = 0;
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

/* Pinned bytes are added to a later snapshot, whose sites have other indexes. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(late_result, set_up),
		cmocka_unit_test_setup(python_objects, set_up),
		cmocka_unit_test_setup(stale_result, set_up),
		cmocka_unit_test_setup(pinners, set_up),
		cmocka_unit_test_setup(no_result, set_up),
		cmocka_unit_test_setup(another_process, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
