// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes small ELF files from hand-written call frame information, for x86-64 or aarch64. */
#include "tests/unit/unwinder/cfi_file.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void cfi_put(struct cfi_file *file, const void *bytes, size_t len)
{
	file->bytes = realloc(file->bytes, file->size + len);
	if (!file->bytes)
		abort();
	memcpy(file->bytes + file->size, bytes, len);
	file->size += len;
}

static void cfi_put_u32(struct cfi_file *file, uint32_t value)
{
	cfi_put(file, &value, sizeof(value));
}

static void cfi_put_u64(struct cfi_file *file, uint64_t value)
{
	cfi_put(file, &value, sizeof(value));
}

static bool cfi_is_debug(const struct cfi_file *file)
{
	return strcmp(file->section, ".debug_frame") == 0;
}

uint32_t cfi_add_cie(struct cfi_file *file)
{
	static const unsigned char x86[] = {1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0};
	static const unsigned char arm64[] = {1, 0, 1, 0x78, 30, 0x0c, 31, 0, 0, 0, 0, 0};
	uint32_t at = (uint32_t)file->size;

	cfi_put_u32(file, 4 + sizeof(x86));
	cfi_put_u32(file, cfi_is_debug(file) ? UINT32_MAX : 0);
	cfi_put(file, file->is_arm64 ? arm64 : x86, sizeof(x86));
	return at;
}

void cfi_add_fde(struct cfi_file *file, uint32_t cie, uint64_t start, uint64_t len,
		 const void *instructions, size_t instruction_bytes)
{
	cfi_put_u32(file, (uint32_t)(4 + 16 + instruction_bytes));
	cfi_put_u32(file, cfi_is_debug(file) ? cie : (uint32_t)file->size - cie);
	cfi_put_u64(file, start);
	cfi_put_u64(file, len);
	cfi_put(file, instructions, instruction_bytes);
}

void cfi_write(int fd, const void *bytes, size_t len, uint64_t offset)
{
	if (pwrite(fd, bytes, len, (off_t)offset) != (ssize_t)len)
		abort();
}

static void cfi_write_headers(const struct cfi_file *file, int fd, uint64_t frames)
{
	static const char names[] = "\0.strings";
	const uint64_t strings = (frames + file->size + 7) & ~7ULL;
	const uint64_t own = strings + sizeof(names), sections = (own + 64) & ~7ULL;
	Elf64_Shdr headers[3] = {
		[1] = {.sh_name = sizeof(names),
		       .sh_type = SHT_PROGBITS,
		       .sh_addr = frames,
		       .sh_offset = frames,
		       .sh_size = file->size},
		[2] = {.sh_name = 1,
		       .sh_type = SHT_STRTAB,
		       .sh_offset = strings,
		       .sh_size = sizeof(names) + strlen(file->section) + 1},
	};
	Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = file->is_arm64 ? EM_AARCH64 : EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = cfi_is_debug(file) ? 1 : 2,
		.e_shoff = file->by_header ? 0 : sections + file->far_headers,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = file->by_header ? 0 : 3,
		.e_shstrndx = file->by_header ? 0 : 2,
	};

	cfi_write(fd, names, sizeof(names), strings);
	cfi_write(fd, file->section, strlen(file->section) + 1, own);
	cfi_write(fd, headers, sizeof(headers), sections);
	cfi_write(fd, &header, sizeof(header), 0);
}

/*
 * Writes the program headers, and an .eh_frame_hdr with an empty table before the frame
 * information.
 */
static void cfi_write_segments(const struct cfi_file *file, int fd, uint64_t header)
{
	static const unsigned char empty[] = {1, 0x1b, 0x03, 0x3b, 8, 0, 0, 0, 0, 0, 0, 0};
	const uint64_t end = header + 12 + file->size;
	const Elf64_Phdr segments[] = {
		{.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = end, .p_memsz = end},
		{.p_type = PT_GNU_EH_FRAME,
		 .p_offset = header,
		 .p_vaddr = header,
		 .p_filesz = 12,
		 .p_memsz = 12},
	};

	cfi_write(fd, empty, sizeof(empty), header);
	cfi_write(fd, segments, sizeof(segments), sizeof(Elf64_Ehdr));
}

int cfi_file_finish(struct cfi_file *file)
{
	const uint64_t header = (CFI_TEXT + file->text_bytes + 7) & ~7ULL;
	int fd = memfd_create("frames", MFD_CLOEXEC);

	if (fd < 0)
		abort();
	cfi_write(fd, file->bytes, file->size, header + 12);
	cfi_write_headers(file, fd, header + 12);
	cfi_write_segments(file, fd, header);
	free(file->bytes);
	file->bytes = NULL;
	file->size = 0;
	return fd;
}
