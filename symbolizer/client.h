/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The library's side of the helper that parses files (server/protocol.h): asks it, takes what it
 * answers, and remembers which module it failed over. Knows modules, not processes.
 *
 * All requests return 0; -ETIMEDOUT when the deadline came first: the helper goes on and its
 * answers are taken by the next call; -EIO when the helper ended or answered nonsense: the module
 * has been marked; -EAGAIN when it ended but that may not have been the module's fault: it has to
 * be opened again.
 */
#ifndef SYMBOLIZER_CLIENT_H
#define SYMBOLIZER_CLIENT_H

#include "helper/call.h"
#include "symbolizer/module.h"

enum job_kind { JOB_NONE, JOB_OPEN, JOB_DEBUG, JOB_NAMES };

struct job {
	enum job_kind kind;
	struct module *module;
	enum name_level level;
	struct name *names[SERVER_OFFSETS_MAX];
	size_t cnt;
	size_t answered;
	unsigned int generation; /* the module's when it was asked */
	uint64_t since_ns;       /* when it began, or when the last answer came */
};

struct client {
	struct helper helper;
	size_t opened;         /* so many modules have been opened in it */
	struct job job;        /* what it works on */
	size_t named;          /* of the module that it works on, in earlier jobs */
	size_t wanted;         /* and in all */
	sym_progress_fn *tell; /* may be NULL */
	uint64_t hang_ns;      /* so long without an answer, over several calls, is for ever */
};

int client_init(struct client *client);
void client_deinit(struct client *client);

/* While something is waited for: what that is. */
void client_tell(const struct client *client, const char *path, int percent);
/* So long is waited before that is told, and told again. */
#define CLIENT_TELL_NS 250000000ULL

/*
 * Waits for what an earlier call left, as long as there is hope. 0: ready for requests;
 * -ETIMEDOUT.
 */
int client_wait(struct client *client, uint64_t deadline_ns);

/* Sends the module's file. */
int client_open(struct client *client, struct module *module, uint64_t deadline_ns);
/* Has the helper close the module's files. False: it is at work, and may be asked again later. */
bool client_close(struct client *client, struct module *module);
/* Sends module->offered_fd; afterwards it was accepted (need has changed) or closed. */
int client_offer(struct client *client, struct module *module, uint64_t deadline_ns);
/* Asks for at most SERVER_OFFSETS_MAX names. */
int client_ask(struct client *client, struct module *module, struct name *const *names, size_t cnt,
	       enum name_level level, uint64_t deadline_ns);

#endif
