/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the unwind table of an ELF file. The file is hostile: it may be wrong, huge or shrink
 * meanwhile, which kills the process that reads it. So this runs in a helper process (server.c),
 * and in tests.
 */
#ifndef UNWINDER_SERVER_BUILDER_H
#define UNWINDER_SERVER_BUILDER_H

#include "unwinder/server/table.h"

/*
 * Returns 0, -ENOEXEC (no ELF file for a known 64-bit machine), -ENOENT (it has no call frame
 * information), -E2BIG or -ENOMEM. fd stays open.
 */
int unwind_table_build(int fd, struct unwind_table *ret);

#endif
