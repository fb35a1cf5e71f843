// SPDX-License-Identifier: GPL-2.0-or-later
/* Encodes messages, and sends them over a SOCK_SEQPACKET pair. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/fair_lock.h"
#include "helper/message.h"

#define STRING_NULL UINT32_MAX

/* First byte of a packet: whether it is the last one of its message. */
enum { PACKET_LAST, PACKET_MORE };

void message_deinit(struct message *msg)
{
	message_reset(msg);
	free(msg->data);
	*msg = (struct message){.fd = -1};
}

void message_reset(struct message *msg)
{
	if (msg->fd >= 0)
		close(msg->fd);
	msg->fd = -1;
	msg->len = 0;
	msg->failed = false;
}

static bool reserve(struct message *msg, size_t len)
{
	if (!msg->failed && array_reserve(&msg->data, &msg->cap, msg->len + len))
		msg->failed = true;
	return !msg->failed;
}

void message_put_bytes(struct message *msg, const void *data, size_t len)
{
	if (!reserve(msg, len))
		return;
	if (len)
		memcpy(msg->data + msg->len, data, len);
	msg->len += len;
}

void message_put_u32(struct message *msg, uint32_t value)
{
	message_put_bytes(msg, &value, sizeof(value));
}

void message_put_u64(struct message *msg, uint64_t value)
{
	message_put_bytes(msg, &value, sizeof(value));
}

void message_put_string(struct message *msg, const char *text)
{
	size_t len;

	if (!text) {
		message_put_u32(msg, STRING_NULL);
		return;
	}
	len = strnlen(text, MESSAGE_STRING_BYTES);
	message_put_u32(msg, len);
	message_put_bytes(msg, text, len);
}

struct message_cursor message_read(const struct message *msg)
{
	static const unsigned char empty;
	const unsigned char *data = msg->len ? msg->data : &empty;

	return (struct message_cursor){data, data + msg->len, false};
}

const void *message_get_bytes(struct message_cursor *cursor, size_t len)
{
	const void *at = cursor->at;

	if (cursor->bad || (size_t)(cursor->end - cursor->at) < len) {
		cursor->bad = true;
		return NULL;
	}
	cursor->at += len;
	return at;
}

uint32_t message_get_u32(struct message_cursor *cursor)
{
	uint32_t value = 0;
	const void *at = message_get_bytes(cursor, sizeof(value));

	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

uint64_t message_get_u64(struct message_cursor *cursor)
{
	uint64_t value = 0;
	const void *at = message_get_bytes(cursor, sizeof(value));

	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

const char *message_get_string(struct message_cursor *cursor, size_t *len)
{
	uint32_t want = message_get_u32(cursor);

	*len = 0;
	if (cursor->bad || want == STRING_NULL)
		return NULL;
	if (want > MESSAGE_STRING_BYTES) {
		cursor->bad = true;
		return NULL;
	}
	*len = want;
	return message_get_bytes(cursor, want);
}

static int wait_for(int sock, short events, uint64_t deadline_ns)
{
	for (;;) {
		struct pollfd pfd = {.fd = sock, .events = events};
		unsigned int left_ms = clock_left_ms(deadline_ns);
		int got;

		if (!left_ms || fair_lock_is_interrupted())
			return -ETIMEDOUT;
		got = fair_lock_poll(&pfd, left_ms > INT_MAX ? -1 : (int)left_ms);
		if (got > 0)
			return 0;
		if (got < 0 && errno != EINTR)
			return -errno;
	}
}

static int send_packet(int sock, struct msghdr *header, uint64_t deadline_ns)
{
	for (;;) {
		int err;

		if (sendmsg(sock, header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
			return 0;
		if (errno == ECONNRESET || errno == EPIPE)
			return -EPIPE;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		err = wait_for(sock, POLLOUT, deadline_ns);
		if (err)
			return err;
	}
}

int message_send(int sock, const struct message *msg, uint64_t deadline_ns)
{
	size_t done = 0;

	if (msg->failed)
		return -ENOMEM;
	do {
		char control[CMSG_SPACE(sizeof(int))] = {0};
		size_t len = msg->len - done;
		unsigned char kind = len > MESSAGE_PACKET_BYTES ? PACKET_MORE : PACKET_LAST;
		struct iovec parts[] = {{&kind, 1}, {msg->data + done, 0}};
		struct msghdr header = {.msg_iov = parts, .msg_iovlen = 2};
		int err;

		parts[1].iov_len = len = len > MESSAGE_PACKET_BYTES ? MESSAGE_PACKET_BYTES : len;
		if (!done && msg->fd >= 0) {
			struct cmsghdr *cmsg = (struct cmsghdr *)control;

			header.msg_control = control;
			header.msg_controllen = sizeof(control);
			cmsg->cmsg_level = SOL_SOCKET;
			cmsg->cmsg_type = SCM_RIGHTS;
			cmsg->cmsg_len = CMSG_LEN(sizeof(int));
			memcpy(CMSG_DATA(cmsg), &msg->fd, sizeof(int));
		}
		err = send_packet(sock, &header, deadline_ns);
		if (err)
			return err;
		done += len;
	} while (done < msg->len);
	return 0;
}

/* Stores the message's first descriptor in msg->fd, and closes all others. */
static void take_fds(struct message *msg, struct msghdr *header)
{
	for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(header); cmsg; cmsg = CMSG_NXTHDR(header, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; CMSG_LEN((i + 1) * sizeof(int)) <= cmsg->cmsg_len; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof(int), sizeof(fd));
			if (msg->fd < 0)
				msg->fd = fd;
			else
				close(fd);
		}
	}
}

/*
 * Receives a packet. Returns 0 if the message is complete, 1 if more packets follow, or a negative
 * errno (-EAGAIN if no packet has arrived). All packets of a message except the last are full,
 * which limits their number: otherwise a sender could keep its receiver busy beyond any deadline.
 */
static int receive_packet(int sock, struct message *msg)
{
	char control[CMSG_SPACE(4 * sizeof(int))];
	unsigned char kind = PACKET_LAST;
	struct iovec parts[] = {{&kind, 1}, {NULL, MESSAGE_PACKET_BYTES}};
	struct msghdr header = {.msg_iov = parts,
				.msg_iovlen = 2,
				.msg_control = control,
				.msg_controllen = sizeof(control)};
	ssize_t got;

	if (!reserve(msg, MESSAGE_PACKET_BYTES))
		return -ENOMEM;
	parts[1].iov_base = msg->data + msg->len;
	got = recvmsg(sock, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (got < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	take_fds(msg, &header);
	if (!got)
		return -EPIPE;
	msg->len += got - 1;
	if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || msg->len > MESSAGE_BYTES_MAX ||
	    (kind == PACKET_MORE && got - 1 != MESSAGE_PACKET_BYTES))
		return -EPROTO;
	return kind == PACKET_MORE;
}

int message_receive(int sock, struct message *msg, uint64_t deadline_ns)
{
	for (;;) {
		int got = receive_packet(sock, msg);

		if (got == -EAGAIN) {
			got = wait_for(sock, POLLIN, deadline_ns);
			if (got)
				return got;
		} else if (got <= 0 && got != -EINTR) {
			return got;
		}
	}
}
