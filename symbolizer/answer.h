/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the server's answers. The server has read hostile files and may say anything: what does not
 * have the right form is -EPROTO, never a wrong access.
 */
#ifndef SYMBOLIZER_ANSWER_H
#define SYMBOLIZER_ANSWER_H

#include "helper/message.h"
#include "symbolizer/module.h"

struct opened_answer {
	uint32_t status; /* 0, or why the file cannot be used */
	char *build_id;  /* NULL: none; to be freed */
	struct file_need need;
};

struct name_answer {
	uint64_t vaddr;
	struct sym_frame *frames; /* one block with all the strings; to be freed */
	size_t frame_cnt;
};

/* cursor stands behind the message type. 0, -EPROTO, -ENOMEM. */
int answer_read_opened(struct message_cursor *cursor, struct opened_answer *ret);
/* index: of the name that is expected. */
int answer_read_name(struct message_cursor *cursor, uint32_t index, bool exact,
		     struct name_answer *ret);

#endif
