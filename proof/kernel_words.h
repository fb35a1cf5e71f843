/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses files of /proc that show user data, which the kernel keeps for a process and later returns
 * to it.
 */
#ifndef PROOF_KERNEL_WORDS_H
#define PROOF_KERNEL_WORDS_H

#include <stddef.h>
#include <stdint.h>

enum kernel_file {
	KERNEL_FILE_EPOLL,  /* /proc/PID/fdinfo/FD of an epoll instance */
	KERNEL_FILE_URING,  /* /proc/PID/fdinfo/FD of an io_uring */
	KERNEL_FILE_TIMERS, /* /proc/PID/timers */
};

struct kernel_words {
	uint64_t *items; /* allocated with malloc() */
	size_t cnt;
	size_t cap;
};

/*
 * Adds the user data in an open file. max: maximum of words->cnt. Returns 0, -E2BIG if there is
 * more user data, -ENOMEM, or the error of read(2).
 */
int kernel_words_read(int fd, enum kernel_file kind, size_t max, struct kernel_words *words);

#endif
