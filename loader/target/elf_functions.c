// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds functions by name in an ELF file's symbol tables. */
#include "loader/target/elf_functions.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "loader/target/arch.h"

struct search {
	Elf *elf;
	const char *const *names;
	enum elf_scope scope;
	size_t *order; /* indexes of the names, sorted by these: files have many symbols */
	size_t order_cnt;
	struct elf_function *found;
	size_t found_cnt;
	size_t found_cap;
	uint64_t variable; /* its address */
};

/* An address is probed at its place in the file: the executable segment that holds it tells. */
static bool locate(Elf *elf, uint64_t vaddr, struct elf_function *ret)
{
	size_t cnt;

	if (elf_getphdrnum(elf, &cnt))
		return false;
	for (size_t i = 0; i < cnt; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(elf, i, &phdr))
			return false;
		if (phdr.p_type != PT_LOAD || !(phdr.p_flags & PF_X))
			continue;
		if (vaddr >= phdr.p_vaddr && vaddr - phdr.p_vaddr < phdr.p_filesz) {
			ret->offset = vaddr - phdr.p_vaddr + phdr.p_offset;
			ret->segment.offset = phdr.p_offset;
			ret->segment.size = phdr.p_filesz;
			return true;
		}
	}
	return false;
}

static int add_found(struct search *search, const struct elf_function *function)
{
	for (size_t i = 0; i < search->found_cnt; i++)
		if (search->found[i].name == function->name &&
		    search->found[i].offset == function->offset)
			return 0;
	if (array_reserve(&search->found, &search->found_cap, search->found_cnt + 1))
		return -ENOMEM;
	search->found[search->found_cnt++] = *function;
	return 0;
}

static int compare_names(const void *a, const void *b, void *names)
{
	const char *const *of = names;

	return strcmp(of[*(const size_t *)a], of[*(const size_t *)b]);
}

static int sort_names(struct search *search, size_t cnt)
{
	search->order = calloc(cnt + 1, sizeof(*search->order));
	if (!search->order)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		if (search->names[i])
			search->order[search->order_cnt++] = i;
	qsort_r(search->order, search->order_cnt, sizeof(*search->order), compare_names,
		(void *)search->names);
	return 0;
}

static bool find_name(const struct search *search, const char *name, size_t *ret)
{
	size_t low = 0, high = search->order_cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(name, search->names[search->order[middle]]);

		if (!order) {
			*ret = search->order[middle];
			return true;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return false;
}

static int match_symbol(struct search *search, const char *name, const GElf_Sym *sym, bool exported)
{
	struct elf_function function = {
		.exported = exported,
		.local = GELF_ST_BIND(sym->st_info) == STB_LOCAL,
		.size = sym->st_size,
		.room = UINT64_MAX,
	};

	if (!find_name(search, name, &function.name) ||
	    !locate(search->elf, sym->st_value, &function))
		return 0;
	return add_found(search, &function);
}

static bool is_definition(const struct search *search, const GElf_Sym *sym)
{
	unsigned int bind = GELF_ST_BIND(sym->st_info);

	return GELF_ST_TYPE(sym->st_info) == STT_FUNC && sym->st_shndx != SHN_UNDEF &&
	       sym->st_value &&
	       (bind == STB_GLOBAL || bind == STB_WEAK || search->scope == ELF_ALL);
}

static int match_name(struct search *search, const GElf_Shdr *shdr, const GElf_Sym *sym)
{
	const char *name;

	if (!is_definition(search, sym))
		return 0;
	name = elf_strptr(search->elf, shdr->sh_link, sym->st_name);
	return name ? match_symbol(search, name, sym, shdr->sh_type == SHT_DYNSYM) : 0;
}

/* Whatever has a symbol may be entered there. */
static int limit_room(struct search *search, const GElf_Shdr *shdr, const GElf_Sym *sym)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);
	struct elf_function other;

	if (sym->st_shndx == SHN_UNDEF || type == STT_SECTION || type == STT_FILE ||
	    !locate(search->elf, sym->st_value, &other))
		return 0;
	for (size_t i = 0; i < search->found_cnt; i++) {
		struct elf_function *function = &search->found[i];

		if (other.offset > function->offset &&
		    other.offset - function->offset < function->room)
			function->room = other.offset - function->offset;
	}
	return 0;
}

typedef int (*symbol_visitor)(struct search *, const GElf_Shdr *, const GElf_Sym *);

static int search_table(struct search *search, Elf_Scn *section, const GElf_Shdr *shdr,
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

static int search_tables(struct search *search, uint32_t type, symbol_visitor visit)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(search->elf, section))) {
		GElf_Shdr shdr;
		int err;

		if (!gelf_getshdr(section, &shdr) || shdr.sh_type != type)
			continue;
		err = search_table(search, section, &shdr, visit);
		if (err)
			return err;
	}
	return 0;
}

static int search_file(struct search *search, int fd)
{
	GElf_Ehdr ehdr;
	int err = -ENOEXEC;

	elf_version(EV_CURRENT);
	search->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!search->elf)
		return -ENOEXEC;
	if (elf_kind(search->elf) == ELF_K_ELF && gelf_getehdr(search->elf, &ehdr) &&
	    gelf_getclass(search->elf) == ELFCLASS64 && ehdr.e_machine == arch_elf_machine)
		err = search_tables(search, SHT_DYNSYM, match_name);
	if (!err && search->scope != ELF_EXPORTED)
		err = search_tables(search, SHT_SYMTAB, match_name);
	if (!err && search->found_cnt)
		err = search_tables(search, SHT_DYNSYM, limit_room);
	if (!err && search->found_cnt && search->scope != ELF_EXPORTED)
		err = search_tables(search, SHT_SYMTAB, limit_room);
	elf_end(search->elf);
	return err;
}

int elf_functions_find(int fd, const char *const *names, size_t cnt, enum elf_scope scope,
		       struct elf_function **ret, size_t *ret_cnt)
{
	struct search search = {.names = names, .scope = scope};
	int err = sort_names(&search, cnt);

	if (!err)
		err = search_file(&search, fd);
	free(search.order);
	if (err) {
		free(search.found);
		return err;
	}
	*ret = search.found;
	*ret_cnt = search.found_cnt;
	return 0;
}

static int match_variable(struct search *search, const GElf_Shdr *shdr, const GElf_Sym *sym)
{
	const char *name;

	if (GELF_ST_TYPE(sym->st_info) != STT_OBJECT || sym->st_shndx == SHN_UNDEF)
		return 0;
	name = elf_strptr(search->elf, shdr->sh_link, sym->st_name);
	if (!name || strcmp(name, search->names[0]))
		return 0;
	search->variable = sym->st_value;
	return 1;
}

bool elf_variable_find(int fd, const char *name, uint64_t *ret)
{
	struct search search = {.names = &name};
	GElf_Ehdr ehdr;
	bool found;

	elf_version(EV_CURRENT);
	search.elf = elf_begin(fd, ELF_C_READ, NULL);
	found = search.elf && gelf_getehdr(search.elf, &ehdr) &&
		search_tables(&search, SHT_DYNSYM, match_variable) > 0;
	if (found)
		*ret = search.variable - ehdr.e_entry;
	elf_end(search.elf);
	return found;
}

bool elf_has_section(int fd, const char *name)
{
	Elf_Scn *section = NULL;
	bool found = false;
	size_t names;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
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

int elf_class(int fd)
{
	unsigned char ident[EI_NIDENT];
	ssize_t len = pread(fd, ident, sizeof(ident), 0);

	if (len < 0)
		return -errno;
	if (len < EI_NIDENT || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	return ident[EI_CLASS];
}
