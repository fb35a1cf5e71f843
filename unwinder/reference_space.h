/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks copied stacks by libdwfl. What it reads is hostile (files, stacks, what they claim of each
 * other), so this runs in a helper process (reference_worker.c), and in tests.
 */
#ifndef UNWINDER_REFERENCE_SPACE_H
#define UNWINDER_REFERENCE_SPACE_H

#include "unwinder/reference_stack.h"

/* The code of a process. */
struct reference_space;

/* 0 or -ENOMEM */
int reference_space__new(struct reference_space **ret);
void reference_space__free(struct reference_space *space);

/*
 * The process has mapped a file as code. Before the first walk. fd is taken. What is no ELF file
 * adds nothing.
 */
void reference_space__add(struct reference_space *space, int fd, const struct reference_code *code);

void reference_space__walk(struct reference_space *space, const struct unwind_copy *copy,
			   struct reference_stack *ret);

#endif
