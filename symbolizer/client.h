/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Client of the helper process that parses ELF files (server/protocol.h): sends requests, handles
 * answers, and remembers which modules crashed the helper. Knows modules, not processes.
 *
 * client_open(), client_offer() and client_ask() return 0 on success, -ENOMEM, or one of these
 * errors:
 *   -ETIMEDOUT: the deadline passed. The helper continues; client_wait() takes its answers later.
 *   -EIO: the helper ended, or sent an invalid answer. module->max_level was lowered or the offered
 *         file was closed, so that the request is not repeated.
 *   -EAGAIN: the helper ended, perhaps not because of the module. Open the module again.
 */
#ifndef SYMBOLIZER_CLIENT_H
#define SYMBOLIZER_CLIENT_H

#include "helper/call.h"
#include "symbolizer/memory_files.h"
#include "symbolizer/module.h"

enum job_kind { JOB_NONE, JOB_OPEN, JOB_DEBUG, JOB_NAMES };

struct job {
	enum job_kind kind;
	struct module *module;
	enum name_level level;
	struct name *names[SERVER_OFFSETS_MAX];
	size_t cnt;
	size_t answered;
	unsigned int asked;      /* number of memory files that the helper has requested */
	unsigned int generation; /* module->generation at the time of the request */
	uint64_t since_ns;       /* time of the request or of the latest answer */
};

struct client {
	struct helper helper;
	struct memory_files memory; /* files that this helper has requested */
	size_t opened;              /* number of modules that are open in the helper */
	struct job job;             /* job in progress; its kind is JOB_NONE if there is none */
	/* number of names on the current module's todo list that earlier jobs have handled */
	size_t named;
	size_t wanted;                /* number of names on the current module's todo list */
	sym_progress_fn *on_progress; /* may be NULL */
	/* time without an answer, in nanoseconds, after which the helper counts as hung */
	uint64_t hang_ns;
};

int client_init(struct client *client);
void client_deinit(struct client *client);

/* Calls the progress callback, if there is one. path, percent: as in sym_progress_fn. */
void client_report_progress(const struct client *client, const char *path, int percent);
/* Interval between calls of the progress callback, and delay of the first call, in nanoseconds. */
#define CLIENT_PROGRESS_NS 250000000ULL

/* True if another thread needs the symbolizer soon, or if a termination signal is pending. */
bool client_is_interrupted(void);

/*
 * Waits for the job that an earlier call left unfinished, if there is one; gives the job up if the
 * helper hangs. Returns 0 if a new request can be sent, -ETIMEDOUT or -ENOMEM.
 */
int client_wait(struct client *client, uint64_t deadline_ns);

/* Asks the helper to open the module's file. */
int client_open(struct client *client, struct module *module, uint64_t deadline_ns);
/*
 * Asks the helper to close the module's files. Returns false if the helper is busy; the caller can
 * retry later.
 */
bool client_close(struct client *client, struct module *module);
/*
 * Offers the file module->offered_fd to the helper as the debug file that the module needs. Returns
 * 0 if the helper has checked the file: if it was the needed file, module->need has changed; if
 * not, the file was closed.
 */
int client_offer(struct client *client, struct module *module, uint64_t deadline_ns);
/* Asks the helper to look up cnt names (at most SERVER_OFFSETS_MAX), and stores the results. */
int client_ask(struct client *client, struct module *module, struct name *const *names, size_t cnt,
	       enum name_level level, uint64_t deadline_ns);

#endif
