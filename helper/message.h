/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between memleak and its helper processes, over a SOCK_SEQPACKET pair: numbers,
 * strings and at most one file descriptor each. Nothing that is received is trusted: a cursor
 * that runs out of its message turns bad and gives zeros from then on.
 */
#ifndef HELPER_MESSAGE_H
#define HELPER_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer messages are sent in pieces; a request must fit into one. */
#define MESSAGE_PACKET_BYTES (32 * 1024)
/* What a name or path may have; longer ones are cut. */
#define MESSAGE_STRING_BYTES (64 * 1024)
#define MESSAGE_BYTES_MAX (8 * 1024 * 1024)

/* For a deadline_ns, which is a moment of CLOCK_MONOTONIC. */
#define MESSAGE_FOREVER UINT64_MAX

/* A message that is being written or received. Zero is a valid empty one, except fd: -1. */
struct message {
	unsigned char *data;
	size_t len;
	size_t cap;
	int fd;      /* sent along or received; -1: none */
	bool failed; /* no memory while it was written */
};

void message_deinit(struct message *msg);
/* Empties it for the next one, closing a received fd that nobody took. */
void message_reset(struct message *msg);

void message_put_u32(struct message *msg, uint32_t value);
void message_put_u64(struct message *msg, uint64_t value);
/* Bytes of a length that both sides know. */
void message_put_bytes(struct message *msg, const void *data, size_t len);
/* NULL is a value of its own. */
void message_put_string(struct message *msg, const char *text);

struct message_cursor {
	const unsigned char *at;
	const unsigned char *end;
	bool bad;
};

struct message_cursor message_read(const struct message *msg);
uint32_t message_get_u32(struct message_cursor *cursor);
uint64_t message_get_u64(struct message_cursor *cursor);
/* NULL: the message does not have that many. */
const void *message_get_bytes(struct message_cursor *cursor, size_t len);
/* *len bytes, without a NUL behind them. NULL: the string is NULL, or the cursor is bad. */
const char *message_get_string(struct message_cursor *cursor, size_t *len);

/* Sends all of msg; the fd stays open here. -ETIMEDOUT, -EPIPE when the other side is gone. */
int message_send(int sock, const struct message *msg, uint64_t deadline_ns);
/*
 * Receives one message into msg, which was reset. After -ETIMEDOUT the same msg goes on with what
 * it has. -EPIPE when the other side is gone, -EPROTO when it sends nonsense, -ENOMEM.
 */
int message_receive(int sock, struct message *msg, uint64_t deadline_ns);

#endif
