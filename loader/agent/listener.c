// SPDX-License-Identifier: GPL-2.0-or-later
/* Accepts connections, and identifies the sending processes by their sockets. Never blocks. */
#include "loader/agent/listener.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"

/* Maximum number of connections that the kernel queues. */
#define WAITING_MAX 4096

/*
 * Maximum number of descriptors that the kernel installs from one message. The number is even:
 * otherwise, one more descriptor would fit into the padding of the buffer.
 */
#define FDS_MAX 2

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

static int watch(const struct listener *listener, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	return epoll_ctl(listener->poll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

int listener_init(struct listener *ret, uid_t uid)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	uint64_t number;
	size_t len;

	ret->uid = uid;
	ret->guest_cnt = ret->refused = 0;
	ret->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	ret->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (ret->poll_fd < 0 || ret->fd < 0 ||
	    getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -errno;
	snprintf(ret->name, sizeof(ret->name), "memleak-%d-%016llx", (int)getpid(),
		 (unsigned long long)number);
	len = strlen(ret->name);
	memcpy(addr.sun_path + 1, ret->name, len);
	if (bind(ret->fd, (struct sockaddr *)&addr,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)) ||
	    listen(ret->fd, WAITING_MAX))
		return -errno;
	return watch(ret, ret->fd);
}

void listener_deinit(struct listener *listener)
{
	for (size_t i = 0; i < listener->guest_cnt; i++)
		close(listener->guests[i]);
	listener->guest_cnt = 0;
	if (listener->fd >= 0)
		close(listener->fd);
	if (listener->poll_fd >= 0)
		close(listener->poll_fd);
	listener->fd = listener->poll_fd = -1;
}

/*
 * Returns the descriptor in a control message. If the message has several descriptors, closes them
 * and returns -EPROTO.
 */
static int only_fd(const struct cmsghdr *header)
{
	size_t cnt = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	int fds[FDS_MAX];

	if (cnt > FDS_MAX)
		return -EPROTO;
	memcpy(fds, CMSG_DATA(header), cnt * sizeof(int));
	for (size_t i = 0; cnt != 1 && i < cnt; i++)
		close(fds[i]);
	return cnt == 1 ? fds[0] : -EPROTO;
}

/*
 * Receives the message of a connection, and returns the descriptor in it. Returns -EAGAIN if the
 * message has not arrived yet, -EPROTO if it does not contain exactly one descriptor.
 */
static int receive(int sock)
{
	char control[CMSG_SPACE(FDS_MAX * sizeof(int))] __attribute__((aligned(8)));
	char byte;
	struct iovec data = {&byte, 1};
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header;

	if (recvmsg(sock, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) < 0)
		return errno == EAGAIN ? -EAGAIN : -EPROTO;
	header = CMSG_FIRSTHDR(&message);
	return header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS
		       ? only_fd(header)
		       : -EPROTO;
}

/* Returns the process at the other end of a connection, as of the time when it connected. */
static struct ucred peer_of(int sock)
{
	struct ucred peer = {.uid = (uid_t)-1};
	socklen_t len = sizeof(peer);

	getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &len);
	return peer;
}

/*
 * Returns a pidfd of the process at the other end of a connection; -1 if it has ended. Kernels
 * without SO_PEERPIDFD know only its pid, which may belong to another process meanwhile.
 */
static int pidfd_of_peer(int sock, pid_t pid)
{
	socklen_t len = sizeof(int);
	int fd;

	if (!getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, &fd, &len))
		return fd;
	return errno == ENOPROTOOPT ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

/*
 * Refuses a connection. Logs the first refusal, as the connection may be from the traced program:
 * if that program runs as an unexpected user, memleak cannot distinguish it from other programs of
 * this user.
 */
static void refuse(struct listener *listener, int sock, pid_t pid)
{
	close(sock);
	if (!listener->refused++)
		log_note("process %d refused: it runs as another user; start the command with "
			 "--user",
			 (int)pid);
}

static void let_in(struct listener *listener)
{
	while (listener->guest_cnt < LISTENER_GUESTS_MAX) {
		int sock = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
		struct ucred peer;

		if (sock < 0 && errno == ECONNABORTED)
			continue;
		if (sock < 0)
			return;
		peer = peer_of(sock);
		if ((!peer.uid || peer.uid == listener->uid) && !watch(listener, sock))
			listener->guests[listener->guest_cnt++] = sock;
		else
			refuse(listener, sock, peer.pid);
	}
}

int listener_take(struct listener *listener, struct arrival *ret)
{
	let_in(listener);
	for (size_t i = 0; i < listener->guest_cnt;) {
		int sock = listener->guests[i], fd = receive(sock);

		if (fd == -EAGAIN) {
			i++;
			continue;
		}
		/*
		 * Take the messages in order of connection, so that parents come before their
		 * children. Each connection has one message: a process that executes another
		 * program connects again.
		 */
		array_remove(listener->guests, &listener->guest_cnt, i);
		if (fd >= 0) {
			pid_t pid = peer_of(sock).pid;

			*ret = (struct arrival){fd, pid, pidfd_of_peer(sock, pid)};
			close(sock);
			return 0;
		}
		close(sock);
		listener->refused++;
	}
	/*
	 * No connection has a usable account, and no more connections can be accepted: close the
	 * oldest one.
	 */
	if (listener->guest_cnt == LISTENER_GUESTS_MAX) {
		close(listener->guests[0]);
		array_remove(listener->guests, &listener->guest_cnt, 0);
		listener->refused++;
	}
	return -EAGAIN;
}
