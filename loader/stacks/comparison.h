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

/*
 * Maximum places that are recorded, and logged with -v. Differences at further places are only
 * counted.
 */
#define COMPARISON_PLACES_MAX 20

/*
 * Stacks whose two walks differ, with the same verdict and with the last common frame in the same
 * file. `from`, `memleak` and `libdwfl` describe the first of these stacks.
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
	uint64_t deferred_cnt; /* stacks not compared because only libdwfl walked them */
	/* stacks not compared because libdwfl's helper has no mappings for them */
	uint64_t unknown_cnt;
	struct comparison_place places[COMPARISON_PLACES_MAX];
	size_t place_cnt;
};

void comparison_deinit(struct comparison *comparison);

/*
 * Walks a copied stack with libdwfl and compares the two walks. Does nothing once `wanted` stacks
 * have been compared.
 */
void comparison_take(struct comparison *comparison, struct walker_spaces *walker,
		     const struct memleak_stack_copy *copy);

/*
 * Adds the result of one comparison. maps: the process's mappings; frames: memleak's walk of cnt
 * frames; walker: libdwfl's walk; found: how far the walks agree.
 */
void comparison_add(struct comparison *comparison, const struct proc_maps *maps,
		    const uint64_t *frames, size_t cnt, const struct walker_stack *walker,
		    const struct agreement *found);

/* Returns a summary, which the caller frees; NULL if out of memory. */
char *comparison_text(const struct comparison *comparison);

/* Logs the summary; with -v, also one line for each of `places`. */
void comparison_say(const struct comparison *comparison);

#endif
