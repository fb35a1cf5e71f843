/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper process that walks stacks by libdwfl. Requests begin with their kind and the number
 * of a space; only walks are answered: how it ended, how many frames, and the frames.
 */
#ifndef UNWINDER_REFERENCE_WORKER_H
#define UNWINDER_REFERENCE_WORKER_H

enum reference_request {
	REFERENCE_OPEN,  /* a new space without code */
	REFERENCE_CODE,  /* struct reference_code, member by member; fd: the file */
	REFERENCE_CLOSE, /* it is not needed any more */
	REFERENCE_WALK,  /* struct unwind_copy */
};

/* The helper's whole life. */
void reference_worker_main(int sock);

#endif
