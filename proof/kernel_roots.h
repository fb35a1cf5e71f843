/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pointers that the kernel keeps for a process and gives back later: with events of epoll, with
 * completions of io_uring, and to those who wait for timers.
 */
#ifndef PROOF_KERNEL_ROOTS_H
#define PROOF_KERNEL_ROOTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* From malloc. 0 or a negative errno. */
int kernel_roots_read(pid_t pid, uint64_t **ret, size_t *ret_cnt);

#endif
