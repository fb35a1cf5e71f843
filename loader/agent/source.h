/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The source of --agent. */
#ifndef LOADER_AGENT_SOURCE_H
#define LOADER_AGENT_SOURCE_H

#include "loader/source.h"
#include "options/options.h"

struct symbolizer;

/*
 * Joins the processes of -p, which have an agent. Has said what failed. 0 or a negative errno.
 */
int agent_source__new(const struct options *opts, struct symbolizer *symbolizer,
		      struct source **ret);

/*
 * Before a command is started: has it load the agent, and its children if they are followed. Has
 * said what failed.
 */
int agent_source__prepare_command(struct source *source);
/* It was started: if it ends without an account, there is none to wait for. */
void agent_source__wait_for_command(struct source *source, pid_t pid);

#endif
