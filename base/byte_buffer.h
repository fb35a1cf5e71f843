/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers and words as bytes, in the form of recordings: numbers in groups of 7 bits, the lowest
 * first, the 8th bit says that more follow; signed ones with the sign as their lowest bit. Both
 * ends remember that they failed, so that it need be asked only once, at the end.
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
	bool failed; /* no memory */
};

void bytes_put(struct byte_buffer *to, const void *bytes, size_t len);
void bytes_put_number(struct byte_buffer *to, uint64_t number);
void bytes_put_signed(struct byte_buffer *to, int64_t number);
/* How now differs from before, word by word. */
void bytes_put_changes(struct byte_buffer *to, const uint64_t *before, const uint64_t *now,
		       size_t cnt);

/* After a failure all that is taken is 0 or NULL. */
struct byte_reader {
	const uint8_t *at;
	const uint8_t *end;
	bool failed; /* it ends too early, or makes no sense */
};

const void *bytes_take(struct byte_reader *from, size_t len);
uint64_t bytes_take_number(struct byte_reader *from);
int64_t bytes_take_signed(struct byte_reader *from);
/* A number below limit. */
uint64_t bytes_take_below(struct byte_reader *from, uint64_t limit);
/* How many items follow, of so many bytes each at least. */
size_t bytes_take_cnt(struct byte_reader *from, size_t item_bytes);
void bytes_take_changes(struct byte_reader *from, uint64_t *words, size_t cnt);

#endif
