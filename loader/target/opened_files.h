/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Remembers which mapped files of a process were opened, so that each is opened only once: opening
 * a file takes longer than all else that is done for a mapping, and there may be 65,000 mappings.
 */
#ifndef LOADER_TARGET_OPENED_FILES_H
#define LOADER_TARGET_OPENED_FILES_H

#include <sys/types.h>

#include "base/intern.h"
#include "base/proc_maps.h"

/* An all-zero struct is valid and empty. */
struct opened_files {
	struct intern numbers; /* numbers files by what /proc/PID/maps shows of them */
	ssize_t *results;      /* indexed by number; results[0] is unused */
	size_t cap;
};

/*
 * Returns where the caller keeps the result of opening a mapping's file, which is the same place
 * for all mappings of the file. The result is -ENOENT at first. NULL if memory runs out. Valid
 * until the next call.
 */
ssize_t *opened_files_result(struct opened_files *files, const struct mapping *mapping);
void opened_files_deinit(struct opened_files *files);

#endif
