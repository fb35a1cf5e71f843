/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records which code each exec image had mapped at each unload count (see struct memleak_target).
 * As long as the count does not change, code is only added, so an address that had code still has
 * the same code.
 */
#ifndef LOADER_STACKS_CODE_HISTORY_H
#define LOADER_STACKS_CODE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/memleak.h"

/* The mappings of an image at one unload count, sorted by address. */
struct code_list {
	uint32_t image;
	uint32_t unloads;
	struct unwind_mapping *mappings;
	size_t cnt;
};

struct code_history {
	struct code_list *lists; /* one list for each image and unload count, oldest first */
	size_t cnt;
	size_t cap;
	size_t mapping_cnt;  /* number of mappings in all lists */
	uint32_t *shortened; /* images whose oldest lists were removed to limit memory */
	size_t shortened_cnt;
	size_t shortened_cap;
};

void code_history_deinit(struct code_history *history);

/* Copies the current mappings of an image to the history. Returns 0 or -ENOMEM. */
int code_history_add(struct code_history *history, uint32_t image, uint32_t unloads,
		     const struct unwind_mapping *mappings, size_t cnt);

/* Drops all lists of an image that is gone. */
void code_history_drop(struct code_history *history, uint32_t image);

/*
 * Resolves the frames of a stack to files and offsets, by the image's mappings at the stack's
 * unload count. If neither these nor mappings at other counts show which code was at an address,
 * marks the frame as unsure. Cuts the stack after a frame at which the walk may have gone wrong.
 * Returns false if a frame is unsure.
 */
bool code_history_resolve(const struct code_history *history, uint32_t image,
			  struct memleak_stack *stack);

/* True if code_history_resolve() would cut the stack because its walk went wrong. */
bool code_history_misled(const struct code_history *history, uint32_t image,
			 const struct memleak_stack *stack);

#endif
