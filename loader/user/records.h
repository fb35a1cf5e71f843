/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the ring buffers of the BPF programs. Applies records of mappings and of starts and ends of
 * processes, and passes on the events of -t.
 */
#ifndef LOADER_USER_RECORDS_H
#define LOADER_USER_RECORDS_H

#include "loader/user/item_watch.h"
#include "loader/user/process_set.h"

struct records {
	struct process_set *set;
	struct item_watches *watches;
	struct ring_buffer *ring;
	struct ring_buffer *events;
	/*
	 * Receives events; NULL if none are wanted. `process` is NULL if the event's image is gone.
	 */
	void (*event)(void *arg, struct user_process *process, const struct memleak_event *event);
	void *arg;
	bool all;          /* true to pass on all events, even after the deadline */
	uint64_t begun_ns; /* start of the current reading, or time of the latest record if later */
	unsigned long until; /* write position of the record ring when the reading began */
	/* Read and write positions of the record ring, in pages that the kernel shares. */
	unsigned long *read_to;
	unsigned long *written_to;
};

/*
 * Opens the ring buffers. Set records->set before. Returns 0 or a negative errno; call
 * records_deinit() either way.
 */
int records_init(struct records *records);
void records_deinit(struct records *records);
/*
 * Reads the records and events that were in the rings at the time of the call. Events are read
 * until the deadline. all: read all events, even after the deadline. Returns 0 or a negative errno.
 */
int records_consume(struct records *records, bool all);

/*
 * Like records_consume(), but reads neither events nor mappings. Afterwards, all records until
 * begun_ns have been applied, unless a BPF program was interrupted while writing a record.
 */
int records_catch_up(struct records *records);

/* True if the record ring is empty. */
bool records_are_read(const struct records *records);

#endif
