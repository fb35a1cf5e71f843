/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Links with many uprobes in one file (uprobe_multi, kernel 6.6). They are created with bpf(2), as
 * the oldest supported libbpf does not know them. A link is attached and detached in one step. This
 * matters most for detaching, since each uprobe of a perf event waits for its own grace period.
 *
 * A session link (kernel 6.13) runs one program both at the entry and at the return of a function.
 * If the program returns 1 at the entry, it does not run at the return.
 */
#ifndef LOADER_PROBES_MULTI_LINK_H
#define LOADER_PROBES_MULTI_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Attach types that the oldest supported libbpf does not define. */
#define MULTI_LINK_ATTACH_TYPE 48   /* BPF_TRACE_UPROBE_MULTI */
#define SESSION_LINK_ATTACH_TYPE 57 /* BPF_TRACE_UPROBE_SESSION */

enum multi_link_when {
	MULTI_LINK_ENTRY,
	MULTI_LINK_RETURN,
	MULTI_LINK_SESSION,
};

struct multi_link {
	int prog_fd;
	const char *path;
	pid_t pid;
	enum multi_link_when when;
	const uint64_t *offsets; /* offsets in the file */
	const uint64_t *cookies; /* one cookie for each offset */
	size_t cnt;
};

/*
 * Creates a link. Returns its descriptor or a negative errno. Closing the descriptor detaches all
 * probes of the link.
 */
int multi_link_create(const struct multi_link *link);

/*
 * True if the kernel has multi links and binds them to all threads of a process. Kernels 6.6 to
 * 6.10 bind them to one thread unless fixed (commit 46ba0e49b642), so the function tests them with
 * a second thread. If true, *ret_trap_ns is the CPU time of one trap with an empty program.
 */
bool multi_link_supported(uint64_t *ret_trap_ns);

/*
 * True if a process with a seccomp filter survives a return probe. In kernels 6.11 to 6.13, the
 * filter also applies to the probe's own system call unless fixed (commit cf6cb56ef244), so the
 * function tests this with a child process.
 */
bool return_probes_pass_seccomp(void);

/*
 * True if the kernel has session links, and a program that returns 1 at the entry does not run at
 * the return. Tests both. If true, *ret_trap_ns is the CPU time of one trap with an empty program.
 */
bool session_link_supported(uint64_t *ret_trap_ns);

#endif
