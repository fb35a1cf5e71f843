/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is wanted of functions of an ELF file, and what is found of them. Only data, for both sides
 * of the socket.
 */
#ifndef PROBER_SERVER_FUNCTION_H
#define PROBER_SERVER_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No file that is meant to be traced has more; what is beyond is counted. */
#define DEFINITIONS_MAX 64   /* of one name */
#define FILE_PROBES_MAX 4096 /* entries and returns */
#define FUNCTION_RETURNS_MAX 128
#define FUNCTION_BYTES_MAX (64 << 10) /* a probe is nearer to its entry than this */

/* Which definitions count. */
enum function_scope {
	SCOPE_EXPORTED, /* that other modules see */
	SCOPE_GLOBAL,   /* that other files of the same module see */
	SCOPE_ALL,      /* static ones, too */
};

struct wanted_function {
	const char *name;          /* NULL: none */
	unsigned int argument_cnt; /* how many of its arguments are read by the probe */
	bool everywhere;           /* counts in any scope: only one allocator has the name */
	bool followed;             /* where it returns, or what it calls instead, matters */
};

struct wanted_functions {
	const struct wanted_function *items; /* no name twice */
	size_t cnt;
	enum function_scope scope;
	bool through;  /* what passes another of them by itself is to be known */
	bool at_entry; /* probes go to first instructions, whatever they are */
};

/* Where a probe goes. */
struct probe_place {
	uint64_t offset; /* from the entry */
	bool emulated;   /* by every kernel that has the probes */
	char *insn;      /* malloc'ed, as a disassembler shows it; NULL: not known */
};

enum function_verdict {
	FUNCTION_RETURNS, /* here is where */
	FUNCTION_THROUGH, /* every call that returns has passed another of the wanted functions */
	FUNCTION_UNKNOWN, /* some of its code cannot be followed, or it was not asked for */
};

struct found_function {
	size_t name;     /* index into the wanted ones */
	uint64_t offset; /* in the file, where a uprobe goes */
	bool exported;   /* in the dynamic symbol table: other modules may call it */
	struct probe_place place;
	enum function_verdict verdict;
	size_t through;    /* FUNCTION_THROUGH: index of the other one */
	bool jumps_there;  /* at once: it does nothing else */
	uint64_t *returns; /* in the file, malloc'ed; FUNCTION_RETURNS only */
	size_t return_cnt;
};

#endif
