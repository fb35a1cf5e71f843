// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lists a file's FDEs. libdw iterates over them, but does not decode their addresses: the encoding
 * of an FDE's addresses is stored in its CIE.
 */
#include "unwinder/server/fde_list.h"

#include <dwarf.h>
#include <endian.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"

/* Mask of the bits of a pointer encoding that give the pointer's size */
#define LENGTH_FORMAT 0x07

/* An .eh_frame or .debug_frame section in memory. */
struct cfi_section {
	const unsigned char *ident;
	Elf_Data *data;
	uint64_t addr; /* ELF address at which the data begins */
	bool is_eh;
};

static int by_place(const void *a, const void *b)
{
	const struct fde *x = a, *y = b;

	return ORDER(x->start, y->start) ?: ORDER(x->is_debug, y->is_debug)
					       ?: ORDER(y->end, x->end);
}

static int add_fde(struct fde_list *list, const struct fde *fde)
{
	if (array_reserve(&list->items, &list->cap, list->cnt + 1))
		return -ENOMEM;
	list->items[list->cnt++] = *fde;
	return 0;
}

/* Returns the size of a pointer in this encoding; 0 if the encoding is not supported. */
static size_t encoded_bytes(uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	default:
		return 0;
	}
}

/* Decodes the encoded pointer at `at`. addr: ELF address of `at`. */
static bool decode_pointer(const uint8_t *at, const uint8_t *end, uint8_t encoding, uint64_t addr,
			   uint64_t *ret)
{
	size_t len = encoded_bytes(encoding);
	uint64_t value = 0;

	if (!len || (size_t)(end - at) < len)
		return false;
	memcpy(&value, at, len);
	value = le64toh(value);
	if ((encoding & 0x0f) == DW_EH_PE_sdata4)
		value = (uint64_t)(int32_t)value;
	else if ((encoding & 0x0f) == DW_EH_PE_sdata2)
		value = (uint64_t)(int16_t)value;
	switch (encoding & 0x70) {
	case DW_EH_PE_absptr:
		break;
	case DW_EH_PE_pcrel:
		value += addr;
		break;
	default:
		return false;
	}
	*ret = value;
	return !(encoding & DW_EH_PE_indirect);
}

/*
 * Reads the encoding of addresses from a CIE's augmentation. The augmentation string is 'z' and
 * more letters in any order. Each letter has its own data: R has one byte, which is the encoding; L
 * has one byte; P has one byte and a pointer; S, and on aarch64 B and G, have none.
 */
static bool read_encoding(const Dwarf_CIE *cie, uint8_t *ret)
{
	const uint8_t *at = cie->augmentation_data, *end = at + cie->augmentation_data_size;

	*ret = DW_EH_PE_absptr;
	if (!cie->augmentation[0])
		return true;
	if (cie->augmentation[0] != 'z' || !at)
		return false;
	for (const char *letter = cie->augmentation + 1; *letter; letter++) {
		switch (*letter) {
		case 'R':
			if (at >= end)
				return false;
			*ret = *at;
			return true;
		case 'L':
			at++;
			break;
		case 'P':
			if (at >= end || !encoded_bytes(*at) ||
			    encoded_bytes(*at) + 1 > (size_t)(end - at))
				return false;
			at += encoded_bytes(*at) + 1;
			break;
		case 'S':
		case 'B':
		case 'G':
			break;
		default:
			return false;
		}
		if (at > end)
			return false;
	}
	return true;
}

/*
 * Adds the CIE at cie_offset to the list, and sets *encoding to that of addresses in its FDEs.
 * Returns 0, -ENOENT if the CIE is unreadable, or -ENOMEM.
 */
static int add_cie(const struct cfi_section *section, Dwarf_Off cie_offset, struct fde_list *list,
		   uint8_t *encoding)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (dwarf_next_cfi(section->ident, section->data, section->is_eh, cie_offset, &next,
			   &entry) ||
	    !dwarf_cfi_cie_p(&entry) || !read_encoding(&entry.cie, encoding))
		return -ENOENT;
	if (array_reserve(&list->cies, &list->cie_cap, list->cie_cnt + 1))
		return -ENOMEM;
	list->cies[list->cie_cnt++] = entry.cie;
	return 0;
}

/*
 * Finds an FDE's instructions, which follow its addresses and, if the augmentation has a 'z', the
 * augmentation data.
 */
static bool read_program(const Dwarf_CIE *cie, const Dwarf_FDE *entry, const uint8_t *at,
			 struct fde *ret)
{
	uint64_t len = 0;
	unsigned int shift = 0;

	while (cie->augmentation[0] == 'z') {
		if (at >= entry->end || shift > 28)
			return false;
		len |= (uint64_t)(*at & 0x7f) << shift;
		shift += 7;
		if (!(*at++ & 0x80))
			break;
	}
	if (len > (size_t)(entry->end - at))
		return false;
	ret->program = at + len;
	ret->program_end = entry->end;
	return true;
}

/*
 * Reads an FDE's start and its length. The length is encoded with the same size as the start, but
 * is never relative. Rejects FDEs at address 0, which linkers leave for functions that they
 * dropped.
 */
static bool read_place(const struct cfi_section *section, const Dwarf_CIE *cie,
		       const Dwarf_FDE *entry, uint8_t encoding, struct fde *ret)
{
	const uint8_t *base = section->data->d_buf;
	uint64_t addr = section->addr + (uint64_t)(entry->start - base), len;

	if (!decode_pointer(entry->start, entry->end, encoding, addr, &ret->start) ||
	    !decode_pointer(entry->start + encoded_bytes(encoding), entry->end,
			    encoding & LENGTH_FORMAT, 0, &len))
		return false;
	ret->is_debug = !section->is_eh;
	ret->end = ret->start + len;
	return ret->start && ret->end > ret->start &&
	       read_program(cie, entry, entry->start + 2 * encoded_bytes(encoding), ret);
}

static int list_section(const struct cfi_section *section, struct fde_list *list)
{
	Dwarf_Off offset = 0, next, known_cie = UINT64_MAX;
	uint8_t encoding = 0;
	bool readable = false;
	Dwarf_CFI_Entry entry;
	int err = 0, more;

	while (!err && offset < section->data->d_size) {
		struct fde fde;

		more = dwarf_next_cfi(section->ident, section->data, section->is_eh, offset, &next,
				      &entry);
		if (more > 0 || next <= offset)
			break;
		offset = next;
		/* Skip CIEs, and entries that libdw cannot read. */
		if (more < 0 || dwarf_cfi_cie_p(&entry))
			continue;
		if (entry.fde.CIE_pointer != known_cie) {
			known_cie = entry.fde.CIE_pointer;
			err = add_cie(section, known_cie, list, &encoding);
			readable = !err;
			if (err == -ENOENT)
				err = 0;
		}
		if (!readable)
			continue;
		fde.cie = (uint32_t)list->cie_cnt - 1;
		if (read_place(section, &list->cies[fde.cie], &entry.fde, encoding, &fde))
			err = add_fde(list, &fde);
	}
	return err;
}

static bool find_section(Elf *elf, const char *wanted, struct cfi_section *section)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr mem, *header = gelf_getshdr(scn, &mem);
		const char *name = header ? elf_strptr(elf, names, header->sh_name) : NULL;

		if (!name || strcmp(name, wanted) || header->sh_type == SHT_NOBITS)
			continue;
		section->addr = header->sh_addr;
		if ((header->sh_flags & SHF_COMPRESSED) && elf_compress(scn, 0, 0) < 0)
			return false;
		section->data = elf_rawdata(scn, NULL);
		return section->data && section->data->d_buf && section->data->d_size;
	}
	return false;
}

/*
 * Converts an ELF address to a file offset. Sets *rest to the number of bytes from there to the end
 * of the segment.
 */
static bool locate(Elf *elf, uint64_t addr, uint64_t *offset, uint64_t *rest)
{
	size_t cnt;

	if (elf_getphdrnum(elf, &cnt))
		return false;
	for (size_t i = 0; i < cnt; i++) {
		GElf_Phdr mem, *header = gelf_getphdr(elf, (int)i, &mem);

		if (!header || header->p_type != PT_LOAD || addr < header->p_vaddr ||
		    addr - header->p_vaddr >= header->p_filesz)
			continue;
		*offset = addr - header->p_vaddr + header->p_offset;
		*rest = header->p_filesz - (addr - header->p_vaddr);
		return true;
	}
	return false;
}

/*
 * Finds .eh_frame in a file without section headers, by PT_GNU_EH_FRAME. The size of .eh_frame is
 * not needed, as .eh_frame ends with a terminator.
 */
static bool find_by_header(Elf *elf, struct cfi_section *section)
{
	size_t cnt;

	if (elf_getphdrnum(elf, &cnt))
		return false;
	for (size_t i = 0; i < cnt; i++) {
		GElf_Phdr mem, *header = gelf_getphdr(elf, (int)i, &mem);
		uint64_t offset, rest;
		Elf_Data *data;
		const uint8_t *bytes;

		if (!header || header->p_type != PT_GNU_EH_FRAME)
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t)header->p_offset, 12, ELF_T_BYTE);
		if (!data)
			return false;
		bytes = data->d_buf;
		if (bytes[0] != 1 || !decode_pointer(bytes + 4, bytes + 12, bytes[1],
						     header->p_vaddr + 4, &section->addr))
			return false;
		if (!locate(elf, section->addr, &offset, &rest))
			return false;
		section->data = elf_getdata_rawchunk(elf, (int64_t)offset, rest, ELF_T_BYTE);
		return section->data != NULL;
	}
	return false;
}

int fde_list_init(Elf *elf, struct fde_list *ret)
{
	struct cfi_section section = {
		.ident = (const unsigned char *)elf_getident(elf, NULL),
		.is_eh = true,
	};
	struct fde_list list = {0};
	int err = 0;

	if (find_section(elf, ".eh_frame", &section) || find_by_header(elf, &section))
		err = list_section(&section, &list);
	section.is_eh = false;
	if (!err && find_section(elf, ".debug_frame", &section))
		err = list_section(&section, &list);
	if (!err && !list.cnt)
		err = -ENOENT;
	if (err) {
		fde_list_deinit(&list);
		return err;
	}
	qsort(list.items, list.cnt, sizeof(*list.items), by_place);
	*ret = list;
	return 0;
}

void fde_list_deinit(struct fde_list *list)
{
	free(list->items);
	free(list->cies);
	*list = (struct fde_list){0};
}
