/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes that all processes share would slow memleak down, too: it takes itself out. */
#ifndef OWN_CODE_H
#define OWN_CODE_H

/*
 * Puts a copy of the C library's code into its place, in memory that is of no file: probes are on
 * files. So it is with all processes that are forked afterwards. To be called while there is one
 * thread. Returns 0 or a negative errno, and then nothing has changed.
 */
int own_code_detach(void);

#endif
