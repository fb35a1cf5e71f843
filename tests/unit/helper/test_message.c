// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests messages of several packets, and a sender that breaks the protocol. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "helper/message.h"

/* First byte of each packet except the last one of its message */
#define MORE 1
#define PATIENCE_NS UINT64_C(10000000000)

static void make_pair(int *ret)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret), 0);
}

static void close_pair(const int *socks)
{
	close(socks[0]);
	close(socks[1]);
}

static void several_packets(void **state)
{
	enum { NUMBERS = 20000 };
	struct message sent = {.fd = -1}, received = {.fd = -1};
	struct message_cursor cursor;
	int socks[2];

	make_pair(socks);
	for (uint32_t i = 0; i < NUMBERS; i++)
		message_put_u32(&sent, i);
	assert_true(sent.len > 2 * MESSAGE_PACKET_BYTES);
	assert_int_equal(message_send(socks[0], &sent, clock_deadline_ns(PATIENCE_NS)), 0);
	assert_int_equal(message_receive(socks[1], &received, 0), 0);
	cursor = message_read(&received);
	for (uint32_t i = 0; i < NUMBERS; i++)
		assert_int_equal(message_get_u32(&cursor), i);
	assert_true(cursor.at == cursor.end && !cursor.bad);
	message_deinit(&sent);
	message_deinit(&received);
	close_pair(socks);
}

/* A small packet that announces another is rejected: endless ones could keep a receiver busy. */
static void endless_message(void **state)
{
	const char packet[] = {MORE, 'a'};
	struct message msg = {.fd = -1};
	int socks[2];

	make_pair(socks);
	for (int i = 0; i < 8; i++)
		assert_int_equal(send(socks[0], packet, sizeof(packet), 0), sizeof(packet));
	assert_int_equal(message_receive(socks[1], &msg, 0), -EPROTO);
	/* Only one of the eight packets was received: seven are left. */
	for (int i = 0; i < 7; i++)
		assert_int_equal(recv(socks[1], &(char[4]){0}, 4, MSG_DONTWAIT), sizeof(packet));
	assert_int_equal(recv(socks[1], &(char[4]){0}, 4, MSG_DONTWAIT), -1);
	message_deinit(&msg);
	close_pair(socks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_packets),
		cmocka_unit_test(endless_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
