/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts maps into maps of maps. Programs see the new map at once, but the kernel holds up the
 * caller, for some 10 ms, until none can be using the old one any more. Threads take that upon
 * them.
 */
#ifndef PUBLISHER_H
#define PUBLISHER_H

#include <stdint.h>

struct publisher;

/* 0 or a negative errno. */
int publisher__new(struct publisher **ret);
void publisher__free(struct publisher *publisher);

/*
 * Puts a map into a map of maps under key. When it returns 0, the programs see it. Else a negative
 * errno.
 */
int publisher__put(struct publisher *publisher, int maps_fd, uint32_t key, int map_fd);

/* Has what is under key taken away soon. */
void publisher__remove(struct publisher *publisher, int maps_fd, uint32_t key);

#endif
