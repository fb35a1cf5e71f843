/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The script frames of a stack, which the BPF programs store after its native frames. */
#ifndef LOADER_TABLES_SCRIPT_FRAMES_H
#define LOADER_TABLES_SCRIPT_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/memleak.h"

struct script_frames {
	struct memleak_script_frame items[MEMLEAK_SCRIPT_FRAMES_MAX];
	size_t cnt;
};

/*
 * Removes the script frames from a stack and copies them to ret. depth: maximum number of frames of
 * the stack.
 */
void script_frames_take(struct memleak_stack *stack, size_t depth, struct script_frames *ret);
/*
 * Puts script frames back into a stack, innermost first, as many as fit: the stack may have more
 * native frames by now.
 */
void script_frames_put(const struct script_frames *frames, size_t depth,
		       struct memleak_stack *stack);

/* True if the outermost script frame has callers that are not stored. */
bool script_frames_are_cut(const struct script_frames *frames);

/*
 * Returns the hash of a stack with script frames, as the BPF programs compute it. hash: hash of the
 * native frames.
 */
uint64_t script_frames_hash(const struct script_frames *frames, uint64_t hash);

#endif
