/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks some stacks a second time with libdwfl and reports how far both walks agree. Used by tests
 * of the unwinder (MEMLEAK_VERIFY_UNWIND).
 */
#ifndef LOADER_STACKS_COMPARISON_H
#define LOADER_STACKS_COMPARISON_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/memleak.h"
#include "loader/stacks/walker_spaces.h"

/* Maximum places that are listed with -v. */
#define COMPARISON_PLACES_MAX 20

/*
 * Number of stacks with the same verdict in the same file, and a description of the first of these
 * stacks.
 */
struct comparison_place {
	enum agreement_verdict verdict;
	uint64_t stack_cnt;
	char *file;    /* path of the file; NULL if the code has no file */
	char *from;    /* last frame on which both walks agree, as file and offset */
	char *memleak; /* next frame in memleak's walk */
	char *libdwfl; /* next frame in libdwfl's walk */
};

struct comparison {
	uint32_t wanted; /* number of stacks to compare; 0 disables the comparison */
	uint64_t stack_cnt;
	uint64_t frame_cnt; /* frames compared */
	uint64_t by_verdict[AGREEMENT_CNT];
	uint64_t deferred_cnt; /* stacks that were not compared because only libdwfl walked them */
	uint64_t unknown_cnt;  /* stacks that were not compared because they contain unknown code */
	struct comparison_place places[COMPARISON_PLACES_MAX];
	size_t place_cnt;
};

void comparison_deinit(struct comparison *comparison);

/* Compares a copied stack, unless the wanted number of stacks has already been compared. */
void comparison_take(struct comparison *comparison, struct walker_spaces *walker,
		     const struct memleak_stack_copy *copy);

/*
 * Adds the result of one comparison. maps: the process's mappings; frames: memleak's walk of cnt
 * frames; walker: libdwfl's walk; found: how far the walks agree.
 */
void comparison_add(struct comparison *comparison, const struct proc_maps *maps,
		    const uint64_t *frames, size_t cnt, const struct walker_stack *walker,
		    const struct agreement *found);

/* Returns the summary; NULL if memory runs out. The caller frees it. */
char *comparison_text(const struct comparison *comparison);

/* Logs the summary, and with -v one line for each place. */
void comparison_say(const struct comparison *comparison);

#endif
