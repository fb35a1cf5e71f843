/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the notes of a core file: threads with registers, data about the process, and mapped files.
 * Supports x86-64 and aarch64, and cores written by the kernel and by gdb. Checks only the form of
 * notes; their content may be forged. Does not read the core's memory.
 */
#ifndef PROOF_CORE_NOTES_H
#define PROOF_CORE_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proof/thread_state.h"

/* A mapped range of a file. */
struct core_mapped {
	uint64_t start;
	uint64_t end;
	uint64_t offset; /* file offset of start, in bytes */
	size_t path;     /* offset of the file's path in core_notes.paths */
	/* true if the kernel had appended " (deleted)" to the path; the suffix was removed */
	bool deleted;
};

struct core_notes {
	struct thread_states threads; /* threads; the first one got the fatal signal */
	uint64_t *pcs;                /* program counter of each thread */
	size_t pc_cap;
	bool has_info; /* true if the fields pid, name and arguments are valid */
	pid_t pid;
	int signal;         /* fatal signal, 0 if there was none */
	char name[17];      /* name of the process (comm): at most 15 bytes */
	char arguments[81]; /* command line as truncated by the kernel */
	uint64_t page_size; /* page size in bytes, 0 if unknown */
	uint64_t entry;     /* entry point of the program, 0 if unknown */
	uint64_t vdso;      /* address of the vDSO, 0 if unknown */
	/* address of the random bytes (AT_RANDOM) on the first thread's stack; 0 if unknown */
	uint64_t random_bytes;
	struct core_mapped *files; /* mapped ranges, sorted by address; no two overlap */
	size_t file_cnt;
	char *paths; /* paths, unescaped, each NUL-terminated */
	size_t path_bytes;
	uint64_t read_bytes; /* total size of notes read so far */
	bool odd;            /* true if invalid notes were skipped */
};

/* True if notes of this machine type (e_machine) are supported. */
bool core_notes_know(unsigned int machine);
/* Returns the pointer bits that this machine ignores. */
uint64_t core_notes_ignored_bits(unsigned int machine);

/*
 * Adds the notes in a range of the file. Skips invalid notes. Returns 0, -ENOTSUP for an unknown
 * machine, -ENOMEM, or a read error. Free notes with core_notes_deinit(), even after a failure.
 */
int core_notes_add(struct core_notes *notes, unsigned int machine, int fd, uint64_t offset,
		   uint64_t bytes);

/*
 * Returns the mapped range that contains addr, or the next mapped range above addr; NULL if there
 * is none.
 */
const struct core_mapped *core_notes_file(const struct core_notes *notes, uint64_t addr);

void core_notes_deinit(struct core_notes *notes);

#endif
