/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper process that builds tables. A request is the fd of a file; the answer a status, the
 * numbers of struct unwind_table in their order (but words and page_cnt), and the words in a file
 * in memory.
 */
#ifndef UNWINDER_WORKER_H
#define UNWINDER_WORKER_H

/* The helper's whole life. */
void unwind_worker_main(int sock);

#endif
