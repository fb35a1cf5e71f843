/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library without frame pointers. library_outer() calls `function` with `arg` from a deeper
 * frame.
 */
#ifndef UNWIND_H
#define UNWIND_H

void library_outer(void (*function)(void *arg), void *arg);

#endif
