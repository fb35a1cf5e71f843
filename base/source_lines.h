/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of source lines for reports. Lines are read in a separate thread, since a file system may
 * hang. A traced process can make memleak read a file of any name, and its user may see reports. So
 * a line is shown only if the file belongs to this user or is readable by everyone.
 */
#ifndef BASE_SOURCE_LINES_H
#define BASE_SOURCE_LINES_H

#include <stdint.h>
#include <sys/types.h>

struct source_lines;

int source_lines__new(struct source_lines **ret);
void source_lines__free(struct source_lines *lines);

/*
 * Returns a line of a source file, without its indentation and with unsafe characters escaped.
 * Relative file names are relative to memleak's working directory, since debug information often
 * has names relative to the folder of the build. Returns NULL if the line may not be shown, is
 * blank, does not exist, or has not been read yet: this function does not read files, but notes the
 * line for source_lines__read().
 * uid: user whose files may be shown even if not everyone may read them; -1 if there is none.
 */
const char *source_lines__ask(struct source_lines *lines, uid_t uid, const char *file,
			      unsigned int line);

/*
 * Reads the lines for which source_lines__ask() was called. Waits until deadline_ns
 * (CLOCK_MONOTONIC) at most; lines that take longer are available after a later call.
 */
void source_lines__read(struct source_lines *lines, uint64_t deadline_ns);

#endif
