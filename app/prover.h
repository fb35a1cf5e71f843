/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which reports have a proof, and what is said while one is made. */
#ifndef APP_PROVER_H
#define APP_PROVER_H

#include <stdbool.h>

#include "loader/source.h"
#include "options/options.h"
#include "proof/proof.h"

struct child;

struct prover {
	const struct options *opts;
	struct proof *proof; /* NULL: none is wanted */
	uint64_t reports;    /* since the last one with a proof */
	bool begun;          /* pictures have been taken */
	unsigned int wanted; /* so many of the next reports, without --prove */
	uint64_t told_ns;    /* when it was last said how far it is */
	pid_t watched;       /* the command, which stands still at its end; 0: none */
};

/* 0 or a negative errno, and it has said what failed. */
int prover_init(const struct options *opts, struct prover *ret);
void prover_deinit(struct prover *prover);

/*
 * Lets the command run, and has it stand still at its end. Without a proof, it is let run. 0 or a
 * negative errno, and it has said what failed.
 */
int prover_watch(struct prover *prover, struct child *child);
/* Readable when it does; -1: it does not. */
int prover_end_fd(const struct prover *prover);
/* That it does: the report that follows has a proof. */
void prover_at_end(struct prover *prover, struct source *source);

/* The next two reports have a proof, even without --prove: what is definite in both is lost. 0; or
 * it has said why none is possible. */
int prover_want(struct prover *prover);

/*
 * Takes pictures, if the report that begins is to have a proof. now: whatever --prove-every says.
 * ret_before_ns: see struct read_request. 0 or a negative errno.
 */
int prover_begin(struct prover *prover, struct source *source, bool now, uint64_t *ret_before_ns);
/* Fills the proof in, if one was begun. While it looks at memory, another thread has its turn. */
int prover_finish(struct prover *prover, struct snapshot *snap);
/* What was begun comes to nothing. */
void prover_cancel(struct prover *prover);

#endif
