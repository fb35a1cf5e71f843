/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares the commands of memleak. Each command logs errors and returns memleak's exit code. */
#ifndef APP_COMMANDS_H
#define APP_COMMANDS_H

#include "options/options.h"

#define EXIT_CANNOT 1
#define EXIT_USAGE 2

/* memleak [-p PID | -- CMD]: traces, and prints a report at each interval. */
int trace_command(const struct options *opts);

/* memleak --rss -p PID: prints the use of resident memory; places no probes. */
int rss_command(const struct options *opts);

/* memleak report, memleak diff: work without root and without BPF. */
int report_command(const struct options *opts);
int diff_command(const struct options *opts);

/* memleak core: reports on the heap of a core file; works without root. */
int core_command(const struct options *opts);

#endif
