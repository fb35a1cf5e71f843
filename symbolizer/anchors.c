// SPDX-License-Identifier: GPL-2.0-or-later
/* Sections of relocatable files, symbols of others. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/anchors.h"

int elf_object__add_anchor(struct elf_object *obj, const char *name, uint64_t addr)
{
	size_t cnt = obj->anchor_cnt;
	struct anchor *anchors = reallocarray(obj->anchors, cnt + 1, sizeof(*anchors));

	if (!anchors)
		return -ENOMEM;
	obj->anchors = anchors;
	anchors[cnt] = (struct anchor){.name = strdup(name), .addr = addr};
	if (!anchors[cnt].name)
		return -ENOMEM;
	obj->anchor_cnt++;
	return 0;
}

static struct anchor *find(struct elf_object *obj, const char *name)
{
	for (size_t i = 0; name && i < obj->anchor_cnt; i++)
		if (!strcmp(obj->anchors[i].name, name))
			return &obj->anchors[i];
	return NULL;
}

static void resolve_sections(struct elf_object *obj, Elf *elf, GElf_Addr bias)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		struct anchor *anchor;
		GElf_Shdr shdr;

		if (!gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_ALLOC))
			continue;
		anchor = find(obj, elf_strptr(elf, names, shdr.sh_name));
		if (!anchor || anchor->bytes)
			continue;
		anchor->vaddr = shdr.sh_addr + bias;
		anchor->bytes = shdr.sh_size;
	}
}

/* What is behind a symbol, to the end of the file, moves with it. */
static void resolve_symbols(struct elf_object *obj)
{
	int cnt = dwfl_module_getsymtab(obj->mod);

	for (int i = 1; i < cnt; i++) {
		GElf_Addr addr;
		GElf_Sym sym;
		const char *name =
			dwfl_module_getsym_info(obj->mod, i, &sym, &addr, NULL, NULL, NULL);
		struct anchor *anchor = find(obj, name);

		if (!anchor || anchor->bytes || sym.st_shndx == SHN_UNDEF)
			continue;
		anchor->vaddr = addr;
		anchor->bytes = UINT64_MAX - addr;
	}
}

void anchors_resolve(struct elf_object *obj)
{
	GElf_Addr bias;
	Elf *elf = obj->anchor_cnt ? dwfl_module_getelf(obj->mod, &bias) : NULL;
	GElf_Ehdr ehdr;

	for (size_t i = 0; i < obj->anchor_cnt; i++)
		obj->anchors[i].bytes = 0;
	if (!elf || !gelf_getehdr(elf, &ehdr))
		return;
	if (ehdr.e_type == ET_REL)
		resolve_sections(obj, elf, bias);
	else
		resolve_symbols(obj);
}

uint64_t anchors_translate(const struct elf_object *obj, uint64_t addr)
{
	for (size_t i = 0; i < obj->anchor_cnt; i++) {
		const struct anchor *anchor = &obj->anchors[i];

		if (addr >= anchor->addr && addr - anchor->addr < anchor->bytes)
			return addr - anchor->addr + anchor->vaddr;
	}
	return 0;
}

void anchors_deinit(struct elf_object *obj)
{
	for (size_t i = 0; i < obj->anchor_cnt; i++)
		free(obj->anchors[i].name);
	free(obj->anchors);
	obj->anchors = NULL;
	obj->anchor_cnt = 0;
}
