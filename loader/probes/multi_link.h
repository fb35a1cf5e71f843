/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Links that hold many uprobes of one file (uprobe_multi, kernel 6.6), made with bpf(2) itself:
 * the oldest libbpf that memleak builds with does not know them. One link is attached and, what
 * matters more, detached at once: a perf uprobe waits for a grace period of its own.
 *
 * A session link (kernel 6.13) runs one program at the entry of a function and at its return,
 * unless the program answers 1 at the entry: then the kernel leaves the return alone.
 */
#ifndef LOADER_PROBES_MULTI_LINK_H
#define LOADER_PROBES_MULTI_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Attach types that programs must be loaded with; newer than the libbpf we build with. */
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
	const uint64_t *offsets; /* in the file */
	const uint64_t *cookies; /* one per offset */
	size_t cnt;
};

/* Returns a descriptor, whose closing detaches all, or a negative errno. */
int multi_link_create(const struct multi_link *link);

/*
 * Whether the kernel has such links and binds them to a whole process. Between 6.6 and 6.10 they
 * saw one thread only, unless repaired (commit 46ba0e49b642): tried, with a thread of our own.
 */
bool multi_link_supported(void);

/*
 * Whether a process under a seccomp filter survives a return probe. Between 6.11 and 6.13 the
 * probe's own system call was subject to the filter, unless repaired (commit cf6cb56ef244): tried,
 * with a child process.
 */
bool return_probes_pass_seccomp(void);

/* Whether it has those of a session, and leaves a return alone when told so: tried. */
bool session_link_supported(void);

#endif
