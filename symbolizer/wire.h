/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between the library and its helper processes, over a SOCK_SEQPACKET pair: numbers,
 * strings and at most one file descriptor each. Nothing that is received is trusted: a cursor
 * that runs out of its message turns bad and gives zeros from then on.
 */
#ifndef WIRE_H
#define WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer messages are sent in pieces; a request of the library must fit into one. */
#define WIRE_PACKET_BYTES (32 * 1024)
/* What a name or path may have; longer ones are cut. */
#define WIRE_STRING_BYTES (64 * 1024)
#define WIRE_MESSAGE_BYTES (8 * 1024 * 1024)

#define WIRE_FOREVER INT64_MAX

/* A message that is being written or received. Zero is a valid empty one, except fd: -1. */
struct wire_message {
	unsigned char *data;
	size_t len;
	size_t cap;
	int fd;      /* sent along or received; -1: none */
	bool failed; /* no memory while it was written */
};

void wire_message_deinit(struct wire_message *msg);
/* Empties it for the next one, closing a received fd that nobody took. */
void wire_message_reset(struct wire_message *msg);

void wire_put_u32(struct wire_message *msg, uint32_t value);
void wire_put_u64(struct wire_message *msg, uint64_t value);
/* Bytes of a length that both sides know. */
void wire_put_bytes(struct wire_message *msg, const void *data, size_t len);
/* NULL is a value of its own. */
void wire_put_string(struct wire_message *msg, const char *text);

struct wire_cursor {
	const unsigned char *at;
	const unsigned char *end;
	bool bad;
};

struct wire_cursor wire_read(const struct wire_message *msg);
uint32_t wire_get_u32(struct wire_cursor *cursor);
uint64_t wire_get_u64(struct wire_cursor *cursor);
/* NULL: the message has not so many. */
const void *wire_get_bytes(struct wire_cursor *cursor, size_t len);
/* *len bytes without a NUL at their end; NULL for NULL and for a cursor that is bad. */
const char *wire_get_string(struct wire_cursor *cursor, size_t *len);

/* CLOCK_MONOTONIC in milliseconds; deadlines are on this clock. */
int64_t wire_now_ms(void);

/* Sends all of msg; the fd stays open here. -ETIMEDOUT, -EPIPE when the other side is gone. */
int wire_send(int sock, const struct wire_message *msg, int64_t deadline_ms);
/*
 * Receives one message into msg, which was reset. After -ETIMEDOUT the same msg goes on with what
 * it has. -EPIPE when the other side is gone, -EPROTO when it sends nonsense, -ENOMEM.
 */
int wire_receive(int sock, struct wire_message *msg, int64_t deadline_ms);

#endif
