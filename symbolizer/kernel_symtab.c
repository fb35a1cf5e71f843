// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the kernel's symbols, and determines which kernel part (struct kernel_part) owns each. */
#include "symbolizer/kernel_symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"

/*
 * Maximum size, in bytes, of a function if the end of its owner's memory is unknown. Without this
 * limit, the last function before a gap in the addresses would extend across the gap.
 */
#define ENDLESS_BYTES (64 * 1024)

/* Minimum interval between reads of the symbols, in nanoseconds. One read takes 10 to 100 ms. */
#define PAUSE_NS 1000000000ULL

static int add_part(struct kernel_symtab *symtab, const char *name, size_t name_len,
		    struct kernel_part **ret)
{
	struct kernel_part *part;

	if (array_reserve(&symtab->parts, &symtab->part_cap, symtab->part_cnt + 1))
		return -ENOMEM;
	part = calloc(1, sizeof(*part));
	if (part)
		part->name = strndup(name, name_len);
	if (!part || !part->name) {
		free(part);
		return -ENOMEM;
	}
	symtab->parts[symtab->part_cnt++] = part;
	*ret = part;
	return 0;
}

static bool has_name(const struct kernel_part *part, const char *name, size_t len)
{
	return !strncmp(part->name, name, len) && !part->name[len];
}

static bool is_same_id(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/*
 * Adds a loaded module to symtab->parts or, if it is already there, marks it as still loaded. Takes
 * over build_id.
 */
static int take_module(struct kernel_symtab *symtab, const struct loaded_module *module,
		       char *build_id)
{
	struct kernel_part *part;
	int err;

	for (size_t i = KALLSYMS_CORE + 1; i < symtab->part_cnt; i++) {
		part = symtab->parts[i];
		if (has_name(part, module->name, module->name_len) &&
		    part->start == module->start && part->end == module->end &&
		    is_same_id(part->build_id, build_id)) {
			part->gone = false;
			free(build_id);
			return 0;
		}
	}
	err = add_part(symtab, module->name, module->name_len, &part);
	if (err) {
		free(build_id);
		return err;
	}
	part->start = module->start;
	part->end = module->end;
	part->build_id = build_id;
	return 0;
}

static int take_modules(struct kernel_symtab *symtab, const char *at, size_t len)
{
	const char *end = at + len;
	struct loaded_module module;
	int err = 0;

	for (size_t i = KALLSYMS_CORE + 1; i < symtab->part_cnt; i++)
		symtab->parts[i]->gone = true;
	while (!err && (at = loaded_module_next(at, end, &module))) {
		char *name = strndup(module.name, module.name_len);

		if (!name)
			return -ENOMEM;
		err = take_module(symtab, &module, kernel_build_id(&symtab->roots, name));
		free(name);
	}
	return err;
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3;
	return hash;
}

/*
 * Hashes the names and addresses of the loaded modules, but not their use counts, which change
 * often.
 */
static uint64_t hash_modules(const char *at, size_t len)
{
	const char *end = at + len;
	uint64_t hash = 0xcbf29ce484222325;
	struct loaded_module module;

	while ((at = loaded_module_next(at, end, &module))) {
		hash = hash_bytes(hash, module.name, module.name_len);
		hash = hash_bytes(hash, &module.start, sizeof(module.start));
		hash = hash_bytes(hash, &module.end, sizeof(module.end));
	}
	return hash;
}

/*
 * Returns the number of the owner whose name in kallsyms is `name`: a loaded module, or other code,
 * which is not listed in /proc/modules. Adds the owner if needed.
 */
static int part_of(void *arg, const char *name, size_t len)
{
	static const char builtin[] = "__builtin__";
	struct kernel_symtab *symtab = arg;
	size_t found = 0;
	struct kernel_part *part;
	int err;

	/* Code that the kernel generates has an owner such as "[__builtin__ftrace]". */
	if (len >= sizeof(builtin) && !memcmp(name, builtin, sizeof(builtin) - 1)) {
		name += sizeof(builtin) - 1;
		len -= sizeof(builtin) - 1;
	}
	for (size_t i = KALLSYMS_CORE + 1; i < symtab->part_cnt; i++) {
		part = symtab->parts[i];
		if (!has_name(part, name, len))
			continue;
		if (!part->gone)
			return i;
		if (!part->start)
			found = i;
	}
	if (found) {
		symtab->parts[found]->gone = false;
		return found;
	}
	err = add_part(symtab, name, len, &part);
	return err ? err : (int)symtab->part_cnt - 1;
}

/* Returns the kernel part whose address range contains addr; NULL if there is none. */
static struct kernel_part *part_at(const struct kernel_symtab *symtab, uint64_t addr)
{
	if (kallsyms_in_core(&symtab->table, addr))
		return symtab->parts[KALLSYMS_CORE];
	for (size_t i = KALLSYMS_CORE + 1; i < symtab->part_cnt; i++) {
		struct kernel_part *part = symtab->parts[i];

		if (!part->gone && part->start && addr >= part->start && addr < part->end)
			return part;
	}
	return NULL;
}

static int read_modules(struct kernel_symtab *symtab)
{
	char *text = NULL;
	size_t len = 0;
	int err = kernel_file_read(symtab->roots.proc, "modules", &text, &len);

	/* A kernel built without module support has no /proc/modules. */
	if (err)
		return err == -ENOMEM ? err : 0;
	symtab->modules_hash = hash_modules(text, len);
	err = take_modules(symtab, text, len);
	free(text);
	return err;
}

/*
 * Returns the highest address where a symbol can end: the end of its owner's range if the symbol is
 * inside the range. Otherwise (for example in a module's init memory), ENDLESS_BYTES after the
 * symbol's start.
 */
static uint64_t end_of(const struct kernel_part *part, const struct kernel_symbol *symbol)
{
	if (symbol->start >= part->start && symbol->start < part->end)
		return part->end;
	return symbol->start > UINT64_MAX - ENDLESS_BYTES ? UINT64_MAX
							  : symbol->start + ENDLESS_BYTES;
}

static void cut_symbols(const struct kernel_symtab *symtab, struct kallsyms *table)
{
	for (size_t i = 0; i < table->cnt; i++) {
		struct kernel_symbol *symbol = &table->symbols[i];
		uint64_t bytes;

		if (symbol->owner == KALLSYMS_CORE)
			continue;
		bytes = end_of(symtab->parts[symbol->owner], symbol) - symbol->start;
		if (symbol->bytes > bytes)
			symbol->bytes = bytes;
	}
}

/*
 * True if a symbol is kept although kallsyms no longer lists it. Symbols of unloaded modules, and
 * of the init code of modules, are kept until another module occupies their addresses.
 */
static bool is_kept(void *arg, const struct kernel_symbol *symbol)
{
	const struct kernel_symtab *symtab = arg;

	return symtab->parts[symbol->owner]->start && symbol->owner != KALLSYMS_CORE &&
	       !part_at(symtab, symbol->start);
}

static int read_symbols(struct kernel_symtab *symtab)
{
	struct kernel_part *core = symtab->parts[KALLSYMS_CORE];
	struct kallsyms table;
	char *text;
	size_t len;
	int err = kernel_file_read(symtab->roots.proc, "kallsyms", &text, &len);

	if (!err)
		err = kallsyms_init(&table, text, len, part_of, symtab);
	if (err)
		return err;
	cut_symbols(symtab, &table);
	/* Ignore -ENOMEM: only symbols that are no longer listed get lost. */
	if (!table.hidden)
		kallsyms_keep(&table, &symtab->table, is_kept, symtab);
	kallsyms_deinit(&symtab->table);
	symtab->table = table;
	core->start = table.text.start;
	core->end = table.text.end;
	return table.hidden ? -EPERM : 0;
}

int kernel_symtab_read(struct kernel_symtab *symtab)
{
	int err;

	symtab->read_ns = clock_ns(CLOCK_MONOTONIC);
	err = read_modules(symtab);
	if (err)
		return err;
	symtab->error = read_symbols(symtab);
	return symtab->error == -ENOMEM ? -ENOMEM : 0;
}

int kernel_symtab_init(const struct kernel_roots *roots, struct kernel_symtab *ret)
{
	struct kernel_symtab symtab = {.roots = *roots, .pause_ns = PAUSE_NS};
	struct kernel_part *core;
	int err = add_part(&symtab, "kernel", strlen("kernel"), &core);

	if (!err) {
		core->build_id = kernel_build_id(roots, NULL);
		err = kernel_symtab_read(&symtab);
	}
	if (err) {
		kernel_symtab_deinit(&symtab);
		return err;
	}
	*ret = symtab;
	return 0;
}

void kernel_symtab_deinit(struct kernel_symtab *symtab)
{
	for (size_t i = 0; i < symtab->part_cnt; i++) {
		free(symtab->parts[i]->name);
		free(symtab->parts[i]->build_id);
		free(symtab->parts[i]);
	}
	free(symtab->parts);
	kallsyms_deinit(&symtab->table);
}

bool kernel_symtab_is_stale(const struct kernel_symtab *symtab)
{
	char *text;
	size_t len;
	bool stale;

	if (kernel_file_read(symtab->roots.proc, "modules", &text, &len))
		return false;
	stale = hash_modules(text, len) != symtab->modules_hash;
	free(text);
	return stale;
}

struct kernel_location kernel_symtab_find(const struct kernel_symtab *symtab, uint64_t addr)
{
	const struct kernel_symbol *symbol = kallsyms_find(&symtab->table, addr);

	if (!symbol)
		return (struct kernel_location){.part = part_at(symtab, addr)};
	return (struct kernel_location){
		.part = symtab->parts[symbol->owner],
		.symbol = symtab->table.names + symbol->name,
		.start = symbol->start,
	};
}
