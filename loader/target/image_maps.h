/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of the executable mappings of exec images (an image is what a process runs from a fork or
 * exec until its next exec or its end). Lists are sorted by address. Mappings are added in the
 * order of their creation. Since the kernel does not report unmapping, a mapping stays in the list
 * until another mapping replaces it. A forked image shares the list of its parent until one of them
 * maps something. Knows nothing of processes.
 */
#ifndef LOADER_TARGET_IMAGE_MAPS_H
#define LOADER_TARGET_IMAGE_MAPS_H

#include <stddef.h>

#include "base/proc_maps.h"

/*
 * Maximum mappings in a list. Limits memory if a process creates and removes code all the time. In
 * a full list, the oldest mapping that has no file and no name such as [vdso] is dropped; without
 * one, the new mapping is rejected.
 */
#define IMAGE_MAPS_MAX 2048

struct image_maps;

/*
 * Creates an empty list for one image; image_maps__share() lets another image use it, too. *bytes
 * is the total memory of all lists, to which the list adds its own memory. Returns 0 or -ENOMEM.
 */
int image_maps__new(size_t *bytes, struct image_maps **ret);
struct image_maps *image_maps__share(struct image_maps *maps);
void image_maps__free(struct image_maps *maps);

/*
 * Adds a mapping, and removes the parts of older mappings that it overlaps. `path` need not end
 * with NUL; path_len is its length. If the list is shared, it is copied first, and *maps is set to
 * the copy. Returns 0, -ENOSPC if the list is full, or -ENOMEM.
 */
int image_maps__add(struct image_maps **maps, const struct mapping *mapping, const char *path,
		    size_t path_len);

/*
 * Copies the list to *ret. The caller frees the copy with proc_maps_deinit(). Returns 0 or -ENOMEM.
 */
int image_maps__copy(const struct image_maps *maps, struct proc_maps *ret);

#endif
