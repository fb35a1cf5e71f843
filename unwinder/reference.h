/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A second opinion on stacks: libdwfl walks copies of them, in a helper process without rights,
 * since the files and the stacks are hostile input. Knows nothing of BPF programs and processes;
 * never prints.
 */
#ifndef UNWINDER_REFERENCE_H
#define UNWINDER_REFERENCE_H

#include "unwinder/reference_stack.h"

struct reference;

/* Starts the helper. 0 or a negative errno. */
int reference__new(struct reference **ret);
void reference__free(struct reference *reference);

/*
 * The following return 0 or a negative errno; after one the helper is gone, with all that it was
 * told: -EPIPE (it ended over the input), -ETIMEDOUT, -EPROTO (nonsense), -ENOMEM.
 */

/* Begins the code of a process, which has a number; one that is open is begun anew. */
int reference__open(struct reference *reference, uint32_t space);
/* The process has mapped an open file as code. */
int reference__add_code(struct reference *reference, uint32_t space, int fd,
			const struct reference_code *code);
void reference__close(struct reference *reference, uint32_t space);

int reference__walk(struct reference *reference, uint32_t space, const struct unwind_copy *copy,
		    struct reference_stack *ret);

#endif
