/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wanted functions, and functions found in an ELF file, as plain data that memleak and the helper
 * exchange.
 */
#ifndef PROBER_SERVER_FUNCTION_H
#define PROBER_SERVER_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Limits per file. Files worth tracing stay below them. Functions above the first two limits are
 * left out, but counted.
 */
#define DEFINITIONS_MAX 64   /* maximum definitions of one name */
#define FILE_PROBES_MAX 4096 /* maximum probes, counting those on entries and on returns */
#define FUNCTION_RETURNS_MAX 128
/* maximum distance, in bytes, of a probe from the function's entry */
#define FUNCTION_BYTES_MAX (64 << 10)

/* The functions that are searched for wanted names. */
enum function_scope {
	SCOPE_EXPORTED, /* only exported functions: other modules may call them */
	SCOPE_GLOBAL,   /* only functions that are not static: other source files may call them */
	SCOPE_ALL,      /* all functions, including static ones */
};

struct wanted_function {
	const char *name;          /* name of the function; NULL for an unused slot */
	unsigned int argument_cnt; /* number of arguments that the probe reads */
	bool everywhere; /* search all functions, since only one allocator uses this name */
	/* find its return instructions, or the wanted function to which it passes calls */
	bool followed;
};

struct wanted_functions {
	const struct wanted_function *items; /* wanted functions; names are unique */
	size_t cnt;
	enum function_scope scope;
	bool through;  /* find functions that pass every call on to another wanted function */
	bool at_entry; /* place all probes on the first instruction of functions */
};

/* The instruction on which a probe is placed. */
struct probe_place {
	uint64_t offset; /* distance, in bytes, from the function's entry */
	/* under a probe, the kernel emulates the instruction instead of single-stepping it */
	bool emulated;
	char *insn; /* disassembly, from malloc(); NULL if unknown */
};

enum function_verdict {
	FUNCTION_RETURNS, /* all return instructions of the function were found */
	/* each path to a return calls another wanted function, `through` */
	FUNCTION_THROUGH,
	/* some code could not be analysed, or wanted_function.followed was false */
	FUNCTION_UNKNOWN,
};

struct found_function {
	size_t name;     /* index in the list of wanted functions */
	uint64_t offset; /* file offset of the entry, for a uprobe */
	bool exported; /* the function is in the dynamic symbol table: other modules may call it */
	struct probe_place place;
	enum function_verdict verdict;
	size_t through;    /* with FUNCTION_THROUGH: index of the wanted function that is called */
	bool jumps_there;  /* the function does nothing but jump to the function `through` */
	uint64_t *returns; /* file offsets of returns, from malloc(); with FUNCTION_RETURNS only */
	size_t return_cnt;
};

#endif
