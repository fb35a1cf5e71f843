/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the answers of the helper that parses ELF files (symbolizer/server). The helper has read
 * hostile files and may send anything: a malformed answer is rejected with -EPROTO and never causes
 * an invalid memory access.
 */
#ifndef SYMBOLIZER_ANSWER_H
#define SYMBOLIZER_ANSWER_H

#include "helper/message.h"
#include "symbolizer/module.h"

struct opened_answer {
	uint32_t status; /* 0 if the helper can use the file, else a positive errno */
	char *build_id;  /* build id in hex, freed by the caller; NULL if there is none */
	struct file_need need;
};

struct name_answer {
	uint64_t vaddr;
	/* the frames and all their strings in one allocation; freed by the caller */
	struct sym_frame *frames;
	size_t frame_cnt;
};

/*
 * Parses an OPENED answer (server/protocol.h). cursor: position after the message's type. Returns
 * 0, -EPROTO or -ENOMEM.
 */
int answer_read_opened(struct message_cursor *cursor, struct opened_answer *ret);
/*
 * Maximum total length, in bytes, of the names of all functions and source files at one address: a
 * traced process chooses these names, and they stay in memory.
 */
#define NAME_BYTES_MAX (64 * 1024)

/*
 * Parses a NAME answer (server/protocol.h), which must be for the name at position `index` of the
 * request. Leaves out texts that would exceed NAME_BYTES_MAX. exact: as in struct name. Returns 0,
 * -EPROTO or -ENOMEM.
 */
int answer_read_name(struct message_cursor *cursor, uint32_t index, bool exact,
		     struct name_answer *ret);

#endif
