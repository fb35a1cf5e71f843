// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests calls to a helper: replies, late replies, and helpers that die or reply with garbage. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "helper/call.h"
#include "tests/unit/lib/process.h"

/* Timeout of calls that must time out, in nanoseconds */
#define SHORT_NS 20000000

enum { ECHO, TWICE, SILENCE, SIZE, SEND_FILE, WORK, SPIN, DEATH };

struct server {
	int sock;
	uint32_t handled;
};

/*
 * Replies with two numbers: how many requests the helper has handled, and the value in the request.
 */
static int handle(void *arg, struct message *request, struct message *reply)
{
	struct message_cursor cursor = message_read(request);
	uint32_t kind = message_get_u32(&cursor), value = message_get_u32(&cursor);
	struct server *server = arg;
	int err = 0;

	if (cursor.bad || kind == DEATH)
		return -EPROTO;
	server->handled++;
	if (kind == SILENCE)
		return 0;
	while (kind == WORK && clock_ns(CLOCK_PROCESS_CPUTIME_ID) < 3 * SHORT_NS)
		;
	if (kind == SEND_FILE)
		reply->fd = dup(server->sock);
	if (kind == SIZE)
		value = (uint32_t)lseek(request->fd, 0, SEEK_END);
	for (int i = 0; !err && i < 1 + (kind == TWICE); i++) {
		if (i)
			err = helper_reply(server->sock, reply);
		message_put_u32(reply, server->handled);
		message_put_u32(reply, value);
	}
	if (kind == SPIN)
		helper_reply(server->sock, reply);
	while (kind == SPIN)
		;
	return err;
}

static void serve(int sock)
{
	struct server server = {.sock = sock};

	helper_serve(sock, handle, &server);
}

struct echo {
	uint32_t handled;
	uint32_t value;
};

static int take(void *arg, struct message *answer)
{
	struct message_cursor cursor = message_read(answer);
	struct echo *echo = arg;

	echo->handled = message_get_u32(&cursor);
	echo->value = message_get_u32(&cursor);
	return cursor.bad ? -EPROTO : 0;
}

static int refuse(void *arg, struct message *answer)
{
	return -EPROTO;
}

static int call(struct helper *helper, uint32_t kind, uint32_t value, uint64_t within_ns,
		struct echo *ret)
{
	struct message request = {.fd = -1};
	int err;

	message_put_u32(&request, kind);
	message_put_u32(&request, value);
	err = helper_call(helper, &request, clock_deadline_ns(within_ns), take, ret);
	assert_int_equal(request.len, 0);
	message_deinit(&request);
	return err;
}

static void assert_answered(struct helper *helper, uint32_t value, uint32_t handled)
{
	struct echo echo;

	assert_int_equal(call(helper, ECHO, value, PATIENCE_NS, &echo), 0);
	assert_int_equal(echo.value, value);
	assert_int_equal(echo.handled, handled);
}

static const struct helper_kind echo_kind = {
	.name = "echo",
	.rights = HELPER_DROPS_RIGHTS,
	.work = serve,
};
HELPER_KIND(echo_kind);

static int set_up(void **state)
{
	struct helper *helper = malloc(sizeof(*helper));

	*helper = (struct helper)HELPER_INIT(&echo_kind);
	*state = helper;
	return 0;
}

static int tear_down(void **state)
{
	helper_deinit(*state, HELPER_GRACE_MS);
	free(*state);
	return 0;
}

static void starts_on_demand(void **state)
{
	struct helper *helper = *state;

	assert_int_equal(helper->pid, 0);
	assert_answered(helper, 7, 1);
	assert_answered(helper, 8, 2);
	assert_int_equal(helper->incarnation, 1);
}

/* A confined helper has no files to send: an answer with one is rejected. */
static void file_in_answer(void **state)
{
	struct helper *helper = *state;
	struct echo echo;

	assert_int_equal(call(helper, SEND_FILE, 7, PATIENCE_NS, &echo), -EPROTO);
	assert_int_equal(helper->pid, 0);
	assert_answered(helper, 8, 1);
}

/* A descriptor that is sent to the helper stays open in the caller. */
static void sends_files(void **state)
{
	struct message request = {.fd = memfd_create("file", MFD_CLOEXEC)};
	struct echo echo;
	int fd = request.fd;

	assert_int_equal(ftruncate(fd, 1234), 0);
	message_put_u32(&request, SIZE);
	message_put_u32(&request, 0);
	assert_int_equal(helper_call(*state, &request, patience(), take, &echo), 0);
	assert_int_equal(echo.value, 1234);
	message_deinit(&request);
	assert_int_equal(close(fd), 0);
}

static void several_answers(void **state)
{
	struct helper *helper = *state;
	struct echo echo;

	assert_int_equal(call(helper, TWICE, 5, PATIENCE_NS, &echo), 0);
	assert_int_equal(helper_take(helper, patience(), take, &echo), 0);
	assert_int_equal(echo.value, 5);
	assert_int_equal(helper_take(helper, 0, take, &echo), -ETIMEDOUT);
	assert_answered(helper, 6, 2);
}

/* A reply that arrives after its call has timed out is returned by a later helper_take(). */
static void late_answer(void **state)
{
	struct message request = {.fd = -1};
	struct helper *helper = *state;
	struct echo echo;

	assert_answered(helper, 1, 1);
	process_stop(helper->pid);
	message_put_u32(&request, ECHO);
	message_put_u32(&request, 9);
	assert_int_equal(helper_send(helper, &request, patience()), 0);
	message_deinit(&request);
	assert_int_equal(helper_take(helper, clock_deadline_ns(SHORT_NS), take, &echo), -ETIMEDOUT);
	assert_int_equal(kill(helper->pid, SIGCONT), 0);
	assert_int_equal(helper_take(helper, patience(), take, &echo), 0);
	assert_int_equal(echo.value, 9);
	assert_int_equal(helper->incarnation, 1);
}

static void given_up(void **state)
{
	struct helper *helper = *state;
	struct echo echo;

	assert_int_equal(call(helper, SILENCE, 1, SHORT_NS, &echo), -ETIMEDOUT);
	assert_int_equal(helper->pid, 0);
	assert_answered(helper, 2, 1);
	assert_int_equal(helper->incarnation, 2);
}

static void dies(void **state)
{
	struct helper *helper = *state;
	struct echo echo;

	assert_int_equal(call(helper, DEATH, 1, PATIENCE_NS, &echo), -EPIPE);
	assert_int_equal(helper_take(helper, patience(), take, &echo), -EPIPE);
	assert_answered(helper, 2, 1);
}

/*
 * If the helper was killed while idle, the next request is lost, and the one after it starts a new
 * helper.
 */
static void killed_while_idle(void **state)
{
	struct helper *helper = *state;
	struct echo echo;

	assert_answered(helper, 1, 1);
	assert_int_equal(kill(helper->pid, SIGKILL), 0);
	assert_int_equal(poll(&(struct pollfd){.fd = helper->sock, .events = POLLIN}, 1, -1), 1);
	assert_int_equal(call(helper, ECHO, 2, PATIENCE_NS, &echo), -EPIPE);
	assert_answered(helper, 3, 1);
}

static void talks_nonsense(void **state)
{
	struct message request = {.fd = -1};
	struct helper *helper = *state;

	message_put_u32(&request, ECHO);
	message_put_u32(&request, 1);
	assert_int_equal(helper_call(helper, &request, patience(), refuse, NULL), -EPROTO);
	message_deinit(&request);
	assert_int_equal(helper->pid, 0);
	assert_answered(helper, 2, 1);
}

/* A helper that uses a processor without being asked is ended. */
static void spins(void **state)
{
	struct helper *helper = *state;
	struct echo echo;

	if (HELPER_SANITIZED)
		skip();
	assert_int_equal(call(helper, SPIN, 1, PATIENCE_NS, &echo), 0);
	while (helper_cpu_ns(helper->pid) < helper->message_cpu_ns + 2 * SHORT_NS)
		;
	helpers_end_spinning(PATIENCE_NS);
	assert_int_not_equal(helper->pid, 0);
	helpers_end_spinning(SHORT_NS);
	assert_int_equal(helper->pid, 0);
	assert_answered(helper, 2, 1);
}

/* A helper that works on a request is not ended: who has sent the request decides when to end it.
 */
static void works(void **state)
{
	struct message request = {.fd = -1};
	struct helper *helper = *state;
	struct echo echo;

	assert_answered(helper, 1, 1);
	message_put_u32(&request, WORK);
	message_put_u32(&request, 9);
	assert_int_equal(helper_send(helper, &request, patience()), 0);
	message_deinit(&request);
	while (helper_cpu_ns(helper->pid) < helper->message_cpu_ns + 2 * SHORT_NS)
		;
	helpers_end_spinning(SHORT_NS);
	assert_int_equal(helper_take(helper, patience(), take, &echo), 0);
	assert_int_equal(helper->incarnation, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(starts_on_demand, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sends_files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(file_in_answer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(several_answers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(late_answer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(given_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(dies, set_up, tear_down),
		cmocka_unit_test_setup_teardown(killed_while_idle, set_up, tear_down),
		cmocka_unit_test_setup_teardown(talks_nonsense, set_up, tear_down),
		cmocka_unit_test_setup_teardown(spins, set_up, tear_down),
		cmocka_unit_test_setup_teardown(works, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
