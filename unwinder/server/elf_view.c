// SPDX-License-Identifier: GPL-2.0-or-later
/* Maps an ELF file into memory. */
#include "unwinder/server/elf_view.h"

#include <errno.h>
#include <gelf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

/*
 * Makes all bytes from the section headers to the file's end writable, since libelf changes the
 * header of a section that it decompresses. The headers are usually at the file's end. Memory is
 * used only for pages that are written.
 */
static int make_headers_writable(const struct elf_view *view)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)view->bytes;
	uint64_t start = header->e_shoff & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);

	if (!header->e_shoff || header->e_shoff >= view->size)
		return 0;
	return mprotect(view->bytes + start, view->size - start, PROT_READ | PROT_WRITE) ? -ENOMEM
											 : 0;
}

static int open_elf(struct elf_view *view)
{
	GElf_Ehdr header;

	view->elf = elf_memory(view->bytes, view->size);
	if (!view->elf || !gelf_getehdr(view->elf, &header) ||
	    gelf_getclass(view->elf) != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	return 0;
}

int elf_view_init(int fd, struct elf_view *ret)
{
	struct elf_view view = {0};
	int err = map_file(fd, &view);

	if (!err)
		err = make_headers_writable(&view);
	if (!err)
		err = open_elf(&view);
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
