// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes small core files by hand. */
#include "tests/unit/proof/made_core.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define PAGE 4096ULL

void made_core_segment(struct made_core *core, uint64_t addr, uint64_t bytes, unsigned int flags,
		       const void *content, uint64_t content_bytes)
{
	if (!core->content_end)
		core->content_end = MADE_CONTENT;
	assert_true(core->cnt < MADE_SEGMENTS_MAX);
	core->segments[core->cnt] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = flags,
		.p_offset = core->content_end,
		.p_vaddr = addr,
		.p_filesz = content_bytes,
		.p_memsz = bytes,
		.p_align = PAGE,
	};
	core->contents[core->cnt++] = content;
	core->content_end += (content_bytes + PAGE - 1) / PAGE * PAGE;
}

static void put(struct made_core *core, const void *bytes, size_t len)
{
	assert_true(core->note_bytes + len + 3 < MADE_NOTES_MAX);
	memcpy(core->notes + core->note_bytes, bytes, len);
	core->note_bytes += (len + 3) & ~(size_t)3;
}

void made_core_note(struct made_core *core, const char *name, uint32_t type, const void *bytes,
		    size_t len)
{
	const Elf64_Nhdr header = {
		.n_namesz = (uint32_t)strlen(name) + 1,
		.n_descsz = (uint32_t)len,
		.n_type = type,
	};

	put(core, &header, sizeof(header));
	put(core, name, header.n_namesz);
	put(core, bytes, len);
}

void made_core_thread(struct made_core *core, const struct made_thread *thread)
{
	const size_t registers = (core->machine == EM_X86_64 ? 27 : 34) * sizeof(uint64_t);
	unsigned char bytes[112 + sizeof(thread->registers) + 8] = {0};

	memcpy(bytes + 12, &thread->signal, sizeof(thread->signal));
	memcpy(bytes + 32, &thread->tid, sizeof(thread->tid));
	memcpy(bytes + 112, thread->registers, registers);
	made_core_note(core, "CORE", NT_PRSTATUS, bytes, 112 + registers + 8);
}

void made_core_files(struct made_core *core, const struct made_file *files, size_t cnt)
{
	uint64_t words[2 + 3 * MADE_SEGMENTS_MAX] = {cnt, PAGE};
	char note[4096];
	size_t len = (2 + 3 * cnt) * sizeof(uint64_t);

	assert_true(cnt <= MADE_SEGMENTS_MAX);
	for (size_t i = 0; i < cnt; i++) {
		const size_t path_len = strlen(files[i].path) + 1;

		words[2 + 3 * i] = files[i].start;
		words[3 + 3 * i] = files[i].end;
		words[4 + 3 * i] = files[i].pages;
		assert_true(len + path_len <= sizeof(note));
		memcpy(note + len, files[i].path, path_len);
		len += path_len;
	}
	memcpy(note, words, (2 + 3 * cnt) * sizeof(uint64_t));
	made_core_note(core, "CORE", NT_FILE, note, len);
}

void made_core_info(struct made_core *core, int32_t pid, const char *name, const char *arguments)
{
	char bytes[136] = {0};

	memcpy(bytes + 24, &pid, sizeof(pid));
	memcpy(bytes + 40, name, strnlen(name, 16));
	memcpy(bytes + 56, arguments, strnlen(arguments, 80));
	made_core_note(core, "CORE", NT_PRPSINFO, bytes, sizeof(bytes));
}

static void write_at(int fd, const void *bytes, size_t len, uint64_t offset)
{
	assert_int_equal(pwrite(fd, bytes, len, (off_t)offset), len);
}

int made_core_open(const struct made_core *core)
{
	const uint64_t cnt = core->empty_headers + core->cnt + 1, sections = sizeof(Elf64_Ehdr);
	const uint64_t headers = sections + sizeof(Elf64_Shdr);
	const uint64_t notes = headers + cnt * sizeof(Elf64_Phdr);
	const Elf64_Shdr section = {.sh_info = (uint32_t)cnt};
	const Elf64_Phdr note = {
		.p_type = PT_NOTE, .p_offset = notes, .p_filesz = core->note_bytes};
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_CORE,
		.e_machine = (uint16_t)core->machine,
		.e_version = EV_CURRENT,
		.e_phoff = headers,
		.e_shoff = sections,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = core->counts_in_section ? PN_XNUM : (uint16_t)cnt,
	};
	const uint64_t first = headers + core->empty_headers * sizeof(Elf64_Phdr);
	int fd = memfd_create("core", MFD_CLOEXEC);

	assert_true(fd >= 0);
	write_at(fd, &header, sizeof(header), 0);
	write_at(fd, &section, sizeof(section), sections);
	write_at(fd, &note, sizeof(note), first);
	write_at(fd, core->segments, core->cnt * sizeof(Elf64_Phdr), first + sizeof(note));
	write_at(fd, core->notes, core->note_bytes, notes);
	for (size_t i = 0; i < core->cnt; i++)
		if (core->segments[i].p_filesz)
			write_at(fd, core->contents[i], core->segments[i].p_filesz,
				 core->segments[i].p_offset);
	return fd;
}
