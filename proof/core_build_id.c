// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the ELF headers and notes of a mapped file from the memory in a core. */
#include "proof/core_build_id.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Maximum number of program headers to read; ELF files usually have about a dozen. */
#define HEADERS_MAX 64
/*
 * Maximum size of a note segment, in bytes. Build ids are in the first page of a file, and many
 * cores contain only that page.
 */
#define NOTES_BYTES_MAX 4096

static bool read_all(const struct memory *memory, uint64_t addr, void *buf, size_t len)
{
	return memory->ops->read(memory, addr, buf, len) == (ssize_t)len;
}

static size_t padded(size_t len)
{
	return (len + 3) & ~(size_t)3;
}

static int find_note(const unsigned char *notes, size_t len, char *ret)
{
	for (size_t at = 0; len - at >= sizeof(Elf64_Nhdr);) {
		const unsigned char *bytes = notes + at + sizeof(Elf64_Nhdr);
		size_t left = len - at - sizeof(Elf64_Nhdr);
		Elf64_Nhdr note;

		memcpy(&note, notes + at, sizeof(note));
		if (note.n_namesz > left || note.n_descsz > left ||
		    padded(note.n_namesz) + padded(note.n_descsz) > left)
			return -ENOENT;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(bytes, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) && note.n_descsz &&
		    note.n_descsz <= CORE_BUILD_ID_MAX) {
			for (size_t i = 0; i < note.n_descsz; i++)
				sprintf(ret + 2 * i, "%02x", bytes[padded(note.n_namesz) + i]);
			return 0;
		}
		at += sizeof(note) + padded(note.n_namesz) + padded(note.n_descsz);
	}
	return -ENOENT;
}

int core_build_id(const struct memory *memory, const struct mapping *begin,
		  char ret[2 * CORE_BUILD_ID_MAX + 1])
{
	unsigned char notes[NOTES_BYTES_MAX];
	Elf64_Ehdr header;

	if (!read_all(memory, begin->start, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_phentsize != sizeof(Elf64_Phdr))
		return -ENOENT;
	for (size_t i = 0; i < header.e_phnum && i < HEADERS_MAX; i++) {
		Elf64_Phdr segment;

		if (!read_all(memory, begin->start + header.e_phoff + i * sizeof(segment), &segment,
			      sizeof(segment)))
			return -ENOENT;
		if (segment.p_type != PT_NOTE || segment.p_filesz > sizeof(notes) ||
		    !read_all(memory, begin->start + segment.p_offset, notes, segment.p_filesz))
			continue;
		if (!find_note(notes, segment.p_filesz, ret))
			return 0;
	}
	return -ENOENT;
}
