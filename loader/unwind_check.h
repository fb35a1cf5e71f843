/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --verify-unwind: has libdwfl walk some of the stacks a second time, and says how far they agree.
 */
#ifndef UNWIND_CHECK_H
#define UNWIND_CHECK_H

#include "bpf/memleak.h"
#include "loader/reference_spaces.h"

struct unwind_check;

/* stack_cnt are to be compared. 0 or -ENOMEM. */
int unwind_check__new(struct reference_spaces *reference, uint32_t stack_cnt,
		      struct unwind_check **ret);
void unwind_check__free(struct unwind_check *check);

/* Compares a stack, if that is not enough yet. */
void unwind_check__take(struct unwind_check *check, const struct memleak_stack_copy *copy);

/* Says what was found; late_cnt stacks came from libdwfl to begin with. */
void unwind_check__finish(struct unwind_check *check, uint64_t late_cnt);

#endif
