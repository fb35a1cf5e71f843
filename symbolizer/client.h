/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Client of the helper that parses files (server/protocol.h): sends requests, takes answers, and
 * remembers which module crashed the helper. Knows modules, not processes.
 *
 * All requests return 0 on success. -ETIMEDOUT: the deadline passed; the helper continues, and the
 * next call takes its answers. -EIO: the helper ended or sent an invalid answer; the module has
 * been marked. -EAGAIN: the helper ended, perhaps not because of the module; reopen the module.
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
	unsigned int generation; /* the module's generation at the time of the request */
	uint64_t since_ns;       /* time of the request or of the latest answer */
};

struct client {
	struct helper helper;
	size_t opened;  /* number of modules that the helper has open */
	struct job job; /* the job in progress */
	size_t named;   /* number of names answered by earlier jobs for the module in progress */
	size_t wanted;  /* number of names wanted of the module in progress */
	sym_progress_fn *tell; /* progress callback; may be NULL */
	uint64_t hang_ns;      /* silence longer than this (across calls) counts as a hang */
};

int client_init(struct client *client);
void client_deinit(struct client *client);

/* Calls the progress callback while memleak waits for the file at path. */
void client_tell(const struct client *client, const char *path, int percent);
/* Interval between progress reports, and delay before the first one. */
#define CLIENT_TELL_NS 250000000ULL

/*
 * Waits for the job that an earlier call left unfinished, or gives it up once it hangs. Returns 0
 * if the helper is ready for requests, or -ETIMEDOUT.
 */
int client_wait(struct client *client, uint64_t deadline_ns);

/* Sends the module's file to the helper. */
int client_open(struct client *client, struct module *module, uint64_t deadline_ns);
/*
 * Asks the helper to close the module's files. Returns false if the helper is busy: try again
 * later.
 */
bool client_close(struct client *client, struct module *module);
/*
 * Offers module->offered_fd as a debug file. Afterwards it has been accepted (module->need has
 * changed) or closed.
 */
int client_offer(struct client *client, struct module *module, uint64_t deadline_ns);
/* Asks for at most SERVER_OFFSETS_MAX names. */
int client_ask(struct client *client, struct module *module, struct name *const *names, size_t cnt,
	       enum name_level level, uint64_t deadline_ns);

#endif
