/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A second opinion on stacks: libdwfl walks copies of them, in a helper process without rights,
 * since the files and the stacks are hostile input. Knows nothing of BPF programs and processes;
 * never prints.
 */
#ifndef UNWINDER_WALKER_H
#define UNWINDER_WALKER_H

#include "unwinder/server/walker_stack.h"

struct unwinder;
struct walker;

/* Asks the unwinder's process, which outlives it; NULL: one of its own. 0 or a negative errno. */
int walker__new(struct unwinder *unwinder, struct walker **ret);
void walker__free(struct walker *walker);

/*
 * The unwinder's process has ended over somebody else's work, with all that it was told, and may be
 * told again from now on.
 */
bool walker__was_lost(struct walker *walker);

/*
 * The following return 0 or a negative errno; after one the helper is gone, with all that it was
 * told: -EPIPE (it ended over the input), -ETIMEDOUT, -EPROTO (nonsense), -ENOMEM.
 */

/* Begins the code of a process, which has a number; one that is open is begun anew. */
int walker__open(struct walker *walker, uint32_t space);
/* The process has mapped an open file as code. */
int walker__add_code(struct walker *walker, uint32_t space, int fd, const struct walker_code *code);
void walker__close(struct walker *walker, uint32_t space);

int walker__walk(struct walker *walker, uint32_t space, const struct unwind_copy *copy,
		 struct walker_stack *ret);

#endif
