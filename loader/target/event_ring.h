/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ring that the kernel writes records of a perf event to. Knows nothing of what they say. */
#ifndef LOADER_TARGET_EVENT_RING_H
#define LOADER_TARGET_EVENT_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

struct event_ring {
	struct perf_event_mmap_page *control;
	const uint8_t *data;
	size_t data_bytes; /* a power of two */
};

/* Room for a record that goes over the ring's end. */
struct event_ring_copy {
	_Alignas(8) uint8_t bytes[UINT16_MAX];
};

/*
 * The next record, in the ring or in copy, valid until it is skipped; NULL: none. What does not
 * look like one is dropped with all that is behind it, and *broken is counted up.
 */
const struct perf_event_header *event_ring_peek(const struct event_ring *ring,
						struct event_ring_copy *copy, uint64_t *broken);

/* Gives its place back to the kernel. */
void event_ring_skip(const struct event_ring *ring, size_t bytes);

#endif
