/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes of one file's functions: which of these need any, at which instruction, and how
 * their results are seen.
 */
#ifndef LOADER_PROBES_PROBE_LIST_H
#define LOADER_PROBES_PROBE_LIST_H

#include "loader/probes/allocators.h"
#include "loader/probes/probe_set.h"
#include "prober/server/function.h"

/* A function that gets no probe, and why. */
struct left_function {
	const char *name;
	enum function_verdict verdict;
	const char *through; /* FUNCTION_THROUGH: the other function that every call passes */
};

struct probe_list {
	struct probe *items;        /* instructions that return first */
	struct probe_place *places; /* with texts of what was found */
	size_t cnt;
	size_t cap;
	size_t place_cap;
	struct left_function *left;
	size_t left_cnt;
	size_t left_cap;
	bool throws; /* an exception may leave one of the functions */
};

/*
 * The chosen ones of a file's functions; their names are indexes into functions and wanted. What
 * does all by another one is left. To be deinited even if it fails. Returns 0 or a negative errno.
 */
int probe_list_init(const struct allocator_function *functions,
		    const struct wanted_functions *wanted, const struct found_function *chosen,
		    size_t cnt, bool entries, struct probe_list *ret);
void probe_list_deinit(struct probe_list *list);

#endif
