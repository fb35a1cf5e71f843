// SPDX-License-Identifier: GPL-2.0-or-later
/* Maps an ELF file and hides parts that mislead libdw. */
#include "unwinder/server/elf_view.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Size of .eh_frame_hdr before its first pointer, and size of that pointer, in bytes. */
#define HEADER_BYTES 4
#define HEADER_POINTER 4

static int map_file(int fd, struct elf_view *view)
{
	struct stat st;
	void *bytes;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(Elf64_Ehdr))
		return -ENOEXEC;
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return errno == ENOMEM ? -ENOMEM : -ENOEXEC;
	view->bytes = bytes;
	view->size = (size_t)st.st_size;
	return 0;
}

/* Makes a range of the view writable. Memory is used only for pages that are written. */
static bool make_writable(const struct elf_view *view, uint64_t offset, size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t start = offset / page * page;

	return !mprotect(view->bytes + start, offset - start + len, PROT_READ | PROT_WRITE);
}

static bool section_named(Elf *elf, const char *wanted, GElf_Shdr *ret)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name =
			gelf_getshdr(scn, ret) ? elf_strptr(elf, names, ret->sh_name) : NULL;

		if (name && !strcmp(name, wanted))
			return true;
	}
	return false;
}

static bool header_segment(Elf *elf, GElf_Phdr *ret)
{
	size_t cnt;

	if (elf_getphdrnum(elf, &cnt))
		return false;
	for (size_t i = 0; i < cnt; i++)
		if (gelf_getphdr(elf, (int)i, ret) && ret->p_type == PT_GNU_EH_FRAME)
			return true;
	return false;
}

/*
 * Overwrites the search table's encodings in .eh_frame_hdr with "omitted", so that libdw finds no
 * search table there and reads .eh_frame itself.
 */
static void hide_search_table(const struct elf_view *view, uint64_t offset, bool keep_pointer)
{
	static const uint8_t start[] = {1, DW_EH_PE_pcrel | DW_EH_PE_sdata4};
	uint8_t *bytes;

	if (offset > view->size || view->size - offset < HEADER_BYTES + HEADER_POINTER ||
	    !make_writable(view, offset, HEADER_BYTES))
		return;
	bytes = (uint8_t *)view->bytes + offset;
	/*
	 * If the file has an .eh_frame section, libdw does not use the pointer to .eh_frame, but
	 * fails if the encoding of the pointer is unknown: store a known encoding.
	 */
	if (!keep_pointer)
		memcpy(bytes, start, sizeof(start));
	bytes[2] = DW_EH_PE_omit;
	bytes[3] = DW_EH_PE_omit;
}

static void hide_sections(const struct elf_view *view)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)view->bytes;

	if (!make_writable(view, 0, sizeof(*header)))
		return;
	header->e_shoff = 0;
	header->e_shnum = 0;
	header->e_shstrndx = 0;
}

/*
 * Makes all bytes from the section headers to the file's end writable, since libelf changes the
 * header of a section that it decompresses. The headers are usually at the file's end.
 */
static int make_headers_writable(const struct elf_view *view)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)view->bytes;
	uint64_t offset = header->e_shoff;

	if (!offset || offset >= view->size)
		return 0;
	return make_writable(view, offset, view->size - offset) ? 0 : -ENOMEM;
}

static int open_elf(struct elf_view *view)
{
	GElf_Ehdr header;

	if (view->elf)
		elf_end(view->elf);
	view->elf = elf_memory(view->bytes, view->size);
	if (!view->elf || !gelf_getehdr(view->elf, &header) ||
	    gelf_getclass(view->elf) != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	return 0;
}

/*
 * Hides the search table in .eh_frame_hdr. Like libdw, finds .eh_frame_hdr by section if the file
 * has an .eh_frame section. Otherwise finds it by program header, and hides the useless section
 * headers, too.
 */
static int hide(struct elf_view *view)
{
	GElf_Shdr section, described;
	GElf_Phdr segment;

	if (section_named(view->elf, ".eh_frame", &described)) {
		if (section_named(view->elf, ".eh_frame_hdr", &section))
			hide_search_table(view, section.sh_offset, false);
		return 0;
	}
	if (!header_segment(view->elf, &segment))
		return 0;
	hide_search_table(view, segment.p_offset, true);
	hide_sections(view);
	return open_elf(view);
}

int elf_view_init(int fd, struct elf_view *ret)
{
	struct elf_view view = {0};
	int err = map_file(fd, &view);

	if (!err)
		err = make_headers_writable(&view);
	if (!err)
		err = open_elf(&view);
	if (!err)
		err = hide(&view);
	if (err) {
		elf_view_deinit(&view);
		return err;
	}
	*ret = view;
	return 0;
}

void elf_view_deinit(struct elf_view *view)
{
	if (view->elf)
		elf_end(view->elf);
	if (view->bytes)
		munmap(view->bytes, view->size);
	*view = (struct elf_view){0};
}
