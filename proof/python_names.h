/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names containers of CPython after the variables, attributes or dictionary keys that lead to them.
 * Searches up to 2 GiB of written memory, at most twice.
 */
#ifndef PROOF_PYTHON_NAMES_H
#define PROOF_PYTHON_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "proof/memory.h"
#include "report/python_growth.h"

#define PYTHON_NAMED_MAX PYTHON_CONTAINERS_MAX

/*
 * Maximum size of a mapping to search. For larger mappings, finding out which pages they have would
 * take too long.
 */
#define PYTHON_MAPPING_BYTES_MAX (256ULL << 30)

struct python_named {
	uint64_t addr; /* address of the object */
	/* the result */
	enum python_name named_by;
	char name[PYTHON_TEXT_BYTES]; /* "" if no name is found */
};

/*
 * Names cnt objects, at most PYTHON_NAMED_MAX, as far as names are found before the deadline
 * (CLOCK_MONOTONIC). Returns 0 or -ENOMEM.
 */
int python_names_find(const struct memory *memory, struct python_named *objects, size_t cnt,
		      uint64_t deadline_ns);

#endif
