/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The source (see loader/source.h) for --agent: programs in which the agent records blocks. */
#ifndef LOADER_AGENT_SOURCE_H
#define LOADER_AGENT_SOURCE_H

#include "loader/source.h"
#include "options/options.h"

struct symbolizer;

/*
 * Attaches to the processes of -p, which must have loaded the agent. Logs failures. Returns 0 or a
 * negative errno.
 */
int agent_source__new(const struct options *opts, struct symbolizer *symbolizer,
		      struct source **ret);

/*
 * Sets environment variables before a command starts: the command loads the agent, and with
 * --follow its children do, too. Logs failures. Returns 0 or a negative errno.
 */
int agent_source__prepare_command(struct source *source);
/*
 * Call after the command has started. If the command ends without sending an account, the source
 * stops waiting for one.
 */
void agent_source__wait_for_command(struct source *source, pid_t pid);

#endif
