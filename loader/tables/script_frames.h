/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The script frames of a stack, which the programs store behind its native frames. */
#ifndef LOADER_TABLES_SCRIPT_FRAMES_H
#define LOADER_TABLES_SCRIPT_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/memleak.h"

struct script_frames {
	struct memleak_script_frame items[MEMLEAK_SCRIPT_FRAMES_MAX];
	size_t cnt;
};

/* Takes the script frames out of a stack, which has room for `depth` frames. */
void script_frames_take(struct memleak_stack *stack, size_t depth, struct script_frames *ret);
/* Puts them back, as far as there is room: the native frames may have been replaced. */
void script_frames_put(const struct script_frames *frames, size_t depth,
		       struct memleak_stack *stack);

/* Returns the hash of a stack as the programs compute it. hash: of the native frames. */
uint64_t script_frames_hash(const struct script_frames *frames, uint64_t hash);

#endif
