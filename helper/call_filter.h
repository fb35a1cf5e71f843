/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Restricts the system calls of the calling process permanently (seccomp(2)). */
#ifndef HELPER_CALL_FILTER_H
#define HELPER_CALL_FILTER_H

enum call_filter {
	CALLS_OF_OPEN_FILES, /* only calls for private memory, time and open files */
	CALLS_TO_SERVE,      /* also calls to accept connections and answer them */
	CALLS_TO_DOWNLOAD,   /* also calls to use files, connect to servers and start threads */
};

/* Returns 0 or a negative errno. */
int call_filter_enter(enum call_filter wanted);

#endif
