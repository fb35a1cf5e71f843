/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measures the CPU time that tracing costs the traced processes. */
#ifndef LOADER_USER_COST_H
#define LOADER_USER_COST_H

#include "loader/user/process_set.h"

/*
 * Returns the total CPU time of all processes; 0 if a process has ended, because its time is then
 * unknown.
 */
uint64_t user_cost_cpu_ns(const struct process_set *set);
void user_cost_begin(struct process_set *set);
/* Sets the cost of tracing in the snapshot. */
void user_cost_read(struct process_set *set, struct snapshot *snap);

#endif
