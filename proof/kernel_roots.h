/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads pointers that the kernel keeps for a process and later returns to it: user data of epoll,
 * io_uring and timers.
 */
#ifndef PROOF_KERNEL_ROOTS_H
#define PROOF_KERNEL_ROOTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Reads the pointers that the kernel keeps for a process into an array, *ret, allocated with
 * malloc(). Returns 0 or a negative errno.
 */
int kernel_roots_read(pid_t pid, uint64_t **ret, size_t *ret_cnt);

#endif
