/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Removes shared probes from files that no traced process maps any longer. */
#ifndef LOADER_USER_PROBE_SWEEP_H
#define LOADER_USER_PROBE_SWEEP_H

#include "loader/user/process_set.h"

struct probe_sweep {
	uint64_t last_ns; /* time of the last search for unused files */
};

/* Runs a sweep if one is due. */
void probe_sweep_run(struct probe_sweep *sweep, struct process_set *set);

#endif
