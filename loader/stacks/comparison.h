/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has libdwfl walk some of the stacks a second time, sums up how far the two walks agree, and says
 * so. For tests of the unwinding: MEMLEAK_VERIFY_UNWIND.
 */
#ifndef LOADER_STACKS_COMPARISON_H
#define LOADER_STACKS_COMPARISON_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/memleak.h"
#include "loader/stacks/walker_spaces.h"

/* Places that are named with -v. */
#define COMPARISON_PLACES_MAX 20

/* A file in which stacks came to one verdict, and the first of them. */
struct comparison_place {
	enum agreement_verdict verdict;
	uint64_t stack_cnt;
	char *file;    /* NULL: no file's code */
	char *from;    /* the frame from which the two went on, as file and offset */
	char *memleak; /* what memleak found next */
	char *libdwfl; /* what libdwfl found next */
};

struct comparison {
	uint32_t wanted; /* stacks to be compared; 0: none */
	uint64_t stack_cnt;
	uint64_t frame_cnt; /* compared */
	uint64_t by_verdict[AGREEMENT_CNT];
	uint64_t deferred_cnt; /* stacks that libdwfl alone had walked: not compared */
	uint64_t unknown_cnt;  /* stacks of a process whose code was not known: not compared */
	struct comparison_place places[COMPARISON_PLACES_MAX];
	size_t place_cnt;
};

void comparison_deinit(struct comparison *comparison);

/* Compares a copied stack, if that is not enough yet. */
void comparison_take(struct comparison *comparison, struct walker_spaces *walker,
		     const struct memleak_stack_copy *copy);

/* maps: what the process had mapped; frames: memleak's; found: how they agree with libdwfl's. */
void comparison_add(struct comparison *comparison, const struct proc_maps *maps,
		    const uint64_t *frames, size_t cnt, const struct walker_stack *walker,
		    const struct agreement *found);

/* The summary as text to be freed; NULL: no memory. */
char *comparison_text(const struct comparison *comparison);

/* Logs one line, and with -v one for each place. */
void comparison_say(const struct comparison *comparison);

#endif
