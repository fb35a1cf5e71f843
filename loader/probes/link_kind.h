/* SPDX-License-Identifier: GPL-2.0-or-later */
/* By what probes on functions are held. */
#ifndef LOADER_PROBES_LINK_KIND_H
#define LOADER_PROBES_LINK_KIND_H

#include <stdbool.h>

#include "loader/probes/features.h"

enum link_kind {
	LINK_SESSION, /* one link for the entries and returns of a file, one for entries alone */
	LINK_MULTI,   /* one for the entries, one for the returns */
	LINK_PERF,    /* one perf event for each, with a cookie */
	LINK_SHAPE,   /* one perf event for each, without: the program tells the shape */
};

/* The best one. */
enum link_kind link_kind_choose(const struct features *features);

/* Whether that is one of perf events: Linux gives those of uprobes to CAP_SYS_ADMIN alone. */
bool link_kind_needs_admin(void);

#endif
