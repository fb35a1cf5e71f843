/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of source lines that may be passed on to others. Lines are read in a separate thread,
 * since a file system may hang. A target chooses the names of the files, so it must not be able to
 * choose files that its user cannot read: a file must belong to the user, or be readable by
 * everyone.
 */
#ifndef BASE_SOURCE_LINES_H
#define BASE_SOURCE_LINES_H

#include <stdint.h>
#include <sys/types.h>

struct source_lines;

int source_lines__new(struct source_lines **ret);
void source_lines__free(struct source_lines *lines);

/*
 * Returns a line without its indentation, as plain text. Relative names are below the current
 * folder, since debug information often has names below the folder of a build. Returns NULL if it
 * may not be shown, does not exist, or has not been read yet; source_lines__read() reads the lines
 * that were asked for. uid: the user whose files may be read, too; -1 if there is none.
 */
const char *source_lines__ask(struct source_lines *lines, uid_t uid, const char *file,
			      unsigned int line);

/*
 * Reads the lines that were asked for. Lines that cannot be read before deadline_ns
 * (CLOCK_MONOTONIC) are known after a later call.
 */
void source_lines__read(struct source_lines *lines, uint64_t deadline_ns);

#endif
