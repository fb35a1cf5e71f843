/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks copied stacks by libdwfl. What it reads is hostile (files, stacks, what they claim of each
 * other), so this runs in a helper process (server.c), and in tests.
 */
#ifndef UNWINDER_SERVER_WALKER_SPACE_H
#define UNWINDER_SERVER_WALKER_SPACE_H

#include "unwinder/server/walker_stack.h"

/* The code of a process. */
struct walker_space;

/* 0 or -ENOMEM */
int walker_space__new(struct walker_space **ret);
void walker_space__free(struct walker_space *space);

/*
 * The process has mapped a file as code. Before the first walk. fd is taken. What is no ELF file
 * adds nothing.
 */
void walker_space__add(struct walker_space *space, int fd, const struct walker_code *code);

void walker_space__walk(struct walker_space *space, const struct unwind_copy *copy,
			struct walker_stack *ret);

#endif
