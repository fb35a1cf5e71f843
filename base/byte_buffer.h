/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes and reads numbers and byte strings in the format of recordings: numbers are LEB128; signed
 * numbers are first zigzag-encoded. Writer and reader both remember failures, so that callers need
 * to check for a failure only once, after the last call.
 */
#ifndef BASE_BYTE_BUFFER_H
#define BASE_BYTE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_buffer {
	uint8_t *bytes;
	size_t len;
	size_t cap;
	bool failed; /* true if a write failed for lack of memory */
};

void bytes_put(struct byte_buffer *to, const void *bytes, size_t len);
void bytes_put_number(struct byte_buffer *to, uint64_t number);
void bytes_put_signed(struct byte_buffer *to, int64_t number);
/*
 * Writes only the 64-bit words that differ between the arrays `before` and `now` (cnt words each):
 * first the number of these words; then, for each of them, the number of unchanged words directly
 * before it, and its value in `now` minus its value in `before`.
 */
void bytes_put_changes(struct byte_buffer *to, const uint64_t *before, const uint64_t *now,
		       size_t cnt);

/* A reader of bytes. After a failure, all reads return 0 or NULL. */
struct byte_reader {
	const uint8_t *at;
	const uint8_t *end;
	bool failed; /* true if a read failed, since the input is truncated or invalid */
};

const void *bytes_take(struct byte_reader *from, size_t len);
uint64_t bytes_take_number(struct byte_reader *from);
int64_t bytes_take_signed(struct byte_reader *from);
/* Reads a number; fails unless the number is below limit. */
uint64_t bytes_take_below(struct byte_reader *from, uint64_t limit);
/*
 * Reads a number of items, each of which is at least item_bytes long. Fails if the remaining input
 * is too short for all these items.
 */
size_t bytes_take_cnt(struct byte_reader *from, size_t item_bytes);
void bytes_take_changes(struct byte_reader *from, uint64_t *words, size_t cnt);

#endif
