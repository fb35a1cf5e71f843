/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds functions in ELF files of targets, in a helper process without rights: files are hostile
 * input, so a crash or a hang costs the answer about that file and nothing else. The first request
 * starts the process. Knows nothing of processes, nor of what is probed and why; never prints.
 */
#ifndef PROBER_PROBER_H
#define PROBER_PROBER_H

#include "base/nearest.h"
#include "prober/server/file_functions.h"
#include "prober/server/protocol.h"

/*
 * Maximum time to wait for an answer, in milliseconds. The largest files take a second, or a few
 * seconds from a slow disk.
 */
#define PROBER_WAIT_MS 5000

/*
 * Finds the wanted functions of an open file, and checks the answer; the caller frees *ret with
 * file_functions_deinit(). Waits until deadline_ns (CLOCK_MONOTONIC), PROBER_WAIT_MS at most, or
 * until memleak is asked to end. Errors are those in file_functions.h, -EIO (the helper ended over
 * the file), -ETIMEDOUT, -EPROTO (invalid answer) and -EINTR (memleak is to end).
 */
int prober_functions(int fd, uint16_t machine, const struct wanted_functions *wanted,
		     uint64_t deadline_ns, struct file_functions *ret);

/*
 * Finds an exported variable: *ret is its distance from the entry point, modulo 2^64. False if
 * there is none, or the file could not be read before the deadline.
 */
bool prober_variable(int fd, const char *name, uint64_t deadline_ns, uint64_t *ret);

/*
 * Finds the function in the file whose name is nearest to the one wanted in nearest
 * (base/nearest.h), if it is nearer than all names before, and records it in nearest. Returns its
 * printable name, freed by the caller, or NULL if there is no nearer one.
 */
char *prober_nearest(int fd, struct nearest *nearest, uint64_t deadline_ns);

/* True if the file is ELF and has a section with this name. */
bool prober_has_section(int fd, const char *name);

/*
 * Reads len bytes, PROBER_MEMORY_MAX at most, from a process's memory. mem_fd: the process's
 * /proc/PID/mem. A read may block forever if another process serves the memory (FUSE, userfaultfd).
 * Returns -EFAULT if not all bytes can be read, or an error of prober_functions().
 */
int prober_memory(int mem_fd, uint64_t addr, void *buf, size_t len, uint64_t deadline_ns);

/* Ends the helper processes. */
void prober_end(void);

#endif
