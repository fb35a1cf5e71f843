/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Links with many uprobes in one file (uprobe_multi, kernel 6.6), created with bpf(2) because the
 * oldest supported libbpf does not know them. A link is attached and detached in one step, which
 * matters most for detaching: each perf uprobe waits for its own grace period.
 *
 * A session link (kernel 6.13) runs one program at the entry and the return of a function. If the
 * program returns 1 at the entry, the kernel does not report the return.
 */
#ifndef LOADER_PROBES_MULTI_LINK_H
#define LOADER_PROBES_MULTI_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Attach types for loading the programs; newer than the oldest supported libbpf. */
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
	const uint64_t *cookies; /* one for each offset */
	size_t cnt;
};

/*
 * Creates a link. Returns its descriptor, which detaches all probes when closed, or a negative
 * errno.
 */
int multi_link_create(const struct multi_link *link);

/*
 * True if the kernel has multi links and binds them to all threads of a process. Between 6.6 and
 * 6.10 they were bound to one thread unless fixed (commit 46ba0e49b642), so this is tested with a
 * thread. If so, *ret_trap_ns is the CPU time of one trap with an empty program.
 */
bool multi_link_supported(uint64_t *ret_trap_ns);

/*
 * True if a process under a seccomp filter survives a return probe. Between 6.11 and 6.13 the
 * filter applied to the probe's own system call unless fixed (commit cf6cb56ef244), so this is
 * tested with a child.
 */
bool return_probes_pass_seccomp(void);

/*
 * True if the kernel has session links and skips a return if the program asks for it; tested.
 * *ret_trap_ns as above.
 */
bool session_link_supported(uint64_t *ret_trap_ns);

#endif
