/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts maps into maps of maps. Programs see the new map at once, but the kernel blocks the caller
 * for more than 10 ms, until no program can use the old map. Hence the threads.
 */
#ifndef LOADER_STACKS_MAP_UPDATER_H
#define LOADER_STACKS_MAP_UPDATER_H

#include <stdint.h>

struct map_updater;

/* Returns 0 or a negative errno. */
int map_updater__new(struct map_updater **ret);
void map_updater__free(struct map_updater *map_updater);

/* Puts a map under key. Returns 0 when the programs see it, or a negative errno. */
int map_updater__put(struct map_updater *map_updater, int maps_fd, uint32_t key, int map_fd);

/* Removes the map under key later. All removals must use the same map of maps. */
void map_updater__remove(struct map_updater *map_updater, int maps_fd, uint32_t key);

#endif
