// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which data in sockets counts for a process. */
#include "loader/target/socket_queues.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
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

static uint64_t now(void)
{
	struct socket_queues queues = {0};
	uint64_t ret = socket_queues_of(&queues, getpid());

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
	assert_int_equal(socket_queues_of(&queues, getpid()), BYTES);
	assert_int_equal(read(receiver, bytes, BYTES), BYTES);
	/* The queues are those of one moment. */
	assert_int_equal(socket_queues_of(&queues, getpid()), BYTES);
	assert_int_equal(socket_queues_of(&queues, getppid()), 0);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
