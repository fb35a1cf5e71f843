/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds functions in ELF files, and reads memory of traced processes, in helper processes without
 * privileges. Files and memory are hostile input: if a helper crashes or hangs, only one answer is
 * lost. The first request to a helper starts it. Knows nothing of the purpose of probes; never
 * prints.
 */
#ifndef PROBER_PROBER_H
#define PROBER_PROBER_H

#include "base/nearest.h"
#include "bpf/script.h"
#include "prober/server/file_functions.h"
#include "prober/server/interpreter.h"
#include "prober/server/protocol.h"

/*
 * Maximum time, in milliseconds, to wait for an answer. The largest files take a second; from a
 * slow disk, a few seconds.
 */
#define PROBER_WAIT_MS 5000

/*
 * Finds the wanted functions of an open file. The caller frees *ret with file_functions_deinit().
 * machine: as in file_functions_init(). Returns 0 or an error of file_functions_init(). Other
 * errors: -ETIMEDOUT if there is no answer until deadline_ns (CLOCK_MONOTONIC) or within
 * PROBER_WAIT_MS; -EIO if the helper ended while it worked on the file; -EPROTO if the answer is
 * invalid; -EINTR after a termination signal, unless the helper is runnable: then waits for the
 * answer for at most half of PROBER_WAIT_MS.
 */
int prober_functions(int fd, uint16_t machine, const struct wanted_functions *wanted,
		     uint64_t deadline_ns, struct file_functions *ret);

/*
 * Finds an exported variable of an ELF file, and sets *ret to its address minus that of the file's
 * entry point, modulo 2^64. Returns false if there is no such variable, or if the file could not be
 * read before the deadline.
 */
bool prober_variable(int fd, const char *name, uint64_t deadline_ns, uint64_t *ret);

/*
 * Continues the search `nearest` (base/nearest.h) with the names of all functions in a file. If the
 * nearest of these names is nearer than all names searched before, records its distance in
 * `nearest` and returns the name, which is printable; the caller frees it. Otherwise returns NULL.
 */
char *prober_nearest(int fd, struct nearest *nearest, uint64_t deadline_ns);

/* True if the file is ELF and has a section of this name. */
bool prober_has_section(int fd, const char *name);

/*
 * Reads `len` bytes, at most PROBER_MEMORY_MAX, from the memory of a process. mem_fd: the process's
 * /proc/PID/mem. Needs a helper because a read may block forever if another process provides the
 * memory (FUSE, userfaultfd). Returns 0, -EFAULT if not all bytes can be read, or -ETIMEDOUT, -EIO,
 * -EPROTO or -EINTR as prober_functions() does.
 */
int prober_memory(int mem_fd, uint64_t addr, void *buf, size_t len, uint64_t deadline_ns);

/*
 * Finds CPython in a file. Returns 0, -ENOEXEC if the file does not contain CPython, or -ETIMEDOUT,
 * -EIO or -EPROTO as prober_functions() does. After a termination signal, waits for the answer for
 * at most half of PROBER_WAIT_MS.
 */
int prober_interpreter(int fd, uint64_t deadline_ns, struct interpreter *ret);

/* The source line that a frame of a script was executing. `name` and `path` are from malloc(). */
struct script_place {
	char *name; /* qualified name of the function */
	char *path;
	uint32_t line; /* 0 if not known */
};

/*
 * Finds the source line that a frame of a script was executing, by reading the memory of its
 * process. mem_fd: the process's /proc/PID/mem. version: as in struct interpreter. Returns 0,
 * -ESTALE if the frame's code object no longer exists, -EFAULT if memory cannot be read, -ENOMEM,
 * or -ETIMEDOUT, -EIO or -EPROTO as prober_interpreter() does.
 */
int prober_script(int mem_fd, uint32_t version, const struct memleak_script_frame *frame,
		  uint64_t deadline_ns, struct script_place *ret);

/* Ends the helper processes. */
void prober_end(void);

#endif
