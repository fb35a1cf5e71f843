/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prevents memleak from opening targets' files on file systems that a process serves (FUSE), or on
 * overlays of them. Any user may mount one, and opening, reading or closing its files waits for
 * that process; not even SIGKILL interrupts the wait.
 */
#ifndef LOADER_PROBES_FILE_SYSTEM_H
#define LOADER_PROBES_FILE_SYSTEM_H

/*
 * Makes regular_file_open() refuse served files from now on. Kernels before 5.10 cannot detect
 * them; then nothing is refused.
 */
void file_system_refuse_served(void);

#endif
