/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts maps into maps of maps. BPF programs see a new map immediately, but the kernel blocks the
 * calling thread for more than 10 ms, until no program uses the old map. Separate threads therefore
 * make the updates.
 */
#ifndef LOADER_STACKS_MAP_UPDATER_H
#define LOADER_STACKS_MAP_UPDATER_H

#include <stdint.h>

struct map_updater;

/* Creates an updater; threads are started on demand. Returns 0 or a negative errno. */
int map_updater__new(struct map_updater **ret);
void map_updater__free(struct map_updater *map_updater);

/* Returns 0 as soon as BPF programs see the new map, or a negative errno. */
int map_updater__put(struct map_updater *map_updater, int maps_fd, uint32_t key, int map_fd);

/*
 * Schedules the removal of the map under the key, and returns immediately. All removals must be
 * from the same map of maps.
 */
void map_updater__remove(struct map_updater *map_updater, int maps_fd, uint32_t key);

#endif
