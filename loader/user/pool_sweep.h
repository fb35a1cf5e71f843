/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Removes shared probes that nobody runs into any more. */
#ifndef LOADER_USER_POOL_SWEEP_H
#define LOADER_USER_POOL_SWEEP_H

#include "loader/user/process_set.h"

struct pool_sweep {
	uint64_t last_ns; /* when files were looked for last */
};

/* Does so when it is time. */
void pool_sweep_run(struct pool_sweep *sweep, struct process_set *set);

#endif
