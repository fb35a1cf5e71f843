// SPDX-License-Identifier: GPL-2.0-or-later
/* Messages over a SOCK_SEQPACKET pair. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "symbolizer/wire.h"

#define STRING_NULL UINT32_MAX

/* The first byte of each packet. */
enum { PACKET_LAST, PACKET_MORE };

void wire_message_deinit(struct wire_message *msg)
{
	wire_message_reset(msg);
	free(msg->data);
	*msg = (struct wire_message){.fd = -1};
}

void wire_message_reset(struct wire_message *msg)
{
	if (msg->fd >= 0)
		close(msg->fd);
	msg->fd = -1;
	msg->len = 0;
	msg->failed = false;
}

static bool reserve(struct wire_message *msg, size_t len)
{
	size_t cap = msg->cap ? msg->cap : 512;
	unsigned char *data;

	if (msg->failed)
		return false;
	while (cap - msg->len < len)
		cap *= 2;
	if (cap == msg->cap)
		return true;
	data = realloc(msg->data, cap);
	if (!data) {
		msg->failed = true;
		return false;
	}
	msg->data = data;
	msg->cap = cap;
	return true;
}

static void put(struct wire_message *msg, const void *data, size_t len)
{
	if (!reserve(msg, len))
		return;
	if (len)
		memcpy(msg->data + msg->len, data, len);
	msg->len += len;
}

void wire_put_u32(struct wire_message *msg, uint32_t value)
{
	put(msg, &value, sizeof(value));
}

void wire_put_u64(struct wire_message *msg, uint64_t value)
{
	put(msg, &value, sizeof(value));
}

void wire_put_bytes(struct wire_message *msg, const void *data, size_t len)
{
	put(msg, data, len);
}

void wire_put_string(struct wire_message *msg, const char *text)
{
	size_t len;

	if (!text) {
		wire_put_u32(msg, STRING_NULL);
		return;
	}
	len = strnlen(text, WIRE_STRING_BYTES);
	wire_put_u32(msg, len);
	put(msg, text, len);
}

struct wire_cursor wire_read(const struct wire_message *msg)
{
	return (struct wire_cursor){msg->data, msg->data + msg->len, false};
}

static const void *get(struct wire_cursor *cursor, size_t len)
{
	const void *at = cursor->at;

	if (cursor->bad || (size_t)(cursor->end - cursor->at) < len) {
		cursor->bad = true;
		return NULL;
	}
	cursor->at += len;
	return at;
}

uint32_t wire_get_u32(struct wire_cursor *cursor)
{
	uint32_t value = 0;
	const void *at = get(cursor, sizeof(value));

	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

uint64_t wire_get_u64(struct wire_cursor *cursor)
{
	uint64_t value = 0;
	const void *at = get(cursor, sizeof(value));

	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

const void *wire_get_bytes(struct wire_cursor *cursor, size_t len)
{
	return get(cursor, len);
}

const char *wire_get_string(struct wire_cursor *cursor, size_t *len)
{
	uint32_t want = wire_get_u32(cursor);

	*len = 0;
	if (cursor->bad || want == STRING_NULL)
		return NULL;
	if (want > WIRE_STRING_BYTES) {
		cursor->bad = true;
		return NULL;
	}
	*len = want;
	return get(cursor, want);
}

int64_t wire_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int wait_for(int sock, short events, int64_t deadline_ms)
{
	for (;;) {
		struct pollfd pfd = {.fd = sock, .events = events};
		int64_t left = deadline_ms == WIRE_FOREVER ? -1 : deadline_ms - wire_now_ms();
		int got;

		if (deadline_ms != WIRE_FOREVER && left <= 0)
			return -ETIMEDOUT;
		got = poll(&pfd, 1, left > INT_MAX ? INT_MAX : (int)left);
		if (got > 0)
			return 0;
		if (got < 0 && errno != EINTR)
			return -errno;
	}
}

static int send_packet(int sock, struct msghdr *header, int64_t deadline_ms)
{
	for (;;) {
		int err;

		if (sendmsg(sock, header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
			return 0;
		if (errno == ECONNRESET || errno == EPIPE)
			return -EPIPE;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		err = wait_for(sock, POLLOUT, deadline_ms);
		if (err)
			return err;
	}
}

int wire_send(int sock, const struct wire_message *msg, int64_t deadline_ms)
{
	size_t done = 0;

	if (msg->failed)
		return -ENOMEM;
	do {
		char control[CMSG_SPACE(sizeof(int))] = {0};
		size_t len = msg->len - done;
		unsigned char kind = len > WIRE_PACKET_BYTES ? PACKET_MORE : PACKET_LAST;
		struct iovec parts[] = {{&kind, 1}, {msg->data + done, 0}};
		struct msghdr header = {.msg_iov = parts, .msg_iovlen = 2};
		int err;

		parts[1].iov_len = len = len > WIRE_PACKET_BYTES ? WIRE_PACKET_BYTES : len;
		if (!done && msg->fd >= 0) {
			struct cmsghdr *cmsg = (struct cmsghdr *)control;

			header.msg_control = control;
			header.msg_controllen = sizeof(control);
			cmsg->cmsg_level = SOL_SOCKET;
			cmsg->cmsg_type = SCM_RIGHTS;
			cmsg->cmsg_len = CMSG_LEN(sizeof(int));
			memcpy(CMSG_DATA(cmsg), &msg->fd, sizeof(int));
		}
		err = send_packet(sock, &header, deadline_ms);
		if (err)
			return err;
		done += len;
	} while (done < msg->len);
	return 0;
}

/* Keeps the first descriptor of a packet, closes what nobody asked for. */
static void take_fds(struct wire_message *msg, struct msghdr *header)
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

/* 0: the message is whole; 1: more is to come. */
static int receive_packet(int sock, struct wire_message *msg)
{
	char control[CMSG_SPACE(4 * sizeof(int))];
	unsigned char kind = PACKET_LAST;
	struct iovec parts[] = {{&kind, 1}, {NULL, WIRE_PACKET_BYTES}};
	struct msghdr header = {.msg_iov = parts,
				.msg_iovlen = 2,
				.msg_control = control,
				.msg_controllen = sizeof(control)};
	ssize_t got;

	if (!reserve(msg, WIRE_PACKET_BYTES))
		return -ENOMEM;
	parts[1].iov_base = msg->data + msg->len;
	got = recvmsg(sock, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (got < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	take_fds(msg, &header);
	if (!got)
		return -EPIPE;
	msg->len += got - 1;
	if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || msg->len > WIRE_MESSAGE_BYTES)
		return -EPROTO;
	return kind == PACKET_MORE;
}

int wire_receive(int sock, struct wire_message *msg, int64_t deadline_ms)
{
	for (;;) {
		int got = receive_packet(sock, msg);

		if (got == -EAGAIN) {
			got = wait_for(sock, POLLIN, deadline_ms);
			if (got)
				return got;
		} else if (got <= 0 && got != -EINTR) {
			return got;
		}
	}
}
