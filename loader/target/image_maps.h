/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executable mappings in the order in which they were made, as a list by address. Unmapping is not
 * told, so what was mapped stays until something else is mapped there. Forks share a list until
 * one of them maps something. Knows nothing of processes.
 */
#ifndef LOADER_TARGET_IMAGE_MAPS_H
#define LOADER_TARGET_IMAGE_MAPS_H

#include <stddef.h>

#include "base/proc_maps.h"

/*
 * A list keeps so many mappings: a process that makes and removes code all the time must not fill
 * our memory. The oldest without a file goes first; if all have one, the new one is not taken.
 */
#define IMAGE_MAPS_MAX 2048

struct image_maps;

/* An empty list, with one user. The bytes that it takes are added to *bytes. -ENOMEM. */
int image_maps__new(size_t *bytes, struct image_maps **ret);
struct image_maps *image_maps__share(struct image_maps *maps);
void image_maps__free(struct image_maps *maps);

/*
 * Adds a mapping, whose path has path_len bytes; what it overlaps goes, or loses a part. *maps
 * becomes a copy if others use it. -ENOSPC: not taken, the list is full; -ENOMEM.
 */
int image_maps__add(struct image_maps **maps, const struct mapping *mapping, const char *path,
		    size_t path_len);

/* A copy to be given to proc_maps_deinit. -ENOMEM. */
int image_maps__copy(const struct image_maps *maps, struct proc_maps *ret);

#endif
