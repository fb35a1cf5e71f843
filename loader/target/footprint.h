/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the footprint of a process from /proc: no file that waits for the process's memory map. */
#ifndef LOADER_TARGET_FOOTPRINT_H
#define LOADER_TARGET_FOOTPRINT_H

#include <sys/types.h>

#include "report/snapshot.h"

/* A process that has ended has no known footprint. */
struct footprint footprint_read(pid_t pid);

#endif
