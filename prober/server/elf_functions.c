// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds functions by name in an ELF file's symbol tables. */
#include "prober/server/elf_functions.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/nearest.h"

/* Maximum number of executable segments in a file. Real files have one or two. */
#define SEGMENTS_MAX 64
#define NONE SIZE_MAX

/* The definitions that were found for one wanted name. */
struct definitions {
	size_t cnt;
	size_t last; /* index, in search->found, of the definition found last; NONE if cnt is 0 */
};

struct symbol_search {
	Elf *elf;
	const struct wanted_functions *wanted;
	GElf_Phdr segments[SEGMENTS_MAX];
	size_t segment_cnt;
	/* indexes of the wanted names, sorted by name, since a file has many symbols */
	size_t *order;
	size_t order_cnt;
	struct definitions *definitions; /* definitions found, indexed like the wanted names */
	struct elf_function *found;
	/* for each item of `found`: index of the previous item of the same name, or NONE */
	size_t *before;
	size_t found_cnt;
	size_t found_cap;
	size_t before_cap;
	uint64_t surplus_cnt;
	bool is_static_pie;
	uint32_t indirect; /* value for elf_functions.indirect */
	size_t *by_offset; /* indexes into `found`, sorted by file offset */
	const char *name;  /* for elf_symbol_find(): name of the symbol to find */
	GElf_Sym symbol;
	struct nearest nearest;
	char *near; /* for elf_nearest_function(): nearest name so far */
};

static void read_segments(struct symbol_search *search)
{
	size_t cnt;

	if (elf_getphdrnum(search->elf, &cnt))
		return;
	for (size_t i = 0; i < cnt && search->segment_cnt < SEGMENTS_MAX; i++) {
		GElf_Phdr *phdr = &search->segments[search->segment_cnt];

		if (!gelf_getphdr(search->elf, (int)i, phdr))
			return;
		if (phdr->p_type == PT_LOAD && (phdr->p_flags & PF_X))
			search->segment_cnt++;
	}
}

/*
 * Finds the executable segment that contains an address, and converts the address to the file
 * offset that a uprobe needs. Returns false if no executable segment contains it.
 */
static bool locate(const struct symbol_search *search, uint64_t vaddr, struct elf_function *ret)
{
	for (size_t i = 0; i < search->segment_cnt; i++) {
		const GElf_Phdr *phdr = &search->segments[i];

		if (vaddr >= phdr->p_vaddr && vaddr - phdr->p_vaddr < phdr->p_filesz) {
			ret->offset = vaddr - phdr->p_vaddr + phdr->p_offset;
			ret->segment.offset = phdr->p_offset;
			ret->segment.size = phdr->p_filesz;
			return true;
		}
	}
	return false;
}

static int add_found(struct symbol_search *search, const struct elf_function *function)
{
	struct definitions *same = &search->definitions[function->name];

	for (size_t i = same->last; i != NONE; i = search->before[i])
		if (search->found[i].offset == function->offset)
			return 0;
	if (same->cnt == DEFINITIONS_MAX || search->found_cnt == FILE_PROBES_MAX) {
		search->surplus_cnt++;
		return 0;
	}
	if (array_reserve(&search->found, &search->found_cap, search->found_cnt + 1) ||
	    array_reserve(&search->before, &search->before_cap, search->found_cnt + 1))
		return -ENOMEM;
	search->found[search->found_cnt] = *function;
	search->before[search->found_cnt] = same->last;
	same->last = search->found_cnt++;
	same->cnt++;
	return 0;
}

static int compare_names(const void *a, const void *b, void *items)
{
	const struct wanted_function *of = items;

	return strcmp(of[*(const size_t *)a].name, of[*(const size_t *)b].name);
}

static int prepare_names(struct symbol_search *search)
{
	const struct wanted_functions *wanted = search->wanted;

	search->order = calloc(wanted->cnt + 1, sizeof(*search->order));
	search->definitions = calloc(wanted->cnt + 1, sizeof(*search->definitions));
	if (!search->order || !search->definitions)
		return -ENOMEM;
	for (size_t i = 0; i < wanted->cnt; i++) {
		search->definitions[i].last = NONE;
		if (wanted->items[i].name)
			search->order[search->order_cnt++] = i;
	}
	qsort_r(search->order, search->order_cnt, sizeof(*search->order), compare_names,
		(void *)wanted->items);
	return 0;
}

static bool find_name(const struct symbol_search *search, const char *name, size_t *ret)
{
	size_t low = 0, high = search->order_cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		size_t index = search->order[middle];
		int order = strcmp(name, search->wanted->items[index].name);

		if (!order) {
			*ret = index;
			return true;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return false;
}

/*
 * True if a function is in the scope of the search. Exported functions, and functions whose wanted
 * name has `everywhere` set, always are. In a static PIE, local functions are: the linker makes
 * hidden functions local there, such as malloc() of glibc 2.36.
 */
static bool is_meant(const struct symbol_search *search, const struct elf_function *function)
{
	return function->exported || search->wanted->items[function->name].everywhere ||
	       search->wanted->scope == SCOPE_ALL ||
	       (search->wanted->scope == SCOPE_GLOBAL &&
		(!function->local || search->is_static_pie));
}

static int match_symbol(struct symbol_search *search, const char *name, const GElf_Sym *sym,
			bool exported)
{
	struct elf_function function = {
		.exported = exported,
		.local = GELF_ST_BIND(sym->st_info) == STB_LOCAL,
		.size = sym->st_size,
		.room = UINT64_MAX,
	};

	if (!find_name(search, name, &function.name) || !is_meant(search, &function))
		return 0;
	if (GELF_ST_TYPE(sym->st_info) == STT_GNU_IFUNC)
		search->indirect = function.name + 1;
	if (GELF_ST_TYPE(sym->st_info) != STT_FUNC || !locate(search, sym->st_value, &function))
		return 0;
	return add_found(search, &function);
}

static int match_name(struct symbol_search *search, const GElf_Shdr *shdr, const GElf_Sym *sym)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);
	const char *name;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || sym->st_shndx == SHN_UNDEF ||
	    !sym->st_value)
		return 0;
	name = elf_strptr(search->elf, shdr->sh_link, sym->st_name);
	return name ? match_symbol(search, name, sym, shdr->sh_type == SHT_DYNSYM) : 0;
}

/* Returns the number of found functions whose file offset is below `offset`. */
static size_t count_before(const struct symbol_search *search, uint64_t offset)
{
	size_t low = 0, high = search->found_cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (search->found[search->by_offset[middle]].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Limits the `room` of the nearest found function before the symbol `sym` to end there, since other
 * code may jump to any symbol.
 */
static int limit_room(struct symbol_search *search, const GElf_Shdr *shdr, const GElf_Sym *sym)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);
	struct elf_function other, *function;
	size_t cnt;

	if (sym->st_shndx == SHN_UNDEF || type == STT_SECTION || type == STT_FILE ||
	    !locate(search, sym->st_value, &other))
		return 0;
	cnt = count_before(search, other.offset);
	if (!cnt)
		return 0;
	function = &search->found[search->by_offset[cnt - 1]];
	if (other.offset - function->offset < function->room)
		function->room = other.offset - function->offset;
	return 0;
}

typedef int (*symbol_visitor)(struct symbol_search *, const GElf_Shdr *, const GElf_Sym *);

static int search_table(struct symbol_search *search, Elf_Scn *section, const GElf_Shdr *shdr,
			symbol_visitor visit)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t cnt;

	if (!data || !shdr->sh_entsize)
		return 0;
	cnt = data->d_size / shdr->sh_entsize;
	for (size_t i = 0; i < cnt && i <= INT32_MAX; i++) {
		GElf_Sym sym;
		int err;

		if (!gelf_getsym(data, (int)i, &sym))
			continue;
		err = visit(search, shdr, &sym);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Calls visit() for the symbols of the first symbol table of this section type, until a call
 * returns non-zero; returns that value, or else 0. Valid files have only one table of each type.
 */
static int search_tables(struct symbol_search *search, uint32_t type, symbol_visitor visit)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(search->elf, section))) {
		GElf_Shdr shdr;

		if (gelf_getshdr(section, &shdr) && shdr.sh_type == type)
			return search_table(search, section, &shdr, visit);
	}
	return 0;
}

/* True if the file has a table of dynamic symbols that is empty but for the null symbol. */
static bool is_static_pie(Elf *elf)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr shdr;

		if (gelf_getshdr(section, &shdr) && shdr.sh_type == SHT_DYNSYM)
			return shdr.sh_size <= shdr.sh_entsize;
	}
	return false;
}

static bool needs_all(const struct wanted_functions *wanted)
{
	bool all = wanted->scope != SCOPE_EXPORTED;

	for (size_t i = 0; i < wanted->cnt; i++)
		all |= wanted->items[i].everywhere;
	return all;
}

static int compare_offsets(const void *a, const void *b, void *found)
{
	const struct elf_function *of = found;
	uint64_t x = of[*(const size_t *)a].offset, y = of[*(const size_t *)b].offset;

	return (x > y) - (x < y);
}

static int find_rooms(struct symbol_search *search, bool all)
{
	size_t cnt = search->found_cnt;
	int err;

	search->by_offset = calloc(cnt + 1, sizeof(*search->by_offset));
	if (!search->by_offset)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		search->by_offset[i] = i;
	qsort_r(search->by_offset, cnt, sizeof(*search->by_offset), compare_offsets, search->found);
	err = search_tables(search, SHT_DYNSYM, limit_room);
	if (!err && all)
		err = search_tables(search, SHT_SYMTAB, limit_room);
	/*
	 * If several found functions have the same offset, limit_room() has limited only the last
	 * one's `room`: copy it to the others.
	 */
	for (size_t i = cnt; i-- > 1;) {
		const struct elf_function *last = &search->found[search->by_offset[i]];
		struct elf_function *function = &search->found[search->by_offset[i - 1]];

		if (function->offset == last->offset)
			function->room = last->room;
	}
	return err;
}

static int search_file(struct symbol_search *search, int fd, uint16_t machine)
{
	bool all = needs_all(search->wanted);
	GElf_Ehdr ehdr;
	int err = -ENOEXEC;

	search->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!search->elf)
		return -ENOEXEC;
	if (elf_kind(search->elf) == ELF_K_ELF && gelf_getehdr(search->elf, &ehdr) &&
	    gelf_getclass(search->elf) == ELFCLASS64 && ehdr.e_machine == machine) {
		read_segments(search);
		search->is_static_pie = is_static_pie(search->elf);
		err = search_tables(search, SHT_DYNSYM, match_name);
	}
	if (!err && all)
		err = search_tables(search, SHT_SYMTAB, match_name);
	if (!err && search->found_cnt)
		err = find_rooms(search, all);
	elf_end(search->elf);
	return err;
}

int elf_functions_find(int fd, uint16_t machine, const struct wanted_functions *wanted,
		       struct elf_functions *ret)
{
	struct symbol_search search = {.wanted = wanted};
	int err;

	elf_version(EV_CURRENT);
	err = prepare_names(&search);
	if (!err)
		err = search_file(&search, fd, machine);
	free(search.order);
	free(search.definitions);
	free(search.before);
	free(search.by_offset);
	if (err)
		free(search.found);
	else
		*ret = (struct elf_functions){search.found, search.found_cnt, search.surplus_cnt,
					      search.indirect};
	return err;
}

static int match_exactly(struct symbol_search *search, const GElf_Shdr *shdr, const GElf_Sym *sym)
{
	const char *name;

	if (sym->st_shndx == SHN_UNDEF)
		return 0;
	name = elf_strptr(search->elf, shdr->sh_link, sym->st_name);
	if (!name || strcmp(name, search->name))
		return 0;
	search->symbol = *sym;
	return 1;
}

bool elf_symbol_find(Elf *elf, const char *name, GElf_Sym *ret)
{
	struct symbol_search search = {.elf = elf, .name = name};

	if (search_tables(&search, SHT_DYNSYM, match_exactly) <= 0 &&
	    search_tables(&search, SHT_SYMTAB, match_exactly) <= 0)
		return false;
	*ret = search.symbol;
	return true;
}

bool elf_variable_find(int fd, const char *name, uint64_t *ret)
{
	struct symbol_search search = {.name = name};
	GElf_Ehdr ehdr;
	bool found;

	elf_version(EV_CURRENT);
	search.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	found = search.elf && gelf_getehdr(search.elf, &ehdr) &&
		search_tables(&search, SHT_DYNSYM, match_exactly) > 0 &&
		GELF_ST_TYPE(search.symbol.st_info) == STT_OBJECT;
	if (found)
		*ret = search.symbol.st_value - ehdr.e_entry;
	elf_end(search.elf);
	return found;
}

static int match_near(struct symbol_search *search, const GElf_Shdr *shdr, const GElf_Sym *sym)
{
	const char *name;
	char *copy;

	if (GELF_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_UNDEF)
		return 0;
	name = elf_strptr(search->elf, shdr->sh_link, sym->st_name);
	if (!name || !nearest_is(&search->nearest, name))
		return 0;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	free(search->near);
	search->near = copy;
	return 0;
}

char *elf_nearest_function(int fd, const char *name)
{
	struct symbol_search search = {.nearest = nearest_begin(name, strlen(name))};
	int err;

	elf_version(EV_CURRENT);
	search.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	err = search.elf ? search_tables(&search, SHT_DYNSYM, match_near) : 0;
	if (search.elf && !err)
		search_tables(&search, SHT_SYMTAB, match_near);
	elf_end(search.elf);
	return search.near;
}

bool elf_has_section(int fd, const char *name)
{
	Elf_Scn *section = NULL;
	bool found = false;
	size_t names;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_getshdrstrndx(elf, &names) == 0)
		while (!found && (section = elf_nextscn(elf, section))) {
			GElf_Shdr shdr;
			const char *is = NULL;

			if (gelf_getshdr(section, &shdr))
				is = elf_strptr(elf, names, shdr.sh_name);
			found = is && !strcmp(is, name);
		}
	elf_end(elf);
	return found;
}
