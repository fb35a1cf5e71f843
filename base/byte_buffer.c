// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes numbers and byte strings, and reads them back from untrusted bytes. */
#include "base/byte_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define NUMBER_BYTES 10

void bytes_put(struct byte_buffer *to, const void *bytes, size_t len)
{
	if (to->failed)
		return;
	if (len > to->cap - to->len) {
		to->failed = len > SIZE_MAX - to->len ||
			     array_reserve(&to->bytes, &to->cap, to->len + len);
		if (to->failed)
			return;
	}
	if (len)
		memcpy(to->bytes + to->len, bytes, len);
	to->len += len;
}

void bytes_put_number(struct byte_buffer *to, uint64_t number)
{
	uint8_t bytes[NUMBER_BYTES];
	size_t len = 0;

	for (; number >= 0x80; number >>= 7)
		bytes[len++] = (uint8_t)(number | 0x80);
	bytes[len++] = (uint8_t)number;
	bytes_put(to, bytes, len);
}

void bytes_put_signed(struct byte_buffer *to, int64_t number)
{
	bytes_put_number(to, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

void bytes_put_changes(struct byte_buffer *to, const uint64_t *before, const uint64_t *now,
		       size_t cnt)
{
	size_t changed = 0, next = 0;

	for (size_t i = 0; i < cnt; i++)
		changed += before[i] != now[i];
	bytes_put_number(to, changed);
	for (size_t i = 0; i < cnt; i++) {
		if (before[i] == now[i])
			continue;
		bytes_put_number(to, i - next);
		bytes_put_signed(to, (int64_t)(now[i] - before[i]));
		next = i + 1;
	}
}

const void *bytes_take(struct byte_reader *from, size_t len)
{
	const uint8_t *at = from->at;

	if (from->failed || len > (size_t)(from->end - at)) {
		from->failed = true;
		return NULL;
	}
	from->at += len;
	return at;
}

uint64_t bytes_take_number(struct byte_reader *from)
{
	uint64_t number = 0;

	for (unsigned int shift = 0; shift < 7 * NUMBER_BYTES; shift += 7) {
		const uint8_t *byte = bytes_take(from, 1);

		if (!byte)
			return 0;
		number |= (uint64_t)(*byte & 0x7f) << shift;
		if (!(*byte & 0x80))
			return number;
	}
	from->failed = true;
	return 0;
}

int64_t bytes_take_signed(struct byte_reader *from)
{
	uint64_t bits = bytes_take_number(from);

	return (int64_t)(bits >> 1 ^ -(bits & 1));
}

uint64_t bytes_take_below(struct byte_reader *from, uint64_t limit)
{
	uint64_t number = bytes_take_number(from);

	if (!from->failed && number < limit)
		return number;
	from->failed = true;
	return 0;
}

size_t bytes_take_cnt(struct byte_reader *from, size_t item_bytes)
{
	uint64_t cnt = bytes_take_number(from);

	if (!from->failed && cnt <= (size_t)(from->end - from->at) / item_bytes)
		return (size_t)cnt;
	from->failed = true;
	return 0;
}

void bytes_take_changes(struct byte_reader *from, uint64_t *words, size_t cnt)
{
	size_t changed = bytes_take_cnt(from, 2), next = 0;

	for (size_t i = 0; i < changed && !from->failed; i++) {
		uint64_t gap = bytes_take_below(from, cnt - next);

		if (from->failed)
			return;
		words[next + gap] += (uint64_t)bytes_take_signed(from);
		next += (size_t)gap + 1;
	}
}
