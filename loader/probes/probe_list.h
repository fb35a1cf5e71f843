/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes for one file's functions: the functions that need a probe, the instructions to probe,
 * and how results are obtained.
 */
#ifndef LOADER_PROBES_PROBE_LIST_H
#define LOADER_PROBES_PROBE_LIST_H

#include "loader/probes/allocators.h"
#include "loader/probes/probe_set.h"
#include "prober/server/function.h"

/* A function that gets no probe, and the reason. */
struct left_function {
	const char *name;
	enum function_verdict verdict;
	const char *through; /* for FUNCTION_THROUGH: the other function that every call reaches */
};

struct probe_list {
	struct probe *items;        /* probes on return instructions come first */
	struct probe_place *places; /* with descriptions for messages */
	size_t cnt;
	size_t cap;
	size_t place_cap;
	struct left_function *left;
	size_t left_cnt;
	size_t left_cap;
	bool throws; /* a function may be left by an exception */
};

/*
 * Builds the probes for the functions that were found. Their names are indexes into functions and
 * wanted. Functions that do all their work through another one get no probe. entries: no return
 * probes. Deinit the list even on failure. Returns 0 or a negative errno.
 */
int probe_list_init(const struct allocator_function *functions,
		    const struct wanted_functions *wanted, const struct found_function *chosen,
		    size_t cnt, bool entries, struct probe_list *ret);
void probe_list_deinit(struct probe_list *list);

#endif
