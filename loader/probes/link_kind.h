/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kinds of link that attach probes. */
#ifndef LOADER_PROBES_LINK_KIND_H
#define LOADER_PROBES_LINK_KIND_H

#include <stdbool.h>

#include "loader/probes/features.h"

enum link_kind {
	LINK_SESSION, /* session links for entry and return, and entry links for entries only */
	LINK_MULTI,   /* a link for the entries and another link for the returns */
	LINK_PERF,    /* a perf event for each probe, with a cookie */
	LINK_SHAPE,   /* a perf event for each probe, without cookies: one program per shape */
};

/* Returns the best kind that the kernel supports. */
enum link_kind link_kind_choose(const struct features *features);

/*
 * True if probes need CAP_SYS_ADMIN. They do if the best kind of link that the kernel supports uses
 * perf events.
 */
bool link_kind_needs_admin(void);

#endif
