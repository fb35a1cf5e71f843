/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses the command that a report advises to run next. */
#ifndef SINKS_NEXT_COMMAND_H
#define SINKS_NEXT_COMMAND_H

#include "report/report.h"

/*
 * Returns a command for a shell, to be freed. It has only options and numbers, and no text from the
 * traced processes. Returns NULL if there is nothing more to run, if the process is not running, if
 * the report is of a recording or a core file, or if out of memory.
 */
char *next_command(const struct report *report);

#endif
