/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between memleak and its helpers over a SOCK_SEQPACKET pair: numbers, strings and at most
 * one file descriptor. Received data is not trusted: reading past the end of a message sets
 * cursor->bad, and all later reads return 0 or NULL.
 */
#ifndef HELPER_MESSAGE_H
#define HELPER_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum packet size in bytes. Longer messages are split; a request must fit into one packet. */
#define MESSAGE_PACKET_BYTES (32 * 1024)
/* Maximum length of a string, in bytes; longer strings are truncated. */
#define MESSAGE_STRING_BYTES (64 * 1024)
#define MESSAGE_BYTES_MAX (8 * 1024 * 1024)

/* Value of deadline_ns (CLOCK_MONOTONIC) for no deadline. */
#define MESSAGE_FOREVER UINT64_MAX

/*
 * A message that is being written or received. An all-zero message with fd -1 is valid and empty.
 */
struct message {
	unsigned char *data;
	size_t len;
	size_t cap;
	int fd;      /* fd to send, or fd that was received; -1 if there is none */
	bool failed; /* true if memory ran out while the message was written */
};

void message_deinit(struct message *msg);
/* Empties a message for reuse. Closes its fd, if there is one. */
void message_reset(struct message *msg);

void message_put_u32(struct message *msg, uint32_t value);
void message_put_u64(struct message *msg, uint64_t value);
/* Writes `len` bytes. The length is not sent: the receiver must know it. */
void message_put_bytes(struct message *msg, const void *data, size_t len);
/* Writes a string. NULL is received as NULL, not as "". */
void message_put_string(struct message *msg, const char *text);

struct message_cursor {
	const unsigned char *at;
	const unsigned char *end;
	bool bad;
};

struct message_cursor message_read(const struct message *msg);
uint32_t message_get_u32(struct message_cursor *cursor);
uint64_t message_get_u64(struct message_cursor *cursor);
/* Reads len bytes. Returns a pointer into the message, or NULL if fewer bytes are left. */
const void *message_get_bytes(struct message_cursor *cursor, size_t len);
/*
 * Reads a string and sets *len; the string is not NUL-terminated. Returns NULL if the sender wrote
 * NULL, or if the message is invalid (cursor->bad).
 */
const char *message_get_string(struct message_cursor *cursor, size_t *len);

/*
 * Sends a message. Its fd stays open in this process. Returns 0 or a negative errno, such as
 * -ETIMEDOUT, or -EPIPE if the other side is gone.
 */
int message_send(int sock, const struct message *msg, uint64_t deadline_ns);
/*
 * Receives a message into msg, which the caller must have reset. After -ETIMEDOUT, another call
 * receives the rest. Returns -EPIPE if the other side is gone, -EPROTO for invalid packets, or
 * -ENOMEM.
 */
int message_receive(int sock, struct message *msg, uint64_t deadline_ns);

#endif
