/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ELF files of targets have of functions, found in a helper process without rights: files are
 * hostile input, so a crash or a hang costs what was asked of that file and nothing else. The
 * process is started by the first question. Knows nothing of processes, nor of what is probed and
 * why; never prints.
 */
#ifndef PROBER_PROBER_H
#define PROBER_PROBER_H

#include "base/nearest.h"
#include "prober/server/file_functions.h"
#include "prober/server/protocol.h"

/* The largest files take a second; from a slow disk a few. Nobody waits longer. */
#define PROBER_WAIT_MS 5000

/*
 * The wanted functions of an open file, checked, to be given to file_functions_deinit. Waits until
 * deadline_ns, a moment of CLOCK_MONOTONIC, but no longer than PROBER_WAIT_MS and only until
 * memleak is asked to end. Besides what file_functions.h says: -EIO (the helper ended over it),
 * -ETIMEDOUT (it took too long), -EPROTO (what it gave is no answer), -EINTR (memleak is to end).
 */
int prober_functions(int fd, uint16_t machine, const struct wanted_functions *wanted,
		     uint64_t deadline_ns, struct file_functions *ret);

/*
 * Where an exported variable is in memory: so much behind the entry point, modulo 2^64. False:
 * there is none, or the file cannot be read by then.
 */
bool prober_variable(int fd, const char *name, uint64_t deadline_ns, uint64_t *ret);

/*
 * Of the functions of a file the one whose name is nearer to that of nearest, which was not found,
 * than any before it (base/nearest.h); it is kept there. To be freed, printable; NULL: none is.
 */
char *prober_nearest(int fd, struct nearest *nearest, uint64_t deadline_ns);

/* Whether the file is of ELF and has a section of this name. */
bool prober_has_section(int fd, const char *name);

/*
 * Reads so many bytes, PROBER_MEMORY_MAX at most, of the memory of a process that mem_fd is open
 * for. What is mapped there may be served by another process, which need not answer. -EFAULT: not
 * all of it can be read; or as prober_functions().
 */
int prober_memory(int mem_fd, uint64_t addr, void *buf, size_t len, uint64_t deadline_ns);

/* Ends the process. */
void prober_end(void);

#endif
