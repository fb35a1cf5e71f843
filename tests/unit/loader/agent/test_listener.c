// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests connections to the listener that do not send exactly one file descriptor. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "loader/agent/listener.h"

static int connect_to(const struct listener *listener)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	size_t len = strlen(listener->name);

	assert_true(sock >= 0);
	memcpy(addr.sun_path + 1, listener->name, len);
	assert_int_equal(connect(sock, (struct sockaddr *)&addr,
				 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)),
			 0);
	return sock;
}

static void send_fds(int sock, size_t cnt)
{
	char control[CMSG_SPACE(8 * sizeof(int))] __attribute__((aligned(8))) = {0};
	struct iovec data = {"", 1};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	struct cmsghdr *header = (struct cmsghdr *)control;

	assert_true(cnt <= 8);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(cnt * sizeof(int));
	memset(CMSG_DATA(header), 0, cnt * sizeof(int)); /* all descriptors are 0: stdin */
	if (cnt) {
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(cnt * sizeof(int));
	}
	assert_int_equal(sendmsg(sock, &message, 0), 1);
}

static size_t open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t cnt = 0;

	assert_non_null(dir);
	while (readdir(dir))
		cnt++;
	closedir(dir);
	return cnt;
}

/*
 * A message is refused unless it carries exactly one descriptor. The descriptors of a refused
 * message are closed.
 */
static void number_of_descriptors(void **state)
{
	struct listener listener;
	struct arrival arrival;
	size_t before;

	assert_int_equal(listener_init(&listener, getuid()), 0);
	before = open_fds();
	for (size_t cnt = 0; cnt <= 8; cnt++) {
		int sock = connect_to(&listener);

		send_fds(sock, cnt);
		assert_int_equal(listener_take(&listener, &arrival), cnt == 1 ? 0 : -EAGAIN);
		if (cnt == 1) {
			assert_int_equal(arrival.pid, getpid());
			assert_true(arrival.pidfd >= 0);
			close(arrival.pidfd);
			close(arrival.fd);
		}
		close(sock);
		assert_int_equal(open_fds(), before);
	}
	assert_int_equal(listener.refused, 8);
	listener_deinit(&listener);
}

/* Connections that send nothing do not block other connections. */
static void silent_guests(void **state)
{
	int socks[LISTENER_GUESTS_MAX + 1];
	struct listener listener;
	struct arrival arrival;

	assert_int_equal(listener_init(&listener, getuid()), 0);
	for (size_t i = 0; i <= LISTENER_GUESTS_MAX; i++)
		socks[i] = connect_to(&listener);
	send_fds(socks[LISTENER_GUESTS_MAX], 1);
	assert_int_equal(listener_take(&listener, &arrival), -EAGAIN);
	assert_int_equal(listener_take(&listener, &arrival), 0);
	close(arrival.pidfd);
	close(arrival.fd);
	assert_int_equal(listener.refused, 1);
	for (size_t i = 0; i <= LISTENER_GUESTS_MAX; i++)
		close(socks[i]);
	listener_deinit(&listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(number_of_descriptors),
		cmocka_unit_test(silent_guests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
