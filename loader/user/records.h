/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the ring buffers: applies records of mappings and of process lifecycle, and passes on the
 * events of -t.
 */
#ifndef LOADER_USER_RECORDS_H
#define LOADER_USER_RECORDS_H

#include "loader/user/process_set.h"

struct records {
	struct process_set *set;
	struct ring_buffer *ring;
	struct ring_buffer *events;
	/* Receives events; NULL if none are wanted. process is NULL if its image is gone. */
	void (*event)(void *arg, struct user_process *process, const struct memleak_event *event);
	void *arg;
	bool all;            /* pass on all events, regardless of the deadline */
	uint64_t begun_ns;   /* when the current reading began */
	unsigned long until; /* write position of the record ring at begun_ns */
	/* Read and write position of the record ring, in pages mapped from the kernel. */
	unsigned long *read_to;
	unsigned long *written_to;
};

/* records->set must be set. Returns 0 or a negative errno; call records_deinit() either way. */
int records_init(struct records *records);
void records_deinit(struct records *records);
/*
 * Reads what is in the rings at the time of the call; unless all is set, events only until the
 * deadline. Returns 0 or a negative errno.
 */
int records_consume(struct records *records, bool all);

/*
 * Like records_consume(), but reads only records, no events. Afterwards begun_ns is the time until
 * which all records have been applied.
 */
int records_catch_up(struct records *records);

/* True if the record ring is empty. */
bool records_are_read(const struct records *records);

#endif
