/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wanted and found functions of an ELF file, as plain data for both sides of the socket. */
#ifndef PROBER_SERVER_FUNCTION_H
#define PROBER_SERVER_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits per file. Files worth tracing stay below them; surplus functions are counted. */
#define DEFINITIONS_MAX 64   /* maximum definitions with one name */
#define FILE_PROBES_MAX 4096 /* maximum probes, on entries and returns */
#define FUNCTION_RETURNS_MAX 128
#define FUNCTION_BYTES_MAX (64 << 10) /* maximum distance of a probe from the function's entry */

/* The scope in which definitions are searched. */
enum function_scope {
	SCOPE_EXPORTED, /* only functions visible to other modules */
	SCOPE_GLOBAL,   /* only functions visible to other files of the module */
	SCOPE_ALL,      /* all functions, including static ones */
};

struct wanted_function {
	const char *name;          /* NULL for an unused slot */
	unsigned int argument_cnt; /* number of arguments that the probe reads */
	bool everywhere;           /* found in any scope, as only one allocator uses this name */
	bool followed;             /* find where it returns, or which function it passes calls to */
};

struct wanted_functions {
	const struct wanted_function *items; /* wanted functions; names are unique */
	size_t cnt;
	enum function_scope scope;
	bool through;  /* find functions that pass every call to another wanted function */
	bool at_entry; /* place all probes on first instructions */
};

/* The instruction that a probe is placed on. */
struct probe_place {
	uint64_t offset; /* distance from the function's entry */
	bool emulated;   /* the kernel emulates it, in every version that has these probes */
	char *insn;      /* disassembly, from malloc(); NULL if unknown */
};

enum function_verdict {
	FUNCTION_RETURNS, /* all return instructions were found */
	FUNCTION_THROUGH, /* every call that returns has passed through another wanted function */
	FUNCTION_UNKNOWN, /* some code could not be followed, or following was not requested */
};

struct found_function {
	size_t name;     /* index into the wanted functions */
	uint64_t offset; /* file offset for a uprobe */
	bool exported;   /* in the dynamic symbol table: other modules may call it */
	struct probe_place place;
	enum function_verdict verdict;
	size_t through;    /* with FUNCTION_THROUGH: index of the function that calls pass */
	bool jumps_there;  /* the function only jumps to the function `through` */
	uint64_t *returns; /* file offsets, from malloc(); with FUNCTION_RETURNS only */
	size_t return_cnt;
};

#endif
