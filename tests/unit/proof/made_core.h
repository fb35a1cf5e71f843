/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes small core files by hand, including ones that no kernel would write. */
#ifndef TESTS_UNIT_PROOF_MADE_CORE_H
#define TESTS_UNIT_PROOF_MADE_CORE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MADE_SEGMENTS_MAX 16
#define MADE_NOTES_MAX 65536
/*
 * File offset of the first segment's content. The contents of the other segments follow, each
 * beginning at a page boundary.
 */
#define MADE_CONTENT 0x10000ULL

struct made_core {
	unsigned int machine;
	Elf64_Phdr segments[MADE_SEGMENTS_MAX];
	const void *contents[MADE_SEGMENTS_MAX];
	size_t cnt;
	uint64_t content_end; /* file offset of the end of the content */
	unsigned char notes[MADE_NOTES_MAX];
	size_t note_bytes;
	/* true: only a section header has the number of segments (PN_XNUM) */
	bool counts_in_section;
	uint64_t empty_headers; /* number of empty program headers before those of the segments */
};

/* Thread with registers in the order of the note NT_PRSTATUS. */
struct made_thread {
	int32_t tid;
	int16_t signal;
	uint64_t registers[34];
};

struct made_file {
	uint64_t start;
	uint64_t end;
	uint64_t pages; /* offset of the mapping in the file, in pages */
	const char *path;
};

/* Adds a segment. The core file contains only its first content_bytes. */
void made_core_segment(struct made_core *core, uint64_t addr, uint64_t bytes, unsigned int flags,
		       const void *content, uint64_t content_bytes);
void made_core_note(struct made_core *core, const char *name, uint32_t type, const void *bytes,
		    size_t len);
void made_core_thread(struct made_core *core, const struct made_thread *thread);
void made_core_files(struct made_core *core, const struct made_file *files, size_t cnt);
void made_core_info(struct made_core *core, int32_t pid, const char *name, const char *arguments);

/* Writes the core to a memfd and returns its descriptor. */
int made_core_open(const struct made_core *core);

#endif
