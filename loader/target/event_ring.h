/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ring buffer to which the kernel writes the records of a perf event. Knows nothing of the
 * contents of records.
 */
#ifndef LOADER_TARGET_EVENT_RING_H
#define LOADER_TARGET_EVENT_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

struct event_ring {
	struct perf_event_mmap_page *control;
	const uint8_t *data;
	size_t data_bytes; /* size of the ring in bytes, a power of two */
};

/* Buffer for the copy of a record that wraps around the end of the ring. */
struct event_ring_copy {
	_Alignas(8) uint8_t bytes[UINT16_MAX];
};

/*
 * Returns the next record, which is valid until it is skipped; NULL if there is none. A record that
 * wraps around the end of the ring is copied to *copy, and the copy is returned. A malformed record
 * is dropped together with all records after it, and *broken is incremented.
 */
const struct perf_event_header *event_ring_peek(const struct event_ring *ring,
						struct event_ring_copy *copy, uint64_t *broken);

/*
 * Skips the next records, so that the kernel can reuse their space. bytes: total size of the
 * skipped records.
 */
void event_ring_skip(const struct event_ring *ring, size_t bytes);

#endif
