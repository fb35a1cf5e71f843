/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds names for containers of CPython: the variables, attributes or dictionary keys that lead to
 * them. Searches up to 2 GiB of written memory, at most twice.
 */
#ifndef PROOF_PYTHON_NAMES_H
#define PROOF_PYTHON_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "proof/memory.h"
#include "report/python_growth.h"

#define PYTHON_NAMED_MAX PYTHON_CONTAINERS_MAX

/*
 * Maximum bytes of a mapping to search. In larger ones, it would take too long to find the pages
 * that exist.
 */
#define PYTHON_MAPPING_BYTES_MAX (256ULL << 30)

struct python_named {
	uint64_t addr;                /* address of the object */
	enum python_name named_by;    /* result: kind of name, PYTHON_UNNAMED if none */
	char name[PYTHON_TEXT_BYTES]; /* "" if no name is found */
};

/*
 * Finds names for cnt objects, at most PYTHON_NAMED_MAX. Objects whose names are not found before
 * the deadline (CLOCK_MONOTONIC) remain without names. Returns 0 or -ENOMEM.
 */
int python_names_find(const struct memory *memory, struct python_named *objects, size_t cnt,
		      uint64_t deadline_ns);

#endif
