/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of -t as plain data. */
#ifndef REPORT_TRACE_EVENT_H
#define REPORT_TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct report_site;

#define SIZE_UNKNOWN UINT64_MAX

/* An allocation or free, written as soon as it happens. */
struct trace_event {
	int64_t wall_ns;
	bool is_free;
	pid_t pid;
	pid_t tid;
	const char *comm;
	const char *function; /* name of the called function; NULL if not known */
	uint64_t addr;
	uint64_t size;                   /* size of the block; SIZE_UNKNOWN if it is not tracked */
	const struct report_site *stack; /* stack of the call; NULL without -tt */
};

#endif
