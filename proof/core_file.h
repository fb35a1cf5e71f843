/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A core file as a picture of the process that it was made from: by the kernel when a signal ended
 * it, or by gdb's gcore. ELF of 64 bits, of x86-64 or aarch64. Only its table of contents and its
 * notes are kept in memory; whatever it says is checked, and may still be a lie.
 *
 * A core does not tell which mappings are shared, the heap and most stacks from other anonymous
 * memory, and, of a file that was not written to, neither permissions nor content. Knows nothing of
 * what is in the files that were mapped.
 */
#ifndef PROOF_CORE_FILE_H
#define PROOF_CORE_FILE_H

#include "proof/core_notes.h"
#include "proof/memory.h"

struct core_segment {
	uint64_t start;
	uint64_t end;   /* exclusive */
	uint64_t at;    /* where its content begins in the core */
	uint64_t bytes; /* so much of it there is, from start on; whole words */
	unsigned int flags;
};

struct core_file {
	/*
	 * The first field. Paths of mappings are empty where no file was mapped, "[stack]" of the
	 * first thread, and "[vdso]".
	 * What the core has no memory of is shown as executable, and as nothing else.
	 */
	struct memory memory;
	struct core_notes notes;
	unsigned int machine; /* EM_X86_64 or EM_AARCH64 */
	int fd;
	uint64_t file_bytes;
	struct core_segment *segments; /* by address; no two overlap */
	size_t segment_cnt;
	size_t segment_cap;
	uint64_t content_bytes; /* of all segments */
	uint64_t missing_bytes; /* that it should have, but the file ends before: it was cut off */
	uint64_t absent_bytes; /* of memory that could be written to, and was left out as a whole */
	bool odd;              /* parts of it made no sense, and were left out */
};

/*
 * Takes fd over, whatever it returns. -ENOEXEC: no ELF file; -EINVAL: one, but no core; -ENOTSUP:
 * of another machine; -EBADMSG: a table of contents that makes no sense, or that is not in the
 * file; -ENOMEM, or why it cannot be read.
 */
int core_file_init(int fd, struct core_file *ret);
void core_file_deinit(struct core_file *core);

#endif
