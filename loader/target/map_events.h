/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executable mappings of processes, from the kernel's records of their creation: known even if the
 * process ends before memleak can look at it. Pids are of the caller's namespace. Needs
 * CAP_PERFMON.
 */
#ifndef LOADER_TARGET_MAP_EVENTS_H
#define LOADER_TARGET_MAP_EVENTS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/proc_maps.h"
#include "loader/target/image_table.h"

struct map_events;

/* Opens events on all online CPUs. Returns 0 or a negative errno; logs nothing. */
int map_events__new(struct map_events **ret);
void map_events__free(struct map_events *events);

/* Returns a descriptor that is readable when a ring fills up. Consume before asking for maps. */
int map_events__poll_fd(const struct map_events *events);
/* Applies all records written before the call. */
void map_events__consume(struct map_events *events);

/*
 * Returns the executable mappings of the image that the process ran at a time of CLOCK_MONOTONIC,
 * or IMAGE_NEWEST: all that it, or the parent that it was forked from, has made since exec, with
 * their times (since_ns). Returns -ENOENT if they are unknown, because the program was executed
 * before the events were opened or records were lost; or -ENOMEM.
 */
int map_events__maps(const struct map_events *events, pid_t pid, uint64_t at_ns,
		     struct proc_maps *ret);

/*
 * Returns the name of the image at that time; NULL if unknown. Valid until the next consume or
 * forget.
 */
const char *map_events__comm(const struct map_events *events, pid_t pid, uint64_t at_ns);

/* Drops the ended images of this pid. */
void map_events__forget(struct map_events *events, pid_t pid);

/* Returns the number of lost records, and of images and mappings for which there was no room. */
uint64_t map_events__lost(const struct map_events *events);

#endif
