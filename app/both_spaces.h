/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Combines two sources into one: the source of the user memory of processes, and the source of the
 * kernel memory that belongs to the same processes.
 */
#ifndef APP_BOTH_SPACES_H
#define APP_BOTH_SPACES_H

#include "loader/source.h"

/*
 * Creates the combined source. Takes ownership of both given sources, even on failure. Returns 0 or
 * a negative errno.
 */
int both_spaces__new(struct source *user, struct source *kernel, struct source **ret);

#endif
