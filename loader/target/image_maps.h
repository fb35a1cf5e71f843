/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of an image's executable mappings by address, built in the order of their creation.
 * Unmapping is not reported, so a mapping stays until another one replaces it. Forked images share
 * a list until one of them maps something. Knows nothing of processes.
 */
#ifndef LOADER_TARGET_IMAGE_MAPS_H
#define LOADER_TARGET_IMAGE_MAPS_H

#include <stddef.h>

#include "base/proc_maps.h"

/*
 * Maximum mappings in a list: limits memory when a process makes and removes code all the time. The
 * oldest mapping without a file is dropped first; if all have files, a new one is rejected.
 */
#define IMAGE_MAPS_MAX 2048

struct image_maps;

/*
 * Creates an empty list with one user. Its size in bytes is added to *bytes. Returns 0 or -ENOMEM.
 */
int image_maps__new(size_t *bytes, struct image_maps **ret);
struct image_maps *image_maps__share(struct image_maps *maps);
void image_maps__free(struct image_maps *maps);

/*
 * Adds a mapping, whose path has path_len bytes, and removes what it overlaps. *maps becomes a copy
 * if the list is shared. Returns 0, -ENOSPC if the list is full, or -ENOMEM.
 */
int image_maps__add(struct image_maps **maps, const struct mapping *mapping, const char *path,
		    size_t path_len);

/* Copies the list into ret, which proc_maps_deinit() releases. Returns 0 or -ENOMEM. */
int image_maps__copy(const struct image_maps *maps, struct proc_maps *ret);

#endif
