/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds functions by name in an ELF file: a descriptor in, file offsets out. The file is hostile:
 * it has one table of symbols of each kind, and each is read twice at most. Knows nothing of
 * processes or probes.
 */
#ifndef PROBER_SERVER_ELF_FUNCTIONS_H
#define PROBER_SERVER_ELF_FUNCTIONS_H

#include "prober/server/function.h"

struct elf_function {
	size_t name;     /* index into the names asked for */
	uint64_t offset; /* in the file, where a uprobe goes */
	bool exported;   /* in the dynamic symbol table: other modules may call it */
	bool local;      /* static: not even other files of the same module see it */
	uint64_t size;   /* as its symbol says; 0: unknown */
	uint64_t room;   /* bytes from its entry to where the next symbol is */
	struct {
		uint64_t offset;
		uint64_t size;
	} segment; /* of the file, that it is in */
};

struct elf_functions {
	struct elf_function *items; /* malloc'ed */
	size_t cnt;
	uint64_t left; /* definitions beyond what one file may have */
};

/*
 * Every definition of the wanted functions, exported ones first; a name may occur several times
 * (symbol versions), an (offset, name) pair once. Returns 0, -ENOEXEC (no ELF file of this
 * machine's kind) or another negative errno.
 */
int elf_functions_find(int fd, uint16_t machine, const struct wanted_functions *wanted,
		       struct elf_functions *ret);

/*
 * Where an exported variable is in memory: so much behind the entry point, modulo 2^64. False:
 * there is none.
 */
bool elf_variable_find(int fd, const char *name, uint64_t *ret);

/*
 * The name of a function of the file that somebody who asked for `name` may have meant
 * (base/nearest.h). To be freed; NULL: none is near.
 */
char *elf_nearest_function(int fd, const char *name);

/* Whether the file is of ELF and has a section of this name. */
bool elf_has_section(int fd, const char *name);

#endif
