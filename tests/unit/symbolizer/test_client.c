// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the symbolizer with helpers that die, hang or reply with garbage: it must only lose names.
 */
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

#include "symbolizer/answer.h"
#include "tests/unit/symbolizer/own_space.h"
#include "tests/unit/symbolizer/patient.h"

static void random_answers(void **state)
{
	struct message msg = {.fd = -1};

	srand(2);
	for (int round = 0; round < 50000; round++) {
		struct opened_answer opened;
		struct message_cursor cursor;
		struct name_answer name;

		message_reset(&msg);
		if (rand() % 2) {
			message_put_u32(&msg, rand() % 8 ? 7 : rand());
			message_put_u64(&msg, rand());
			message_put_u64(&msg, rand());
			message_put_u32(&msg, rand() % 8 ? rand() % 5 : rand());
		}
		for (int i = rand() % 12; i > 0; i--) {
			if (rand() % 2)
				message_put_string(&msg, rand() % 8 ? "ab\0c" : NULL);
			message_put_u32(&msg, rand() % 4 ? rand() % 70 : rand());
		}
		cursor = message_read(&msg);
		if (!answer_read_name(&cursor, 7, rand() % 2, &name)) {
			assert_in_range(name.frame_cnt, 1, SERVER_FRAMES_MAX);
			free(name.frames);
		}
		cursor = message_read(&msg);
		if (!answer_read_opened(&cursor, &opened)) {
			free(opened.build_id);
			file_need_deinit(&opened.need);
		}
	}
	message_deinit(&msg);
}

/* Parses a reply in which each symbol and file name has `bytes` bytes. */
static struct name_answer name_of(size_t bytes, uint32_t frame_cnt)
{
	struct message msg = {.fd = -1};
	struct message_cursor cursor;
	struct name_answer name;
	char *text = calloc(1, bytes + 1);

	assert_non_null(text);
	memset(text, 'a', bytes);
	message_put_u32(&msg, 7);
	message_put_u64(&msg, 100);
	message_put_u64(&msg, 100);
	message_put_u32(&msg, frame_cnt);
	for (uint32_t i = 0; i < frame_cnt; i++) {
		message_put_string(&msg, text);
		message_put_string(&msg, text);
		message_put_u32(&msg, i);
	}
	cursor = message_read(&msg);
	assert_int_equal(answer_read_name(&cursor, 7, true, &name), 0);
	message_deinit(&msg);
	free(text);
	return name;
}

/*
 * The total size of the names for an address is limited. The function itself and the innermost
 * inlined calls keep their names; other inlined calls lose theirs.
 */
static void long_names(void **state)
{
	struct name_answer name = name_of(20000, SERVER_FRAMES_MAX);

	assert_int_equal(name.frame_cnt, SERVER_FRAMES_MAX);
	assert_int_equal(strlen(name.frames[0].symbol), 20000);
	assert_int_equal(strlen(name.frames[0].file), 20000);
	assert_int_equal(strlen(name.frames[SERVER_FRAMES_MAX - 1].symbol), 20000);
	assert_null(name.frames[1].symbol);
	for (uint32_t i = 1; i < name.frame_cnt; i++) {
		assert_null(name.frames[i].file);
		assert_int_equal(name.frames[i].line, i);
	}
	free(name.frames);
	name = name_of(NAME_BYTES_MAX / 2 / SERVER_FRAMES_MAX, SERVER_FRAMES_MAX);
	assert_non_null(name.frames[SERVER_FRAMES_MAX - 1].file);
	free(name.frames);
}

/* The helper inherits no open files except its socket, and ends when this process ends. */
static void helper_is_confined(void **state)
{
	char path[64], text[64] = "";
	pid_t pid, helper, ended;
	int pipes[2];

	assert_others_named(BUDGET_MS);
	snprintf(path, sizeof(path), "/proc/%d/fd/1", (int)sym->client.helper.pid);
	/* The helper has changed its user, so only root can read this link. */
	if (readlink(path, text, sizeof(text) - 1) > 0)
		assert_string_equal(text, "/dev/null");

	/* Become the parent of orphaned processes, so that they can be waited for. */
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (!pid) {
		struct symbolizer *own;

		if (!symbolizer__new(&own) &&
		    write(pipes[1], &own->client.helper.pid, sizeof(pid_t)) == sizeof(pid_t))
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &helper, sizeof(helper)), sizeof(helper));
	/* End of file: the helper has no copy of the pipe's write end. */
	assert_int_equal(read(pipes[0], text, 1), 0);
	close(pipes[0]);
	/* The starter, which has forked the helper, may end first. */
	do
		ended = waitpid(-1, NULL, 0);
	while (ended > 0 && ended != helper);
	assert_int_equal(ended, helper);
}

/* True if an address in the mapped code resolves to the function `name`. */
static bool finds(void *code, size_t len, const char *name)
{
	for (size_t i = 0; i < len; i += 8) {
		const struct sym_location *loc =
			resolve_one(space, (uintptr_t)code + i, true, BUDGET_MS);

		if (loc->frames[0].symbol && !strcmp(loc->frames[0].symbol, name))
			return true;
	}
	return false;
}

/* The helper is killed while it is idle. The next helper is given all files again. */
static void killed_while_idle(void **state)
{
	pid_t pid = sym->client.helper.pid;

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(
		poll(&(struct pollfd){.fd = sym->client.helper.sock, .events = POLLIN}, 1, -1), 1);
	assert_string_equal(
		resolve_one(space, (uintptr_t)set_up, true, BUDGET_MS)->frames[0].symbol, "set_up");
	assert_int_not_equal(sym->client.helper.pid, pid);
}

/*
 * Time limit in milliseconds for a call whose helper hangs; enough to begin work on a busy machine.
 */
#define HANG_BUDGET_MS 2000

static void hangs(void **state)
{
	const struct sym_location *loc;
	pid_t pid = sym->client.helper.pid;
	int64_t before;
	size_t len;
	void *code;

	if (!build_library("-g"))
		SKIP("no C compiler");
	code = map_code(in_folder("lib.so"), &len);
	sym->client.hang_ns = 100 * 1000000;
	process_stop(pid);
	before = now_ms();
	loc = resolve_one(space, (uintptr_t)code + 0x1100, true, HANG_BUDGET_MS);
	assert_true(now_ms() - before >= HANG_BUDGET_MS - 50);
	assert_unnamed(loc);
	assert_true(ends_with(loc->module, "lib.so"));
	/* The next call ends the hanging helper, and has time left to find other names. */
	assert_string_equal(
		resolve_one(space, (uintptr_t)tear_down, true, BUDGET_MS)->frames[0].symbol,
		"tear_down");
	assert_int_not_equal(sym->client.helper.pid, pid);
	process_await_end(pid);
	assert_unnamed(resolve_one(space, (uintptr_t)code + 0x1100, true, BUDGET_MS));
	munmap(code, len);
}

/* Kills a stopped helper once a request was sent to it. */
static void __attribute__((noreturn)) kill_over_request(pid_t pid, int sock)
{
	int unread;

	while (!ioctl(sock, SIOCOUTQ, &unread) && !unread)
		usleep(1000);
	kill(pid, SIGKILL);
	_exit(0);
}

/*
 * A helper killed at a request need not be the file's fault: the next helper tries the file again.
 */
static void killed_at_work(void **state)
{
	unsigned int incarnation = sym->client.helper.incarnation;
	pid_t pid = sym->client.helper.pid, killer;
	size_t len;
	void *code;

	if (!build_library("-g"))
		SKIP("no C compiler");
	code = map_code(in_folder("lib.so"), &len);
	process_stop(pid);
	killer = fork();
	if (!killer)
		kill_over_request(pid, sym->client.helper.sock);
	resolve_many(code, len, BUDGET_MS);
	assert_int_equal(sym->client.helper.incarnation, incarnation + 1);
	assert_int_equal(sym->client.job.kind, JOB_NONE);
	assert_int_equal(waitpid(killer, NULL, 0), killer);
	assert_true(finds(code, len, "out"));
	munmap(code, len);
	assert_others_named(BUDGET_MS);
}

/* A helper was slow, but did not hang: the next call gets the names that the helper has found. */
static void late_answers(void **state)
{
	pid_t pid = sym->client.helper.pid;
	size_t len;
	void *code;

	if (!build_library("-g"))
		SKIP("no C compiler");
	code = map_code(in_folder("lib.so"), &len);
	be_patient(sym);
	process_stop(pid);
	resolve_many(code, len, 100);
	assert_int_equal(kill(pid, SIGCONT), 0);
	resolve_many(code, len, BUDGET_MS);
	assert_int_equal(sym->client.helper.pid, pid);
	assert_true(finds(code, len, "out"));
	munmap(code, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_answers),
		cmocka_unit_test(long_names),
		cmocka_unit_test_setup_teardown(helper_is_confined, set_up, tear_down),
		cmocka_unit_test_setup_teardown(killed_while_idle, set_up, tear_down),
		cmocka_unit_test_setup_teardown(hangs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(killed_at_work, set_up, tear_down),
		cmocka_unit_test_setup_teardown(late_answers, set_up, tear_down),
	};
	int failed;

	if (make_folder(NULL))
		return 99;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	remove_folder(NULL);
	return failed;
}
