/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds an ELF file's unwind table. The file is hostile: it may be malformed or huge, or it may
 * shrink while it is read, which kills the reading process. So this code runs in a helper process
 * (server.c), and in tests.
 */
#ifndef UNWINDER_SERVER_BUILDER_H
#define UNWINDER_SERVER_BUILDER_H

#include "unwinder/server/table.h"

/*
 * Builds a table. Returns 0, -ENOEXEC (not an ELF file for a known 64-bit machine), -ENOENT (no
 * call frame information), -E2BIG or -ENOMEM. fd stays open.
 */
int unwind_table_build(int fd, struct unwind_table *ret);

#endif
