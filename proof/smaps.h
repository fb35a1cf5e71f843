/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/PID/smaps as plain data: mappings, and how much of each is in memory. */
#ifndef PROOF_SMAPS_H
#define PROOF_SMAPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/proc_maps.h"

struct smaps {
	struct proc_maps maps;
	uint64_t *rss; /* bytes of each mapping in memory */
};

/* Parses text; lines that have no place in it are skipped. Fails only with -ENOMEM. */
int smaps_parse(const char *text, size_t len, struct smaps *ret);
void smaps_deinit(struct smaps *smaps);

#endif
