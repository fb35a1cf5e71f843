/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where images had code at which time. A time is a count of unloads (struct memleak_target): while
 * the count stays the same, code is only added, so a place once known stays what it is.
 */
#ifndef LOADER_STACKS_CODE_HISTORY_H
#define LOADER_STACKS_CODE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/memleak.h"

/* What an image had mapped at one time, by address. */
struct code_list {
	uint32_t image;
	uint32_t unloads;
	struct unwind_mapping *mappings;
	size_t cnt;
};

struct code_history {
	struct code_list *lists; /* oldest first; one of each image and time */
	size_t cnt;
	size_t cap;
	size_t mapping_cnt; /* of all lists */
};

void code_history_deinit(struct code_history *history);

/* Adds the newest list of an image; the mappings are copied. 0 or -ENOMEM. */
int code_history_add(struct code_history *history, uint32_t image, uint32_t unloads,
		     const struct unwind_mapping *mappings, size_t cnt);

/* An image is no more. */
void code_history_drop(struct code_history *history, uint32_t image);

/*
 * Resolves a stack of the image: its frames become places in files where that is known, and are
 * marked unsure where more than one thing may have been. It is cut behind code that was taken for
 * other code. False: a frame is unsure, so that stacks of other times with the same frames may be
 * others.
 */
bool code_history_resolve(const struct code_history *history, uint32_t image,
			  struct memleak_stack *stack);

/*
 * Whether the walk of an unresolved stack of the image was misled, so that it is to be cut or
 * walked again.
 */
bool code_history_misled(const struct code_history *history, uint32_t image,
			 const struct memleak_stack *stack);

#endif
