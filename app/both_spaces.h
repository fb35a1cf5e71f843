/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A source made of two: user and kernel memory of the same processes, side by side. */
#ifndef APP_BOTH_SPACES_H
#define APP_BOTH_SPACES_H

#include "loader/source.h"

/* Takes over both sources, also when it fails. 0 or a negative errno. */
int both_spaces__new(struct source *user, struct source *kernel, struct source **ret);

#endif
