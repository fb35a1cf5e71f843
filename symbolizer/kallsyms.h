/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's list of its own symbols, /proc/kallsyms, made ready for look-up by address: one
 * line each, "address type name", and "[owner]" behind those of a module or a BPF program. It has
 * no sizes: a symbol ends where the next one begins, or where its owner ends, which the user of
 * the table knows. Knows nothing of where the text comes from.
 */
#ifndef SYMBOLIZER_KALLSYMS_H
#define SYMBOLIZER_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The owner of the symbols that have none in brackets. */
#define KALLSYMS_CORE 0

struct kernel_symbol {
	uint64_t start;
	uint32_t bytes;
	uint32_t name; /* where in names */
	uint32_t owner;
	char type; /* as in the file: t, T, w or W once the table is ready */
};

/* A piece of the core kernel between two of its symbols; end 0: they were not listed. */
struct kernel_range {
	uint64_t start;
	uint64_t end;
};

struct kallsyms {
	char *names;
	struct kernel_symbol *symbols; /* sorted, one for each address */
	size_t cnt;
	size_t cap;
	struct kernel_range text;
	struct kernel_range init_text; /* given back after boot, listed all the same */
	bool hidden;                   /* the kernel shows all addresses as 0 */
};

/* The number of the owner with this name (len bytes, no NUL); a negative errno. */
typedef int (*kallsyms_owner_fn)(void *arg, const char *name, size_t len);

/*
 * Parses len bytes of text, which has room for one more; it is taken over whatever is returned.
 * Lines that are none are left out. Only -ENOMEM and what owner_of returns are failures.
 */
int kallsyms_init(struct kallsyms *table, char *text, size_t len, kallsyms_owner_fn owner_of,
		  void *arg);
void kallsyms_deinit(struct kallsyms *table);

/*
 * Adds the symbols of another table that keep says yes to and that lie where this one has none.
 * -ENOMEM: none was added.
 */
int kallsyms_keep(struct kallsyms *table, const struct kallsyms *from,
		  bool (*keep)(void *arg, const struct kernel_symbol *symbol), void *arg);

/* The symbol whose bytes hold addr; NULL: none. */
const struct kernel_symbol *kallsyms_find(const struct kallsyms *table, uint64_t addr);

/* Whether addr is in the core kernel's text. */
bool kallsyms_in_core(const struct kallsyms *table, uint64_t addr);

#endif
