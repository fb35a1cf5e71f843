/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps files of targets closed that are on a file system which a process serves (FUSE), or on an
 * overlay of one, as any user may mount it: whoever opens one, reads it or closes it waits for that
 * process, and not even SIGKILL ends that.
 */
#ifndef LOADER_PROBES_FILE_SYSTEM_H
#define LOADER_PROBES_FILE_SYSTEM_H

/*
 * From now on regular_file_open() refuses them. The kernel, before 5.10, cannot tell: then nothing
 * is refused.
 */
void file_system_refuse_served(void);

#endif
