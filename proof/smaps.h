/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses /proc/PID/smaps: the mappings, and the resident size of each mapping. */
#ifndef PROOF_SMAPS_H
#define PROOF_SMAPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/proc_maps.h"

struct smaps {
	struct proc_maps maps;
	uint64_t *rss;    /* resident bytes of each mapping */
	uint64_t huge;    /* resident bytes in transparent huge pages of anonymous memory */
	uint64_t swapped; /* swapped-out bytes of all mappings */
};

/* Parses the text of /proc/PID/smaps. Skips unknown lines. Returns 0 or -ENOMEM. */
int smaps_parse(const char *text, size_t len, struct smaps *ret);
void smaps_deinit(struct smaps *smaps);

#endif
