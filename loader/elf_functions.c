// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds functions by name in an ELF file's symbol tables. */
#include "loader/elf_functions.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader/arch.h"

struct search {
	Elf *elf;
	const char *const *names;
	size_t name_cnt;
	struct elf_function *found;
	size_t found_cnt;
};

/* An address is probed at its place in the file: the executable segment that holds it tells. */
static bool file_offset_of(Elf *elf, uint64_t vaddr, uint64_t *ret)
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
			*ret = vaddr - phdr.p_vaddr + phdr.p_offset;
			return true;
		}
	}
	return false;
}

static int add_found(struct search *search, size_t name, uint64_t offset, bool exported)
{
	struct elf_function *grown;

	for (size_t i = 0; i < search->found_cnt; i++)
		if (search->found[i].name == name && search->found[i].offset == offset)
			return 0;
	grown = reallocarray(search->found, search->found_cnt + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	search->found = grown;
	grown[search->found_cnt++] = (struct elf_function){name, offset, exported};
	return 0;
}

static int match_symbol(struct search *search, const char *name, const GElf_Sym *sym, bool exported)
{
	uint64_t offset;

	for (size_t i = 0; i < search->name_cnt; i++) {
		if (strcmp(name, search->names[i]) != 0)
			continue;
		if (!file_offset_of(search->elf, sym->st_value, &offset))
			return 0;
		return add_found(search, i, offset, exported);
	}
	return 0;
}

static bool is_global_definition(const GElf_Sym *sym)
{
	unsigned int bind = GELF_ST_BIND(sym->st_info);

	return GELF_ST_TYPE(sym->st_info) == STT_FUNC && sym->st_shndx != SHN_UNDEF &&
	       sym->st_value && (bind == STB_GLOBAL || bind == STB_WEAK);
}

static int search_table(struct search *search, Elf_Scn *section, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t cnt;

	if (!data || !shdr->sh_entsize)
		return 0;
	cnt = data->d_size / shdr->sh_entsize;
	for (size_t i = 0; i < cnt && i <= INT32_MAX; i++) {
		const char *name;
		GElf_Sym sym;
		int err;

		if (!gelf_getsym(data, (int)i, &sym) || !is_global_definition(&sym))
			continue;
		name = elf_strptr(search->elf, shdr->sh_link, sym.st_name);
		if (!name)
			continue;
		err = match_symbol(search, name, &sym, shdr->sh_type == SHT_DYNSYM);
		if (err)
			return err;
	}
	return 0;
}

static int search_tables(struct search *search, uint32_t type)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(search->elf, section))) {
		GElf_Shdr shdr;
		int err;

		if (!gelf_getshdr(section, &shdr) || shdr.sh_type != type)
			continue;
		err = search_table(search, section, &shdr);
		if (err)
			return err;
	}
	return 0;
}

int elf_functions_find(int fd, const char *const *names, size_t cnt, bool exported_only,
		       struct elf_function **ret, size_t *ret_cnt)
{
	struct search search = {.names = names, .name_cnt = cnt};
	GElf_Ehdr ehdr;
	int err = -ENOEXEC;

	elf_version(EV_CURRENT);
	search.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!search.elf)
		return -ENOEXEC;
	if (elf_kind(search.elf) == ELF_K_ELF && gelf_getehdr(search.elf, &ehdr) &&
	    gelf_getclass(search.elf) == ELFCLASS64 && ehdr.e_machine == arch_elf_machine)
		err = search_tables(&search, SHT_DYNSYM);
	if (!err && !exported_only)
		err = search_tables(&search, SHT_SYMTAB);
	elf_end(search.elf);
	if (err) {
		free(search.found);
		return err;
	}
	*ret = search.found;
	*ret_cnt = search.found_cnt;
	return 0;
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
