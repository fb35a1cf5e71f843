/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts maps into maps of maps. The programs see the new map at once, but the kernel holds up the
 * caller for more than 10 ms, until no program can be using the old one any more. So threads do it.
 */
#ifndef LOADER_STACKS_MAP_UPDATER_H
#define LOADER_STACKS_MAP_UPDATER_H

#include <stdint.h>

struct map_updater;

/* 0 or a negative errno. */
int map_updater__new(struct map_updater **ret);
void map_updater__free(struct map_updater *map_updater);

/* Puts a map into a map of maps under key. 0: the programs see it. Else a negative errno. */
int map_updater__put(struct map_updater *map_updater, int maps_fd, uint32_t key, int map_fd);

/* Has what is under key taken out soon. All of these are of the same map of maps. */
void map_updater__remove(struct map_updater *map_updater, int maps_fd, uint32_t key);

#endif
