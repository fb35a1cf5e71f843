/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A second opinion on stacks: libdwfl walks copies of them, in a helper process without rights,
 * since the files and the stacks are hostile input. Knows nothing of BPF programs and processes;
 * never prints.
 */
#ifndef UNWINDER_WALKER_H
#define UNWINDER_WALKER_H

#include "unwinder/server/walker_stack.h"

struct walker;

/* Starts the helper. 0 or a negative errno. */
int walker__new(struct walker **ret);
void walker__free(struct walker *walker);

/*
 * The following return 0 or a negative errno; after one the helper is gone, with all that it was
 * told, and the next walker__open() begins anew: -EPIPE (it ended over the input), -ETIMEDOUT,
 * -EPROTO (nonsense), -ENOMEM.
 */

/* Begins the code of a process, which has a number; one that is open is begun anew. */
int walker__open(struct walker *walker, uint32_t space, uint64_t deadline_ns);
/* The process has mapped an open file as code. */
int walker__add_code(struct walker *walker, uint32_t space, int fd, const struct walker_code *code,
		     uint64_t deadline_ns);
void walker__close(struct walker *walker, uint32_t space);

int walker__walk(struct walker *walker, uint32_t space, const struct unwind_copy *copy,
		 uint64_t deadline_ns, struct walker_stack *ret);

#endif
