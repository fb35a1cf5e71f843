// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes many pictures (consistent copies of memory and registers) of programs that would notice any
 * disturbance.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/proc.h"
#include "proof/arch.h"
#include "proof/picture.h"
#include "proof/remote_call.h"
#include "proof/tracer.h"
#include "tests/unit/lib/process.h"
#include "tests/unit/lib/random.h"
#include "tests/unit/lib/rights.h"
#include "tests/unit/proof/waiting_program.h"

/* Pictures between complete reads of memory, which are slow under a sanitizer */
#define READS_EVERY 5

/* Process name of the program and of its copies; unique to each run of the test. */
static char name[16];

static struct picture_taker *taker;

/*
 * True on an emulated machine, where killing a process, or a picture of many threads, takes
 * seconds.
 */
static bool is_slow(void)
{
	const char *slowness = getenv("MEMLEAK_TEST_SLOWNESS");

	return slowness && atoi(slowness) > 4;
}

/* Under a sanitizer, forks and pictures take four times as long. */
#ifdef __SANITIZE_ADDRESS__
#define PICTURES 10
#define KILLS 40
#else
#define PICTURES 50
#define KILLS 200
#endif

static int pictures(void)
{
	return is_slow() ? 10 : PICTURES;
}

static int kills(void)
{
	return is_slow() ? 50 : KILLS;
}

static int set_up(void **state)
{
	snprintf(name, sizeof(name), "waits %d", getpid());
	return picture_taker__new(&taker);
}

static int tear_down(void **state)
{
	picture_taker__free(taker);
	return 0;
}

struct program {
	pid_t pid;
	int input;
	FILE *output;
};

static void start(struct program *program, const char *variant, const char *threads)
{
	int input[2], output[2];
	char line[64];

	assert_int_equal(pipe2(input, O_CLOEXEC), 0);
	assert_int_equal(pipe2(output, O_CLOEXEC), 0);
	fflush(stdout);
	program->pid = fork();
	if (!program->pid) {
		char *argv[] = {"prove_waits", (char *)variant, (char *)threads, NULL};

		prctl(PR_SET_NAME, name);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(input[0], 0);
		dup2(output[1], 1);
		close(input[1]);
		close(output[0]);
		_exit(waiting_program_main(3, argv));
	}
	close(input[0]);
	close(output[1]);
	program->input = input[1];
	program->output = fdopen(output[0], "r");
	assert_non_null(fgets(line, sizeof(line), program->output));
	assert_string_equal(line, "ready\n");
}

static void expect_unharmed(struct program *program)
{
	char text[4096] = "";
	int status;

	assert_int_equal(write(program->input, "\n", 1), 1);
	close(program->input);
	text[fread(text, 1, sizeof(text) - 1, program->output)] = '\0';
	fclose(program->output);
	assert_int_equal(waitpid(program->pid, &status, 0), program->pid);
	assert_string_equal(text, "unharmed\n");
	assert_int_equal(status, 0);
}

struct reading {
	const struct memory *memory;
	uint64_t bytes;
	char piece[1 << 16];
};

static int read_pages(void *arg, uint64_t start, uint64_t end)
{
	struct reading *reading = arg;

	while (start < end) {
		uint64_t left = end - start;
		size_t wanted = left < sizeof(reading->piece) ? left : sizeof(reading->piece);
		ssize_t got =
			reading->memory->ops->read(reading->memory, start, reading->piece, wanted);

		if (got < 0)
			return (int)got;
		if (!got)
			break;
		reading->bytes += (uint64_t)got;
		start += (uint64_t)got;
	}
	return 0;
}

static uint64_t read_all(const struct memory *memory)
{
	struct reading reading = {.memory = memory};

	for_each_mapping (mapping, &memory->maps)
		assert_int_equal(memory->ops->visit_written(memory, mapping, mapping->start,
							    mapping->end, read_pages, &reading),
				 0);
	return reading.bytes;
}

struct tally {
	int taken;
	int methods[PICTURE_FREEZE + 1];
	int stale; /* pictures without a copy: some thread was running in each attempt */
	int valid;
	uint64_t longest_ns;
	uint64_t sum_ns;
};

/* Takes a picture; tries again if not all threads could be stopped in time. */
static void take(pid_t pid, struct tally *tally)
{
	uint64_t deadline_ns = patience();
	struct picture *picture;
	int err;

	do
		err = picture_taker__take(taker, pid, false, deadline_ns, &picture);
	while (err == -EAGAIN && clock_left_ms(deadline_ns));
	if (err)
		print_message("picture: %s\n", strerror(-err));
	assert_int_equal(err, 0);
	if (tally->taken++ % READS_EVERY == 0)
		assert_true(read_all(picture->memory) > 4096);
	tally->valid += picture__is_valid(picture);
	picture__release(picture);
	if (picture->copy_err && picture->copy_err != -ECHILD)
		print_message("no copy: %s\n", strerror(-picture->copy_err));
	tally->methods[picture->method]++;
	tally->stale += picture->copy_err == -ESTALE;
	tally->sum_ns += picture->stopped_ns;
	if (picture->stopped_ns > tally->longest_ns)
		tally->longest_ns = picture->stopped_ns;
	picture__free(picture);
}

static int count_copy(void *arg, pid_t pid)
{
	char *comm = proc_comm(pid), *status = NULL;
	int *cnt = arg;

	if (comm && !strcmp(comm, name) && !proc_read(pid, "status", &status) &&
	    !strstr(status, "State:\tZ") &&
	    (proc_status_number(status, "TracerPid") || proc_status_number(status, "PPid") == 1))
		(*cnt)++;
	free(comm);
	free(status);
	return 0;
}

/* Waits until there are no copies: traced or orphaned processes of the program. */
static void expect_no_copies(void)
{
	uint64_t deadline_ns = patience();
	int cnt = 0;

	proc_visit(count_copy, &cnt);
	while (cnt && clock_left_ms(deadline_ns)) {
		usleep(10000);
		cnt = 0;
		proc_visit(count_copy, &cnt);
	}
	assert_int_equal(cnt, 0);
}

static struct tally pictures_of(const char *variant, const char *threads, int cnt)
{
	struct program program;
	struct tally tally = {0};

	need_bpf();
	start(&program, variant, threads);
	for (int i = 0; i < cnt; i++)
		take(program.pid, &tally);
	expect_no_copies();
	expect_unharmed(&program);
	print_message("%s: %d still, %d clone, %d freeze; %d valid; stopped for %.1f ms, %.1f at "
		      "most\n",
		      variant, tally.methods[PICTURE_STILL], tally.methods[PICTURE_CLONE],
		      tally.methods[PICTURE_FREEZE], tally.valid, (double)tally.sum_ns / cnt / 1e6,
		      (double)tally.longest_ns / 1e6);
	return tally;
}

/*
 * Takes pictures of a program. Each must be a copy of the process, unless threads ran in all
 * attempts.
 */
static void expect_copies(const char *variant, const char *threads)
{
	struct tally tally = pictures_of(variant, threads, pictures());

	assert_int_equal(tally.methods[PICTURE_CLONE] + tally.stale, pictures());
	assert_true(tally.methods[PICTURE_CLONE] > 0);
	assert_int_equal(tally.methods[PICTURE_STILL], 0);
}

static void waits_go_on(void **state)
{
	expect_copies("loners", "0");
}

static void children_are_not_disturbed(void **state)
{
	expect_copies("family", "0");
}

/*
 * A program that waits for any child would notice a copy of itself, so it is frozen instead of
 * copied.
 */
static void who_waits_for_any_child_is_frozen(void **state)
{
	assert_int_equal(pictures_of("walls", "0", pictures()).methods[PICTURE_FREEZE], pictures());
}

static void many_threads(void **state)
{
	/* An emulated machine takes a minute for each picture of a thousand threads. */
	expect_copies("loners", is_slow() ? "100" : "1000");
}

static struct tracer_order order_for(pid_t pid)
{
	struct tracer_order order = {
		.pid = pid,
		.may_copy = true,
		.deadline_ns = patience(),
	};

	remote_call_place(pid, &order.call_at);
	return order;
}

static void __attribute__((noreturn))
take_for_ever(struct thread_watch *watch, pid_t pid, int to_parent)
{
	struct tracer *tracer;
	pid_t own;

	if (tracer__new(watch, &tracer))
		_exit(1);
	own = tracer__pid(tracer);
	if (write(to_parent, &own, sizeof(own)) != sizeof(own))
		_exit(1);
	for (;;) {
		struct tracer_order order = order_for(pid);
		struct tracer_answer answer;

		if (tracer__take(tracer, &order, &answer))
			_exit(1);
		live_threads_deinit(&answer.seen);
		usleep(1000);
		tracer__release(tracer);
	}
}

static void kill_once(struct thread_watch *watch, pid_t pid, uint64_t wait_us)
{
	int ends[2], status;
	pid_t tracer, taking;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	taking = fork();
	if (!taking)
		take_for_ever(watch, pid, ends[1]);
	close(ends[1]);
	assert_int_equal(read(ends[0], &tracer, sizeof(tracer)), sizeof(tracer));
	close(ends[0]);
	usleep((useconds_t)wait_us);
	assert_int_equal(kill(taking, SIGKILL), 0);
	assert_int_equal(waitpid(taking, &status, 0), taking);
	assert_true(WIFSIGNALED(status));
	process_await_end(tracer);
}

static void memleak_is_killed_at_any_moment(void **state)
{
	struct thread_watch *watch;
	struct program program;
	uint64_t seed = 1;

	need_bpf();
	assert_int_equal(thread_watch__new(&watch), 0);
	start(&program, "loners", "0");
	for (int i = kills(); i; i--)
		kill_once(watch, program.pid, random_next(&seed) % 20000);
	expect_no_copies();
	expect_unharmed(&program);
	thread_watch__free(watch);
}

/*
 * Without the BPF program that finds sleeping threads, pictures are taken with all threads stopped.
 * On architectures where this would interrupt system calls that cannot be repeated, no pictures are
 * taken.
 */
static void without_a_program_all_threads_are_stopped(void **state)
{
	struct program program;
	struct tracer *tracer;

	if (geteuid()) {
		print_message("skipped: only root may trace other processes\n");
		skip();
	}
	if (!registers_keep_argument) {
		assert_int_equal(tracer__new(NULL, &tracer), -EOPNOTSUPP);
		return;
	}
	assert_int_equal(tracer__new(NULL, &tracer), 0);
	start(&program, "loners", "0");
	for (int i = 0; i < pictures(); i++) {
		struct tracer_order order = order_for(program.pid);
		struct tracer_answer answer;

		assert_int_equal(tracer__take(tracer, &order, &answer), 0);
		assert_int_equal(answer.result, TRACER_STOPPED);
		live_threads_deinit(&answer.seen);
		tracer__release(tracer);
	}
	expect_no_copies();
	expect_unharmed(&program);
	tracer__free(tracer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memleak_is_killed_at_any_moment),
		cmocka_unit_test(without_a_program_all_threads_are_stopped),
		cmocka_unit_test(waits_go_on),
		cmocka_unit_test(children_are_not_disturbed),
		cmocka_unit_test(who_waits_for_any_child_is_frozen),
		cmocka_unit_test(many_threads),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
