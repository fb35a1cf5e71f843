// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds symbols by address. libdwfl's own look-up walks the whole symbol table for each address,
 * which is too slow for a thousand addresses in a library with a million symbols.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/addr_ranges.h"
#include "symbolizer/server/symbol_table.h"

struct entry {
	const char *name;
	const char *file; /* source file of a local symbol; NULL if unknown */
	uint64_t start;
	unsigned char type;
	unsigned char binding;
};

struct symbol_table {
	enum name_kind kind;
	const char *file; /* source file of the local symbols that are being added */
	struct entry *entries;
	size_t cnt;
	struct range_table sized;  /* symbols with a size; value: index in `entries` */
	struct range_table labels; /* symbols without a size: ranges up to the end of the section */
	struct range_table sections;
};

static bool is_section_of(enum name_kind kind, const GElf_Shdr *section)
{
	bool is_code = section->sh_flags & SHF_EXECINSTR;

	return kind == NAME_OF_CODE ? is_code : !is_code && section->sh_flags & SHF_ALLOC;
}

static int add_sections(struct symbol_table *table, Dwfl_Module *mod)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(mod, &bias);
	Elf_Scn *scn = NULL;

	while (elf && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		int err;

		if (!gelf_getshdr(scn, &shdr) || !is_section_of(table->kind, &shdr) ||
		    shdr.sh_size > UINT64_MAX - shdr.sh_addr - bias)
			continue;
		err = range_table_add(&table->sections, shdr.sh_addr + bias,
				      shdr.sh_addr + bias + shdr.sh_size, 0);
		if (err)
			return err;
	}
	return range_table_finish(&table->sections);
}

static bool is_code(const GElf_Sym *sym, GElf_Word shndx, const char *name)
{
	unsigned char type = GELF_ST_TYPE(sym->st_info);

	if (!name || !*name || shndx == SHN_UNDEF)
		return false;
	/* Skip mapping symbols of arm assemblers: $x marks the start of code, $d of data. */
	if (name[0] == '$' && strchr("xdat", name[1]) && (!name[2] || name[2] == '.'))
		return false;
	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

static bool is_variable(const GElf_Sym *sym, GElf_Word shndx, const char *name, int type)
{
	return name && *name && shndx != SHN_UNDEF && sym->st_size &&
	       GELF_ST_TYPE(sym->st_info) == type;
}

/* Handles STT_FILE symbols: each names the source file of the local symbols that follow it. */
static void note_file(struct symbol_table *table, const GElf_Sym *sym, const char *name)
{
	if (GELF_ST_TYPE(sym->st_info) == STT_FILE)
		table->file = name && *name ? name : NULL;
	else if (GELF_ST_BIND(sym->st_info) != STB_LOCAL)
		table->file = NULL;
}

static int add_variable(struct symbol_table *table, const GElf_Sym *sym, uint64_t start,
			const char *name)
{
	if (table->kind == NAME_OF_DATA && table->sections.cnt &&
	    !range_table_next(&table->sections, start, NULL))
		return 0;
	table->entries[table->cnt] = (struct entry){
		.name = name,
		.file = table->file,
		.start = start,
		.type = GELF_ST_TYPE(sym->st_info),
		.binding = GELF_ST_BIND(sym->st_info),
	};
	return range_table_add(&table->sized, start, start + sym->st_size, table->cnt++);
}

static int add_symbol(struct symbol_table *table, Dwfl_Module *mod, int i)
{
	GElf_Word shndx;
	GElf_Sym sym;
	GElf_Addr addr;
	const char *name = dwfl_module_getsym_info(mod, i, &sym, &addr, &shndx, NULL, NULL);
	const struct range *section;
	uint64_t end;

	if (!name)
		return 0;
	note_file(table, &sym, name);
	if (table->kind == NAME_OF_DATA && is_variable(&sym, shndx, name, STT_OBJECT))
		return add_variable(table, &sym, addr, name);
	if (table->kind == NAME_OF_TLS && is_variable(&sym, shndx, name, STT_TLS))
		return add_variable(table, &sym, sym.st_value, name);
	if (table->kind != NAME_OF_CODE || !is_code(&sym, shndx, name))
		return 0;
	section = range_table_next(&table->sections, addr, NULL);
	/* Skip symbols outside code sections, unless the file has no section headers. */
	if (!section && table->sections.cnt)
		return 0;
	table->entries[table->cnt] = (struct entry){
		name, table->file, addr, GELF_ST_TYPE(sym.st_info), GELF_ST_BIND(sym.st_info)};
	end = addr + sym.st_size;
	if (!sym.st_size && section)
		return range_table_add(&table->labels, addr, section->end, table->cnt++);
	return range_table_add(&table->sized, addr, end, table->cnt++);
}

int symbol_table__new(Dwfl_Module *mod, enum name_kind kind, struct symbol_table **ret)
{
	struct symbol_table *table = calloc(1, sizeof(*table));
	int cnt = dwfl_module_getsymtab(mod);
	int err = -ENOMEM;

	if (!table)
		return -ENOMEM;
	table->kind = kind;
	if (cnt < 0)
		cnt = 0;
	table->entries = calloc(cnt + 1, sizeof(*table->entries));
	if (!table->entries)
		goto err;
	err = add_sections(table, mod);
	for (int i = 1; !err && i < cnt; i++)
		err = add_symbol(table, mod, i);
	if (!err)
		err = range_table_finish(&table->sized);
	if (!err)
		err = range_table_finish(&table->labels);
	if (err)
		goto err;
	*ret = table;
	return 0;
err:
	symbol_table__free(table);
	return err;
}

void symbol_table__free(struct symbol_table *table)
{
	if (!table)
		return;
	range_table_deinit(&table->sized);
	range_table_deinit(&table->labels);
	range_table_deinit(&table->sections);
	free(table->entries);
	free(table);
}

static int binding_rank(unsigned char binding)
{
	return binding == STB_GLOBAL ? 2 : binding == STB_WEAK ? 1 : 0;
}

/* True if `a` is the name that a programmer would use: malloc rather than __libc_malloc. */
static bool is_better(const struct entry *a, const struct entry *b)
{
	size_t a_bars = strspn(a->name, "_"), b_bars = strspn(b->name, "_");
	size_t a_len, b_len;

	if ((a->type == STT_NOTYPE) != (b->type == STT_NOTYPE))
		return b->type == STT_NOTYPE;
	if (binding_rank(a->binding) && binding_rank(b->binding) && a_bars != b_bars)
		return a_bars < b_bars;
	if (a->binding != b->binding)
		return binding_rank(a->binding) > binding_rank(b->binding);
	a_len = strlen(a->name);
	b_len = strlen(b->name);
	return a_len != b_len ? a_len < b_len : strcmp(a->name, b->name) < 0;
}

static const struct entry *find_in(const struct symbol_table *table, const struct range_table *in,
				   uint64_t addr)
{
	const struct range *range = range_table_next(in, addr, NULL);
	const struct entry *best = NULL;
	uint64_t start = range ? range->start : 0;

	for (; range && range->start == start; range = range_table_next(in, addr, range)) {
		const struct entry *entry = &table->entries[range->value];

		if (!best || is_better(entry, best))
			best = entry;
	}
	return best;
}

int symbol_table__find(const struct symbol_table *table, uint64_t addr, struct symbol *ret)
{
	const struct entry *found = find_in(table, &table->sized, addr);

	if (!found) {
		found = find_in(table, &table->labels, addr);
		/*
		 * Reject a symbol without a size if a symbol with a size ends between it and addr:
		 * the code after a sized symbol does not belong to symbols before it.
		 */
		if (found && found->start < range_table_max_end(&table->sized, addr))
			found = NULL;
	}
	if (!found)
		return -ENOENT;
	ret->start = found->start;
	ret->name = found->name;
	ret->file = found->file;
	return 0;
}
