/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds functions by name in an ELF file, with their file offsets. The file is hostile: at most one
 * symbol table of each type (SHT_DYNSYM and SHT_SYMTAB) is read, and at most twice. Knows nothing
 * of processes or probes.
 */
#ifndef PROBER_SERVER_ELF_FUNCTIONS_H
#define PROBER_SERVER_ELF_FUNCTIONS_H

#include <gelf.h>

#include "prober/server/function.h"

struct elf_function {
	size_t name;     /* index of the function in wanted_functions.items */
	uint64_t offset; /* file offset of the entry, for a uprobe */
	/* true if the function is in the dynamic symbol table: other modules may call it */
	bool exported;
	/* true if the function is static: other source files of its module cannot call it */
	bool local;
	uint64_t size; /* size in bytes, as stated by its symbol; 0 if unknown */
	uint64_t room; /* distance from the function's entry to the next symbol, in bytes */
	struct {
		uint64_t offset;
		uint64_t size;
	} segment; /* segment of the file that contains the function */
};

struct elf_functions {
	struct elf_function *items; /* from malloc() */
	size_t cnt;
	/* number of definitions that were left out because of the limits in function.h */
	uint64_t surplus_cnt;
	/*
	 * 1 + index of a wanted function that is an IFUNC; 0 if there is none. An IFUNC is not in
	 * `items`, since its code is chosen at run time.
	 */
	uint32_t indirect;
};

/*
 * Finds all definitions of the wanted functions, exported ones first. A name may occur several
 * times (symbol versions), but each pair of offset and name only once. machine: required e_machine
 * of the file. Returns 0, -ENOEXEC if the file is not a 64-bit ELF file for this machine, or
 * -ENOMEM.
 */
int elf_functions_find(int fd, uint16_t machine, const struct wanted_functions *wanted,
		       struct elf_functions *ret);

/* Finds a symbol by name, first in .dynsym, then in .symtab. Returns false if there is none. */
bool elf_symbol_find(Elf *elf, const char *name, GElf_Sym *ret);

/*
 * Finds an exported variable, and sets *ret to its address minus that of the file's entry point,
 * modulo 2^64. Returns false if there is no such variable.
 */
bool elf_variable_find(int fd, const char *name, uint64_t *ret);

/*
 * Returns the name of a function in the file that is nearest to `name` (base/nearest.h); NULL if no
 * name is near. The caller frees it.
 */
char *elf_nearest_function(int fd, const char *name);

/* True if the file is ELF and has a section of this name. */
bool elf_has_section(int fd, const char *name);

#endif
