/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --verify-unwind: has libdwfl walk some of the stacks a second time, and says how far the two
 * agree. NULL stands for a check that nobody asked for, and every function takes it.
 */
#ifndef UNWIND_CHECK_H
#define UNWIND_CHECK_H

#include <stdint.h>
#include <sys/types.h>

struct unwind_check;

/* ring_fd: of the ring that brings the samples; stack_cnt of them are wanted. */
int unwind_check__new(int ring_fd, uint32_t stack_cnt, struct unwind_check **ret);
void unwind_check__free(struct unwind_check *check);

/* Readable when there is something for unwind_check__consume to do. */
int unwind_check__poll_fd(const struct unwind_check *check);
/* Compares a few of the stacks that are there. */
void unwind_check__consume(struct unwind_check *check);

/*
 * The programs walk the stacks of a process, which runs image, by what it maps now; they call that
 * generation.
 */
void unwind_check__refresh(struct unwind_check *check, pid_t pid, uint32_t image,
			   uint32_t generation);

/* Compares the rest, and says what was found. */
void unwind_check__finish(struct unwind_check *check);

#endif
