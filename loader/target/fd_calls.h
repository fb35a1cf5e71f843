/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls that open and close descriptors, listed by their numbers on this architecture.
 */
#ifndef LOADER_TARGET_FD_CALLS_H
#define LOADER_TARGET_FD_CALLS_H

#include <stdint.h>

#include "bpf/descriptors.h"

/* Fills the table of system calls: the value at each number is an enum memleak_fd_call. */
void fd_calls_fill(uint8_t ret[MEMLEAK_SYSCALLS]);

#endif
