/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kinds of link that attach probes. */
#ifndef LOADER_PROBES_LINK_KIND_H
#define LOADER_PROBES_LINK_KIND_H

#include <stdbool.h>

#include "loader/probes/features.h"

enum link_kind {
	LINK_SESSION, /* one link for entries and returns of a file, one for entries alone */
	LINK_MULTI,   /* one link for the entries, one for the returns */
	LINK_PERF,    /* a perf event for each probe, with a cookie */
	LINK_SHAPE,   /* a perf event for each probe, without cookie: each shape has its program */
};

/* Returns the best kind that the kernel supports. */
enum link_kind link_kind_choose(const struct features *features);

/* True if that is a kind with perf events: uprobes by perf need CAP_SYS_ADMIN. */
bool link_kind_needs_admin(void);

#endif
