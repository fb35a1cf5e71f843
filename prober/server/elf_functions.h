/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds functions by name in an ELF file, as file offsets. The file is hostile: only one symbol
 * table of each kind is read, at most twice. Knows nothing of processes or probes.
 */
#ifndef PROBER_SERVER_ELF_FUNCTIONS_H
#define PROBER_SERVER_ELF_FUNCTIONS_H

#include "prober/server/function.h"

struct elf_function {
	size_t name;     /* index into the wanted names */
	uint64_t offset; /* file offset for a uprobe */
	bool exported;   /* in the dynamic symbol table: other modules may call it */
	bool local;      /* static: not visible to other files of its module */
	uint64_t size;   /* size in its symbol; 0 if unknown */
	uint64_t room;   /* bytes from its entry to the next symbol */
	struct {
		uint64_t offset;
		uint64_t size;
	} segment; /* the file's segment that contains it */
};

struct elf_functions {
	struct elf_function *items; /* functions found, allocated with malloc() */
	size_t cnt;
	uint64_t left; /* definitions above the limits of a file */
};

/*
 * Finds all definitions of the wanted functions, exported ones first. A name may occur several
 * times (symbol versions), an (offset, name) pair only once. Returns 0, -ENOEXEC (not an ELF file
 * for this machine) or another negative errno.
 */
int elf_functions_find(int fd, uint16_t machine, const struct wanted_functions *wanted,
		       struct elf_functions *ret);

/*
 * Finds an exported variable: *ret is its distance from the entry point, modulo 2^64. False if
 * there is none.
 */
bool elf_variable_find(int fd, const char *name, uint64_t *ret);

/*
 * Returns the function name in the file that is nearest to `name` (base/nearest.h), to be freed;
 * NULL if none is near.
 */
char *elf_nearest_function(int fd, const char *name);

/* True if the file is ELF and has a section with this name. */
bool elf_has_section(int fd, const char *name);

#endif
