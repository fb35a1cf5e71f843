/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Structs that memleak and its helper exchange: the wanted functions, and the functions that the
 * helper has found in an ELF file.
 */
#ifndef PROBER_SERVER_FUNCTION_H
#define PROBER_SERVER_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Limits per file, which real files do not reach. Functions beyond DEFINITIONS_MAX or
 * FILE_PROBES_MAX are left out, but counted.
 */
#define DEFINITIONS_MAX 64   /* maximum number of definitions of one name */
#define FILE_PROBES_MAX 4096 /* maximum number of probes, on entries and on returns together */
#define FUNCTION_RETURNS_MAX 128
/* maximum distance, in bytes, between the function's entry and its probe */
#define FUNCTION_BYTES_MAX (64 << 10)

/* Functions of a file that are searched for the wanted names. */
enum function_scope {
	SCOPE_EXPORTED, /* only exported functions: other modules may call them */
	SCOPE_GLOBAL,   /* only functions that are not static: other source files may call them */
	SCOPE_ALL,      /* all functions, including static ones */
};

struct wanted_function {
	const char *name;          /* NULL if this array element is unused */
	unsigned int argument_cnt; /* number of arguments that the probe reads */
	/*
	 * true: search all functions for this name, whatever `scope` is, since only one allocator
	 * uses the name
	 */
	bool everywhere;
	/*
	 * true: analyse the function's code, to find its return instructions or, if every path
	 * leads to a wanted function, one such function
	 */
	bool followed;
};

struct wanted_functions {
	const struct wanted_function *items; /* no two have the same name */
	size_t cnt;
	enum function_scope scope;
	bool through;  /* true: detect functions that pass every call to another wanted function */
	bool at_entry; /* true: place each probe on the function's first instruction */
};

/* The instruction on which a probe is placed. */
struct probe_place {
	uint64_t offset; /* distance, in bytes, from the function's entry */
	/* true if the kernel emulates the probed instruction and does not single-step it */
	bool emulated;
	char *insn; /* disassembly, from malloc(); NULL if unknown */
};

enum function_verdict {
	FUNCTION_RETURNS, /* all return instructions of the function were found */
	/* every path calls or jumps to a wanted function; `through` is one of them */
	FUNCTION_THROUGH,
	/* some code could not be analysed, or wanted_function.followed was false */
	FUNCTION_UNKNOWN,
};

struct found_function {
	size_t name;     /* index of the function in wanted_functions.items */
	uint64_t offset; /* file offset of the entry, for a uprobe */
	/* true if the function is in the dynamic symbol table: other modules may call it */
	bool exported;
	struct probe_place place;
	enum function_verdict verdict;
	/* with FUNCTION_THROUGH: index, in wanted_functions.items, of the other function */
	size_t through;
	/* true if the function's first instruction is a jump to the function `through` */
	bool jumps_there;
	uint64_t *returns; /* with FUNCTION_RETURNS: file offsets of returns, from malloc() */
	size_t return_cnt;
};

#endif
