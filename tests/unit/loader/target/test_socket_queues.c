// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which data in sockets counts for a process. */
#include "loader/target/socket_queues.h"

#include <netinet/in.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "loader/target/unix_queues.h"

#define BYTES 1000

/* Opens a socket of this machine with a free port. Returns the address in *ret. */
static int open_socket(int type, struct sockaddr_in *ret)
{
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(*ret);

	*ret = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	assert_int_equal(bind(fd, (struct sockaddr *)ret, sizeof(*ret)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)ret, &len), 0);
	return fd;
}

static uint64_t bytes_of(struct socket_queues *queues, pid_t pid)
{
	struct footprint footprint = {0};

	socket_queues_read(queues, pid, &footprint);
	assert_false(footprint.has_other_network);
	return footprint.parts[FOOTPRINT_SOCKETS];
}

static uint64_t now(void)
{
	struct socket_queues queues = {0};
	uint64_t ret = bytes_of(&queues, getpid());

	socket_queues_deinit(&queues);
	return ret;
}

/* Waits until the peer's acknowledgement has arrived. */
static void wait_until(uint64_t bytes)
{
	while (now() != bytes)
		usleep(1000);
}

/*
 * Data that a process has not read counts once, however many descriptors the socket has. A socket
 * that accepts connections has no data.
 */
static void unread_stream(void **state)
{
	static char bytes[BYTES] = {1};
	struct socket_queues queues = {0};
	struct sockaddr_in address;
	int listener = open_socket(SOCK_STREAM, &address);
	int sender = socket(AF_INET, SOCK_STREAM, 0), receiver, other;

	assert_int_equal(listen(listener, 8), 0);
	assert_int_equal(now(), 0);
	assert_int_equal(connect(sender, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(now(), 0);
	receiver = accept(listener, NULL, NULL);
	other = dup(receiver);
	assert_int_equal(write(sender, bytes, BYTES), BYTES);
	wait_until(BYTES);
	assert_int_equal(bytes_of(&queues, getpid()), BYTES);
	assert_int_equal(read(receiver, bytes, BYTES), BYTES);
	/* The queues are those of one moment. */
	assert_int_equal(bytes_of(&queues, getpid()), BYTES);
	assert_int_equal(bytes_of(&queues, getppid()), 0);
	wait_until(0);
	socket_queues_deinit(&queues);
	close(other);
	close(receiver);
	close(sender);
	close(listener);
}

static void unread_datagrams(void **state)
{
	static char bytes[BYTES] = {1};
	struct sockaddr_in address;
	int receiver = open_socket(SOCK_DGRAM, &address);

	assert_int_equal(
		sendto(receiver, bytes, BYTES, 0, (struct sockaddr *)&address, sizeof(address)),
		BYTES);
	assert_true(now() >= BYTES);
	assert_int_equal(read(receiver, bytes, BYTES), BYTES);
	wait_until(0);
	close(receiver);
}

static void other_network(void **state)
{
	struct socket_queues queues = {0};
	struct footprint footprint = {0};
	int ends[2], isolated;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		byte = !unshare(CLONE_NEWNET) || !unshare(CLONE_NEWUSER | CLONE_NEWNET);
		if (write(ends[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ends[0], &byte, 1), 1);
	isolated = byte;
	socket_queues_read(&queues, pid, &footprint);
	socket_queues_deinit(&queues);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ends[0]);
	close(ends[1]);
	if (!isolated)
		skip();
	assert_true(footprint.has_other_network);
	assert_int_equal(footprint.parts[FOOTPRINT_SOCKETS], 0);
}

static void ignore(void *arg, uint64_t inode, uint64_t bytes)
{
	(void)arg;
	(void)inode;
	(void)bytes;
}

/* Unread data in UNIX sockets counts for the process that does not read it. */
static void unread_unix(void **state)
{
	static char bytes[BYTES] = {1};
	int pair[2];

	if (unix_queues_visit(ignore, NULL)) {
		print_message("skipped: the kernel does not list UNIX sockets\n");
		skip();
	}
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(write(pair[0], bytes, BYTES), BYTES);
	assert_int_equal(write(pair[0], bytes, BYTES), BYTES);
	assert_int_equal(now(), 2 * BYTES);
	close(pair[0]);
	assert_int_equal(now(), 2 * BYTES);
	close(pair[1]);
	assert_int_equal(now(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unread_stream),
		cmocka_unit_test(unread_datagrams),
		cmocka_unit_test(unread_unix),
		cmocka_unit_test(other_network),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
