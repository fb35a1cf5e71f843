/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The running kernel's symbols and their owners: the core kernel, modules and BPF programs. Symbols
 * and owners change at run time.
 */
#ifndef SYMBOLIZER_KERNEL_SYMTAB_H
#define SYMBOLIZER_KERNEL_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/kallsyms.h"
#include "symbolizer/kernel_files.h"

struct module;

/*
 * A kernel part, which owns symbols: the core kernel, a module, or other code that kallsyms lists
 * with an owner in brackets. Parts are freed only together with all symbols.
 */
struct kernel_part {
	char *name;
	uint64_t start;
	uint64_t end;        /* end of the part's address range; 0 if unknown */
	char *build_id;      /* build id in hex; NULL if unknown */
	bool gone;           /* true if the module was unloaded, or reloaded at another address */
	bool searched;       /* true if files with the part's DWARF have been searched for */
	struct module *file; /* module of the file with the part's DWARF; NULL if there is none */
};

struct kernel_symtab {
	struct kernel_roots roots;
	struct kallsyms table;
	/* kernel parts, indexed by owner number; parts[KALLSYMS_CORE] is the core kernel */
	struct kernel_part **parts;
	size_t part_cnt;
	size_t part_cap;
	uint64_t modules_hash; /* hash of the names and addresses of the loaded modules */
	uint64_t read_ns;      /* CLOCK_MONOTONIC time of the latest read */
	uint64_t pause_ns;     /* minimum interval between reads, since a read is slow */
	/* 0 if the latest read succeeded, or its error: -EPERM if the kernel hides its addresses */
	int error;
};

/* The owner and the function at an address. */
struct kernel_location {
	struct kernel_part *part; /* owner of the address; NULL if unknown */
	/* function name, NULL if unknown; valid until the table is read again */
	const char *symbol;
	uint64_t start; /* start address of the function `symbol` */
};

/*
 * Reads the kernel's symbols. If they cannot be read, sets ret->error and returns 0. Fails only
 * with -ENOMEM.
 */
int kernel_symtab_init(const struct kernel_roots *roots, struct kernel_symtab *ret);
void kernel_symtab_deinit(struct kernel_symtab *symtab);

/* Reads all symbols again. Fails with -ENOMEM; then the earlier symbols are still usable. */
int kernel_symtab_read(struct kernel_symtab *symtab);

/* True if kernel modules were loaded or unloaded since the symbols were read. */
bool kernel_symtab_is_stale(const struct kernel_symtab *symtab);

struct kernel_location kernel_symtab_find(const struct kernel_symtab *symtab, uint64_t addr);

#endif
