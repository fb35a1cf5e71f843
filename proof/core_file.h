/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives access to the memory, mappings and threads in a core file written by the kernel or by
 * gcore. Supports 64-bit ELF for x86-64 and aarch64. Keeps only the headers and notes in memory.
 * Checks the structure of the whole file, but its content may still be forged. Does not read the
 * files that the process had mapped.
 *
 * A core does not say whether a mapping was shared or private. The registers of threads show where
 * stacks are, but nothing shows the use of other anonymous memory, not even which memory is the
 * heap. For file mappings that were not written to, a core contains neither permissions nor
 * content.
 */
#ifndef PROOF_CORE_FILE_H
#define PROOF_CORE_FILE_H

#include "proof/core_notes.h"
#include "proof/memory.h"

struct core_segment {
	uint64_t start;
	uint64_t end;   /* end address, exclusive */
	uint64_t at;    /* offset of the segment's content in the core */
	uint64_t bytes; /* bytes of content in the core, from start on; a multiple of 8 */
	unsigned int flags;
};

struct core_file {
	/*
	 * Must be the first field. In its list of mappings, only files, "[stack]" (for the stack of
	 * the first thread) and "[vdso]" have a path.
	 *
	 * A mapping without a segment in the core is treated as executable, but neither readable
	 * nor writable.
	 */
	struct memory memory;
	struct core_notes notes;
	unsigned int machine; /* machine type, EM_X86_64 or EM_AARCH64 */
	int fd;
	uint64_t file_bytes;
	struct core_segment *segments; /* segments, sorted by address; no two overlap */
	size_t segment_cnt;
	size_t segment_cap;
	uint64_t content_bytes; /* total bytes of content in all segments */
	/* bytes of content and notes missing because the file is truncated */
	uint64_t missing_bytes;
	uint64_t absent_bytes; /* bytes of writable segments without any content */
	bool odd;              /* true if invalid or overlapping segments were skipped */
};

/*
 * Opens a core file and takes ownership of fd, even on failure. Returns -ENOEXEC if the file is not
 * ELF, -EINVAL if it is not a core file, -ENOTSUP if its machine is not supported, -EBADMSG if its
 * headers are invalid or truncated, -ENOMEM, or a read error.
 */
int core_file_init(int fd, struct core_file *ret);
void core_file_deinit(struct core_file *core);

#endif
