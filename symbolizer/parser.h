/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The library's side of the helper that parses (worker.h): asks, checks the answers, keeps to
 * deadlines, and starts another one when it ended. Knows modules, not processes.
 *
 * All requests return 0; -ETIMEDOUT when the deadline came first: the helper goes on and its
 * answers are taken by the next call; -EIO when the helper ended or answered nonsense: the module
 * has been marked; -EAGAIN when it ended but that may not have been the module's fault: it has to
 * be opened again.
 */
#ifndef PARSER_H
#define PARSER_H

#include "symbolizer/helper.h"
#include "symbolizer/module.h"
#include "symbolizer/wire.h"

enum job_kind { JOB_NONE, JOB_OPEN, JOB_DEBUG, JOB_NAMES };

struct job {
	enum job_kind kind;
	struct module *module;
	enum name_level level;
	struct name *names[WORKER_OFFSETS_MAX];
	size_t cnt;
	size_t answered;
	unsigned int generation; /* the module's when it was asked */
	int64_t since_ms;        /* when it began, or when the last answer came */
};

struct parser {
	struct helper helper;
	unsigned int incarnation; /* of the helper that runs, from 1 */
	struct job job;           /* what it works on */
	struct wire_message answer;
	unsigned int hang_ms; /* so long without an answer, over several calls, is for ever */
};

int parser_init(struct parser *parser);
void parser_deinit(struct parser *parser);

/*
 * Waits for what an earlier call left, as long as there is hope. 0: ready for requests;
 * -ETIMEDOUT.
 */
int parser_settle(struct parser *parser, int64_t deadline_ms);

/* Sends the module's file. */
int parser_open(struct parser *parser, struct module *module, int64_t deadline_ms);
/* Sends module->offered_fd; afterwards it was accepted (need has changed) or closed. */
int parser_offer(struct parser *parser, struct module *module, int64_t deadline_ms);
/* Asks for at most WORKER_OFFSETS_MAX names. */
int parser_ask(struct parser *parser, struct module *module, struct name *const *names, size_t cnt,
	       enum name_level level, int64_t deadline_ms);

#endif
