/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What comparisons of stacks came to, summed up and said. */
#ifndef UNWIND_VERDICTS_H
#define UNWIND_VERDICTS_H

#include <inttypes.h>
#include <stdio.h>

#include "unwinder/reference_stack.h"

struct proc_maps;

/* Places that are told of, with -v. */
#define VERDICT_PLACES_MAX 20

/* A file in which stacks came to one verdict, and the first of them. */
struct verdict_place {
	enum agreement_verdict verdict;
	uint64_t stack_cnt;
	char *file;    /* NULL: no file's code */
	char *from;    /* the frame from which the two went on, as file and offset */
	char *memleak; /* what memleak found next */
	char *libdwfl; /* what libdwfl found next */
};

struct unwind_verdicts {
	uint64_t stack_cnt;
	uint64_t frame_cnt; /* compared */
	uint64_t by_verdict[AGREEMENT_CNT];
	uint64_t late_cnt;    /* stacks that libdwfl alone had walked: not compared */
	uint64_t unknown_cnt; /* stacks of a process whose code was not known: not compared */
	struct verdict_place places[VERDICT_PLACES_MAX];
	size_t place_cnt;
};

void unwind_verdicts_deinit(struct unwind_verdicts *verdicts);

/* maps: what the process had mapped; frames: memleak's. */
void unwind_verdicts_add(struct unwind_verdicts *verdicts, const struct proc_maps *maps,
			 const uint64_t *frames, size_t cnt,
			 const struct reference_stack *reference, const struct agreement *found);

/* The summary as text to be freed; NULL: no memory. */
char *unwind_verdicts_text(const struct unwind_verdicts *verdicts);

/* One line, and with -v one for each place. */
void unwind_verdicts_say(const struct unwind_verdicts *verdicts);

#endif
