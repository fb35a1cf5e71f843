/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses /proc/kallsyms, the kernel's list of its symbols, so that symbols can be looked up by
 * address. Each line is "address type name", followed by "[owner]" for modules and BPF programs.
 * Sizes are not listed: a symbol ends where the next one begins, or where its owner's memory ends.
 * Only the caller knows where that is. Does not open files.
 */
#ifndef SYMBOLIZER_KALLSYMS_H
#define SYMBOLIZER_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Owner number of the core kernel. Lines of its symbols have no owner in brackets. */
#define KALLSYMS_CORE 0

struct kernel_symbol {
	uint64_t start;
	uint32_t bytes;
	uint32_t name; /* offset of the name in kallsyms.names */
	uint32_t owner;
	char type; /* type letter in kallsyms; kallsyms_init() keeps only t, T, w and W */
};

/*
 * An address range between two marker symbols of the core kernel; end is 0 if the markers are not
 * listed.
 */
struct kernel_range {
	uint64_t start;
	uint64_t end;
};

struct kallsyms {
	char *names;
	struct kernel_symbol *symbols; /* symbols sorted by address, at most one per address */
	size_t cnt;
	size_t cap;
	struct kernel_range text;
	struct kernel_range init_text; /* code freed after boot, whose symbols are still listed */
	bool hidden;                   /* true if the kernel hides addresses: it shows all as 0 */
};

/*
 * Returns the number of the owner whose name in kallsyms is `name` (len bytes, not NUL-terminated),
 * or a negative errno.
 */
typedef int (*kallsyms_owner_fn)(void *arg, const char *name, size_t len);

/*
 * Parses `len` bytes of `text`, and skips invalid lines. Takes over the buffer `text`, even on
 * failure; it must have room for len + 1 bytes. Calls owner_of() for owners in brackets. Fails only
 * with -ENOMEM or an error of owner_of().
 */
int kallsyms_init(struct kallsyms *table, char *text, size_t len, kallsyms_owner_fn owner_of,
		  void *arg);
void kallsyms_deinit(struct kallsyms *table);

/*
 * Copies to `table` each symbol of `from` for which keep() returns true and whose first and last
 * byte are in no symbol of `table`. On -ENOMEM nothing was added.
 */
int kallsyms_keep(struct kallsyms *table, const struct kallsyms *from,
		  bool (*keep)(void *arg, const struct kernel_symbol *symbol), void *arg);

/* Returns the symbol that contains addr; NULL if there is none. */
const struct kernel_symbol *kallsyms_find(const struct kallsyms *table, uint64_t addr);

/* True if addr is in the core kernel's text or init text. */
bool kallsyms_in_core(const struct kallsyms *table, uint64_t addr);

#endif
