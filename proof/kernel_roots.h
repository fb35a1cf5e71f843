/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads pointers that the kernel keeps for a process and later returns to it: user data of epoll,
 * io_uring and timers. The kernel locks an epoll instance while it asks a file for events, so a
 * file system that does not answer can block a reader for ever, even if the reader is killed. A
 * helper process without rights reads.
 */
#ifndef PROOF_KERNEL_ROOTS_H
#define PROOF_KERNEL_ROOTS_H

#include <stddef.h>
#include <sys/types.h>

#include "proof/kernel_words.h"

/*
 * Adds the pointers that the kernel keeps for a process. max: maximum number of pointers. Releases
 * the lock of base/fair_lock.h meanwhile. Returns 0; -ENODATA if not all pointers can be read;
 * -ETIMEDOUT if the helper hangs: do not try again; -EAGAIN if the wait was interrupted; or another
 * negative errno. On failure, *ret has only some of the pointers.
 */
int kernel_roots_read(pid_t pid, size_t max, struct kernel_words *ret);

/* Ends the helper process. */
void kernel_roots_end(void);

#endif
