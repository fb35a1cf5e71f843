/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the notes of a core file say: the threads with their registers, the process, and which files
 * were mapped where. They are of x86-64 or aarch64, written by the kernel or by gdb. All that they
 * say may be a lie, and is checked for its form alone. Knows nothing of the memory in the core.
 */
#ifndef PROOF_CORE_NOTES_H
#define PROOF_CORE_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proof/thread_state.h"

/* A piece of a file that was mapped. */
struct core_mapped {
	uint64_t start;
	uint64_t end;
	uint64_t offset; /* of start in the file, in bytes */
	size_t path;     /* where that begins in paths */
	bool deleted;    /* the kernel's mark for that is not in the path */
};

struct core_notes {
	struct thread_states threads; /* the one that a signal ended is the first */
	uint64_t *pcs;                /* of each thread */
	size_t pc_cap;
	bool has_info; /* pid, name and arguments are there */
	pid_t pid;
	int signal;                /* that ended it; 0: none did */
	char name[17];             /* as the kernel had it: 15 bytes at most */
	char arguments[81];        /* the command line, cut off where the kernel does so */
	uint64_t page_size;        /* 0: not said */
	uint64_t entry;            /* where the program begins; 0: not said */
	uint64_t vdso;             /* where it is mapped; 0: not said */
	uint64_t random_bytes;     /* that the kernel has put on the first stack; 0: not said */
	struct core_mapped *files; /* by address; no two overlap */
	size_t file_cnt;
	char *paths; /* raw, each with a NUL behind it */
	size_t path_bytes;
	uint64_t read_bytes; /* of all notes; beyond a limit no more are read */
	bool odd;            /* some made no sense, and were left out */
};

/* Whether notes of this machine (e_machine) can be read. */
bool core_notes_know(unsigned int machine);
/* Bits of a pointer that such a machine does not look at. */
uint64_t core_notes_ignored_bits(unsigned int machine);

/*
 * Adds the notes that stand in so many bytes of a file from an offset on. What makes no sense is
 * left out. 0, -ENOMEM, or why the file cannot be read. ret is to be given to core_notes_deinit,
 * also after a failure.
 */
int core_notes_add(struct core_notes *notes, unsigned int machine, int fd, uint64_t offset,
		   uint64_t bytes);

/* The piece that holds addr, or the next one above it; NULL: there is none. */
const struct core_mapped *core_notes_file(const struct core_notes *notes, uint64_t addr);

void core_notes_deinit(struct core_notes *notes);

#endif
