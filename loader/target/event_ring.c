// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads records from the ring buffer of a perf event. */
#include "loader/target/event_ring.h"

#include <string.h>

static void copy_out(const struct event_ring *ring, uint64_t from, void *to, size_t len)
{
	size_t at = from & (ring->data_bytes - 1);
	size_t first = len < ring->data_bytes - at ? len : ring->data_bytes - at;

	memcpy(to, ring->data + at, first);
	memcpy((uint8_t *)to + first, ring->data, len - first);
}

const struct perf_event_header *event_ring_peek(const struct event_ring *ring,
						struct event_ring_copy *copy, uint64_t *broken)
{
	uint64_t head = __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->control->data_tail, at = tail & (ring->data_bytes - 1);
	struct perf_event_header header;

	if (head == tail)
		return NULL;
	copy_out(ring, tail, &header, sizeof(header));
	if (head - tail > ring->data_bytes || head - tail < header.size ||
	    header.size < sizeof(header) || header.size % 8) {
		event_ring_skip(ring, head - tail);
		(*broken)++;
		return NULL;
	}
	if (at + header.size <= ring->data_bytes)
		return (const void *)(ring->data + at);
	copy_out(ring, tail, copy->bytes, header.size);
	return (const void *)copy->bytes;
}

void event_ring_skip(const struct event_ring *ring, size_t bytes)
{
	__atomic_store_n(&ring->control->data_tail, ring->control->data_tail + bytes,
			 __ATOMIC_RELEASE);
}
