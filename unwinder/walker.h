/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks copies of stacks with libdwfl, to complete the walks made by BPF programs. Runs in
 * a helper process without rights, since files and stacks are hostile input. Knows nothing of BPF
 * programs and processes; never prints.
 */
#ifndef UNWINDER_WALKER_H
#define UNWINDER_WALKER_H

#include "unwinder/server/walker_stack.h"

struct walker;

/* Creates a walker and starts its helper. Returns 0 or a negative errno. */
int walker__new(struct walker **ret);
void walker__free(struct walker *walker);

/*
 * walker__open(), walker__add_code() and walker__walk() return 0 or one of these errors: -EPIPE
 * (the helper ended), -ETIMEDOUT, -EPROTO (invalid answer), -ENOMEM. After an error the helper has
 * been ended and all spaces are lost; the next walker__open() starts a new helper.
 */

/*
 * Creates an empty space, for the code of one process. Replaces an open space that has this number.
 */
int walker__open(struct walker *walker, uint32_t space, uint64_t deadline_ns);
/* Adds a file that the space's process has mapped as code. The caller keeps fd. */
int walker__add_code(struct walker *walker, uint32_t space, int fd, const struct walker_code *code,
		     uint64_t deadline_ns);
void walker__close(struct walker *walker, uint32_t space);

int walker__walk(struct walker *walker, uint32_t space, const struct unwind_copy *copy,
		 uint64_t deadline_ns, struct walker_stack *ret);

#endif
