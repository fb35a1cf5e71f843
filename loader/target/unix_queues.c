// SPDX-License-Identifier: GPL-2.0-or-later
/* Asks the kernel for the UNIX sockets by netlink (sock_diag), as ss does. */
#include "loader/target/unix_queues.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/cleanup.h"

/* State of a socket that accepts connections: its queue is a number of connections. */
#define LISTENS 10
/* Maximum time to wait for a part of the list, in seconds. The kernel usually answers at once. */
#define WAIT_S 1
/* At least the size of the parts that the kernel sends */
#define PART_BYTES 32768

static int request_list(int fd)
{
	const struct {
		struct nlmsghdr header;
		struct unix_diag_req request;
	} message = {
		.header = {.nlmsg_len = sizeof(message),
			   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.request = {.sdiag_family = AF_UNIX,
			    .udiag_states = ~(1U << LISTENS),
			    .udiag_show = UDIAG_SHOW_RQLEN},
	};
	const struct timeval wait = {.tv_sec = WAIT_S};

	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)))
		return -errno;
	return send(fd, &message, sizeof(message), 0) < 0 ? -errno : 0;
}

/* Returns the unread bytes of a socket. */
static uint64_t unread_of(const struct nlmsghdr *header)
{
	const struct unix_diag_msg *socket = NLMSG_DATA(header);
	const struct rtattr *attribute = (const struct rtattr *)(socket + 1);
	int left = (int)header->nlmsg_len - (int)NLMSG_LENGTH(sizeof(*socket));

	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left))
		if (attribute->rta_type == UNIX_DIAG_RQLEN &&
		    RTA_PAYLOAD(attribute) >= sizeof(struct unix_diag_rqlen))
			return ((const struct unix_diag_rqlen *)RTA_DATA(attribute))->udiag_rqueue;
	return 0;
}

/* Returns 1 at the end of the list, 0 if there is more, or a negative errno. */
static int visit_part(const void *part, size_t bytes,
		      void (*visit)(void *arg, uint64_t inode, uint64_t bytes), void *arg)
{
	const struct nlmsghdr *header = part;

	for (; NLMSG_OK(header, bytes); header = NLMSG_NEXT(header, bytes)) {
		const struct unix_diag_msg *socket = NLMSG_DATA(header);
		uint64_t unread;

		if (header->nlmsg_type == NLMSG_DONE)
			return 1;
		if (header->nlmsg_type == NLMSG_ERROR)
			return ((const struct nlmsgerr *)NLMSG_DATA(header))->error ?: 1;
		unread = header->nlmsg_len >= NLMSG_LENGTH(sizeof(*socket)) ? unread_of(header) : 0;
		if (unread)
			visit(arg, socket->udiag_ino, unread);
	}
	return 0;
}

int unix_queues_visit(void (*visit)(void *arg, uint64_t inode, uint64_t bytes), void *arg)
{
	cleanup_close int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	_Alignas(struct nlmsghdr) char part[PART_BYTES];
	int err = fd < 0 ? -errno : request_list(fd);

	while (!err) {
		ssize_t bytes = recv(fd, part, sizeof(part), 0);

		err = bytes < 0 ? -errno : visit_part(part, (size_t)bytes, visit, arg);
	}
	return err < 0 ? err : 0;
}
