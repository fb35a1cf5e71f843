/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is asked of the process that builds tables and walks stacks. A request begins with its
 * kind; a request of the walker goes on with the number of a space.
 *
 *   TABLE; fd of a file     → status, the numbers of struct unwind_table in their order (but words
 *                             and page_cnt); fd of a file in memory with the words
 *   OPEN  space             → nothing: a new space without code
 *   CODE  space, struct walker_code member by member; fd of the file      → nothing
 *   CLOSE space             → nothing: it is not needed any more
 *   WALK  space, struct unwind_copy     → how the walk ended, frame count, frames
 */
#ifndef UNWINDER_SERVER_PROTOCOL_H
#define UNWINDER_SERVER_PROTOCOL_H

enum unwind_request { UNWIND_TABLE, WALKER_OPEN, WALKER_CODE, WALKER_CLOSE, WALKER_WALK };

#endif
