/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set of exec image numbers. */
#ifndef LOADER_TARGET_IMAGE_SET_H
#define LOADER_TARGET_IMAGE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image_set {
	uint32_t *items; /* ascending */
	size_t cnt;
	size_t cap;
};

/* Adds an image. Returns 0 or -ENOMEM. */
int image_set_add(struct image_set *set, uint32_t image);
bool image_set_has(const struct image_set *set, uint32_t image);
void image_set_clear(struct image_set *set);
void image_set_deinit(struct image_set *set);

#endif
