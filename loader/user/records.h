/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the rings bring: mappings, the life of processes, and the events of -t, which are handed on.
 */
#ifndef LOADER_USER_RECORDS_H
#define LOADER_USER_RECORDS_H

#include "loader/user/process_set.h"

struct records {
	struct process_set *set;
	struct ring_buffer *ring;
	struct ring_buffer *events;
	/* Takes an event; process: NULL if its image is no more. NULL: nobody wants them. */
	void (*event)(void *arg, struct user_process *process, const struct memleak_event *event);
	void *arg;
	bool all;            /* events are told, whatever the time */
	uint64_t begun_ns;   /* when it began to take in */
	unsigned long until; /* how far the ring of records had been written then */
	/* How far it has been read and written; the kernel's, mapped. */
	unsigned long *read_to;
	unsigned long *written_to;
};

/* The set is filled in. 0 or a negative errno; to be deinited either way. */
int records_init(struct records *records);
void records_deinit(struct records *records);
/* Takes in what was there when it is called; not all: as far as time allows. 0 or a negative errno.
 */
int records_consume(struct records *records, bool all);

/* The same for the records alone that have come since; begun_ns is then: all until then are in. */
int records_catch_up(struct records *records);

/* Whether no record waits. */
bool records_are_read(const struct records *records);

#endif
