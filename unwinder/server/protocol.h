/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to the helper that builds tables and walks stacks, and its answers. Each request begins
 * with its kind. Requests other than WORDS and TABLE continue with the number of a space: the code
 * of one process.
 *
 *   WORDS; fd of an empty memory file       → no answer; tables are written to this file
 *   TABLE; fd of a file     → status, the numbers of struct unwind_table in order (except words and
 *                             page_cnt)
 *   OPEN  space             → no answer; creates a space without code
 *   CODE  space, struct walker_code member by member; fd of the file      → no answer
 *   CLOSE space             → no answer; frees the space
 *   WALK  space, struct unwind_copy     → how the walk ended, frame count, frames
 */
#ifndef UNWINDER_SERVER_PROTOCOL_H
#define UNWINDER_SERVER_PROTOCOL_H

enum unwind_request {
	UNWIND_WORDS,
	UNWIND_TABLE,
	WALKER_OPEN,
	WALKER_CODE,
	WALKER_CLOSE,
	WALKER_WALK
};

#endif
