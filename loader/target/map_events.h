/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executable mappings of processes, from the kernel's records of mmap(). The mappings are known
 * even if the process has ended before memleak could read them in /proc. Pids are pids in the
 * caller's namespace. Needs CAP_PERFMON.
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

/*
 * Returns a descriptor that is readable when a ring buffer is filling up. Call
 * map_events__consume() then, and also before each map_events__maps().
 */
int map_events__poll_fd(const struct map_events *events);
/* Applies all records that were written before the call. */
void map_events__consume(struct map_events *events);

/*
 * Returns the executable mappings of the image that the process ran at the time at_ns
 * (CLOCK_MONOTONIC), or of its newest image if at_ns is IMAGE_NEWEST. The list includes mappings
 * that the parent of the process made before the fork. The field since_ns of each mapping is the
 * time when it was made. Returns 0; -ENOENT if the mappings are unknown, for example because exec
 * was called before the events were opened or because records were lost; or -ENOMEM.
 */
int map_events__maps(const struct map_events *events, pid_t pid, uint64_t at_ns,
		     struct proc_maps *ret);

/*
 * Returns the name of the image that the process ran at the time at_ns; NULL if unknown. The name
 * is valid until map_events__consume() or map_events__forget() is called.
 */
const char *map_events__comm(const struct map_events *events, pid_t pid, uint64_t at_ns);

/* Drops the ended images of the process with this pid. */
void map_events__forget(struct map_events *events, pid_t pid);

#endif
