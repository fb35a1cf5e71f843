/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks copied stacks with libdwfl. Files and stacks are hostile input, so this code runs in a
 * helper process (server.c), and in tests.
 */
#ifndef UNWINDER_SERVER_WALKER_SPACE_H
#define UNWINDER_SERVER_WALKER_SPACE_H

#include "unwinder/server/walker_stack.h"

/* The files that a process has mapped as code. */
struct walker_space;

/* Creates an empty space. Returns 0 or -ENOMEM. */
int walker_space__new(struct walker_space **ret);
void walker_space__free(struct walker_space *space);

/*
 * Adds a file that the process has mapped as code. Call this only before the first walk. Takes over
 * fd. Ignores files that are neither programs nor libraries.
 */
void walker_space__add(struct walker_space *space, int fd, const struct walker_code *code);

void walker_space__walk(struct walker_space *space, const struct unwind_copy *copy,
			struct walker_stack *ret);

#endif
