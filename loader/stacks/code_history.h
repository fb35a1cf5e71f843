/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records which code each image had mapped, by unload count (struct memleak_target). While the
 * count stays the same, code is only added, so a known address keeps its meaning.
 */
#ifndef LOADER_STACKS_CODE_HISTORY_H
#define LOADER_STACKS_CODE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/memleak.h"

/* Mappings of an image at one unload count, by address. */
struct code_list {
	uint32_t image;
	uint32_t unloads;
	struct unwind_mapping *mappings;
	size_t cnt;
};

struct code_history {
	struct code_list *lists; /* oldest first; one for each image and unload count */
	size_t cnt;
	size_t cap;
	size_t mapping_cnt; /* number of mappings in all lists */
};

void code_history_deinit(struct code_history *history);

/* Copies the newest mappings of an image into the history. Returns 0 or -ENOMEM. */
int code_history_add(struct code_history *history, uint32_t image, uint32_t unloads,
		     const struct unwind_mapping *mappings, size_t cnt);

/* Drops all lists of an image that is gone. */
void code_history_drop(struct code_history *history, uint32_t image);

/*
 * Resolves the frames of a stack to files and offsets, marks ambiguous frames as unsure, and cuts
 * the stack after code that was mistaken for other code. Returns false if a frame is unsure: equal
 * frames at another unload count may then mean another stack.
 */
bool code_history_resolve(const struct code_history *history, uint32_t image,
			  struct memleak_stack *stack);

/* True if the walk of an unresolved stack was misled, so the stack must be cut or walked again. */
bool code_history_misled(const struct code_history *history, uint32_t image,
			 const struct memleak_stack *stack);

#endif
