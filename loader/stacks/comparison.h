/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks some stacks again with libdwfl and reports how far the two walks agree. Used by tests of
 * the unwinder: MEMLEAK_VERIFY_UNWIND.
 */
#ifndef LOADER_STACKS_COMPARISON_H
#define LOADER_STACKS_COMPARISON_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/memleak.h"
#include "loader/stacks/walker_spaces.h"

/* Maximum places listed with -v. */
#define COMPARISON_PLACES_MAX 20

/* Counts the stacks that got the same verdict in one file; describes the first of them. */
struct comparison_place {
	enum agreement_verdict verdict;
	uint64_t stack_cnt;
	char *file;    /* NULL if the code has no file */
	char *from;    /* last frame on which both walks agree, as file and offset */
	char *memleak; /* memleak's next frame */
	char *libdwfl; /* libdwfl's next frame */
};

struct comparison {
	uint32_t wanted; /* number of stacks to compare; 0 disables the comparison */
	uint64_t stack_cnt;
	uint64_t frame_cnt; /* frames compared */
	uint64_t by_verdict[AGREEMENT_CNT];
	uint64_t deferred_cnt; /* stacks that only libdwfl walked, so not compared */
	uint64_t unknown_cnt;  /* stacks through unknown code, so not compared */
	struct comparison_place places[COMPARISON_PLACES_MAX];
	size_t place_cnt;
};

void comparison_deinit(struct comparison *comparison);

/* Compares a copied stack, unless enough stacks have been compared. */
void comparison_take(struct comparison *comparison, struct walker_spaces *walker,
		     const struct memleak_stack_copy *copy);

/*
 * Adds one result. maps: the process's mappings; frames: memleak's walk; walker: libdwfl's walk;
 * found: how far they agree.
 */
void comparison_add(struct comparison *comparison, const struct proc_maps *maps,
		    const uint64_t *frames, size_t cnt, const struct walker_stack *walker,
		    const struct agreement *found);

/* Returns the summary, to be freed by the caller; NULL if out of memory. */
char *comparison_text(const struct comparison *comparison);

/* Logs the summary, and with -v one line for each place. */
void comparison_say(const struct comparison *comparison);

#endif
