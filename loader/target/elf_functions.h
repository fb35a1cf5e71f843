/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds functions by name in an ELF file: a descriptor in, file offsets out. The file is
 * hostile: it is read, never mapped, so that truncating it under us is an error and no signal.
 * Knows nothing of processes or probes.
 */
#ifndef LOADER_TARGET_ELF_FUNCTIONS_H
#define LOADER_TARGET_ELF_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Which definitions count. */
enum elf_scope {
	ELF_GLOBAL,   /* that other files of the same module see */
	ELF_EXPORTED, /* that other modules see */
	ELF_ALL,      /* static ones, too */
};

/*
 * Every definition of the cnt names (NULL: none; no name twice), exported ones first; a
 * name may occur several times (symbol versions), an (offset, name)
 * pair once. *ret is malloc'ed. Returns 0, -ENOEXEC (no ELF file of this machine's kind) or another
 * negative errno.
 */
int elf_functions_find(int fd, const char *const *names, size_t cnt, enum elf_scope scope,
		       struct elf_function **ret, size_t *ret_cnt);

/*
 * Where an exported variable is in memory: so much behind the entry point, modulo 2^64. False:
 * there is none.
 */
bool elf_variable_find(int fd, const char *name, uint64_t *ret);

/* Whether the file is of ELF and has a section of this name. */
bool elf_has_section(int fd, const char *name);

/* ELFCLASS32 or ELFCLASS64 of the file; negative errno: no ELF file. */
int elf_class(int fd);

#endif
