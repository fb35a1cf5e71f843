/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds functions in ELF files of targets, and reads memory of targets, in helper processes without
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
 * Maximum wait for an answer, in milliseconds. The largest files take a second, or a few seconds if
 * read from a slow disk.
 */
#define PROBER_WAIT_MS 5000

/*
 * Finds the wanted functions of an open file, and checks the helper's answer; the caller frees *ret
 * with file_functions_deinit(). Returns what file_functions_init() returns, or -ETIMEDOUT (no
 * answer until deadline_ns of CLOCK_MONOTONIC, or within PROBER_WAIT_MS), -EIO (the helper ended
 * while working on the file), -EPROTO (invalid answer) or -EINTR (memleak is about to end).
 */
int prober_functions(int fd, uint16_t machine, const struct wanted_functions *wanted,
		     uint64_t deadline_ns, struct file_functions *ret);

/*
 * Finds an exported variable of a file and sets *ret to its distance from the entry point, modulo
 * 2^64. Returns false if there is none, or the file could not be read before the deadline.
 */
bool prober_variable(int fd, const char *name, uint64_t deadline_ns, uint64_t *ret);

/*
 * Continues the search `nearest` (base/nearest.h) with the names of all functions in a file. If one
 * of them is nearer than all names searched before, records the distance in `nearest` and returns
 * this name, which is printable; the caller frees it. Otherwise returns NULL.
 */
char *prober_nearest(int fd, struct nearest *nearest, uint64_t deadline_ns);

/* True if the file is ELF and has a section of this name. */
bool prober_has_section(int fd, const char *name);

/*
 * Reads len bytes, at most PROBER_MEMORY_MAX, from a process's memory. mem_fd: its /proc/PID/mem. A
 * read may block forever if another process serves the memory (FUSE, userfaultfd). Returns -EFAULT
 * if not all bytes can be read, or an error as prober_functions() does.
 */
int prober_memory(int mem_fd, uint64_t addr, void *buf, size_t len, uint64_t deadline_ns);

/*
 * Finds CPython in a file. Returns 0, -ENOEXEC if there is none, or an error as prober_functions()
 * does, but not -EINTR: after a termination signal, continues to wait for half of PROBER_WAIT_MS.
 */
int prober_interpreter(int fd, uint64_t deadline_ns, struct interpreter *ret);

/* Where a script was running. The texts are from malloc(). */
struct script_place {
	char *name; /* qualified name of the function */
	char *path;
	uint32_t line; /* line number; 0 if not known */
};

/*
 * Reads where a frame of a script was running, from the memory of the process. version: see struct
 * interpreter. Returns 0, -ESTALE if the code object is gone, -EFAULT, or an error as
 * prober_interpreter() does.
 */
int prober_script(int mem_fd, uint32_t version, const struct memleak_script_frame *frame,
		  uint64_t deadline_ns, struct script_place *ret);

/* Ends the helper processes. */
void prober_end(void);

#endif
