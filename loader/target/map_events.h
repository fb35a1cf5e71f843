/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executable mappings of processes as the kernel tells them when they are made: they are still
 * known when the process has ended before anybody could look. Pids are those of the caller's
 * namespace. Needs CAP_PERFMON.
 */
#ifndef LOADER_TARGET_MAP_EVENTS_H
#define LOADER_TARGET_MAP_EVENTS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/proc_maps.h"
#include "loader/target/image_table.h"

struct map_events;

/* Opens the events of all CPUs that are online. 0 or a negative errno; logs nothing. */
int map_events__new(struct map_events **ret);
void map_events__free(struct map_events *events);

/* Readable when much is waiting to be consumed; what is asked for should be consumed before. */
int map_events__poll_fd(const struct map_events *events);
/* Takes in all that was told before the call. */
void map_events__consume(struct map_events *events);

/*
 * The executable mappings of the image that the process had at a time of CLOCK_MONOTONIC, or
 * IMAGE_NEWEST: those that it, or for a fork its parent, has made since it executed a program. They
 * have their times (since_ns). -ENOENT: not known, as the program was executed before the events
 * were opened, or records were lost; -ENOMEM.
 */
int map_events__maps(const struct map_events *events, pid_t pid, uint64_t at_ns,
		     struct proc_maps *ret);

/* The name of that image; NULL: not known. Valid until the next consume or forget. */
const char *map_events__comm(const struct map_events *events, pid_t pid, uint64_t at_ns);

/* What ended of this pid is not needed any more. */
void map_events__forget(struct map_events *events, pid_t pid);

/* Records that are lost, and images and mappings for which there was no room. */
uint64_t map_events__lost(const struct map_events *events);

#endif
