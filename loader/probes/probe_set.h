/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes for one process, or for all processes. A probe is identified by its file and offset,
 * and no place is probed twice. The kind of link is chosen when the BPF programs are loaded. This
 * part does not know what the BPF programs do.
 */
#ifndef LOADER_PROBES_PROBE_SET_H
#define LOADER_PROBES_PROBE_SET_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/file_id.h"
#include "bpf/memleak.h"
#include "loader/probes/link_kind.h"

struct entry_programs;

struct probe_programs {
	enum link_kind kind;
	struct entry_programs *entries; /* with LINK_SESSION: programs for entry links */
	struct bpf_program *session;    /* with LINK_SESSION: program for session links */
	struct bpf_program *any;        /* program that reads the call shape from the cookie */
	struct bpf_program *shapes[MEMLEAK_SHAPE_CNT]; /* with LINK_SHAPE: one program per shape */
	struct bpf_program *ret;
};

/*
 * True if links can be bound to one process. A bound link does not probe other processes that run
 * in the memory of the process.
 */
static inline bool probe_programs_bound(const struct probe_programs *programs)
{
	return programs->kind == LINK_SESSION || programs->kind == LINK_MULTI;
}

/* One place that is probed or is to be probed. */
struct probe {
	const char *function; /* name of the function; valid as long as the options exist */
	enum memleak_shape shape;
	uint64_t offset; /* offset in the file */
	bool at_return;  /* true if a return probe reads the result of a call */
	bool throws;     /* true if probes of MEMLEAK_SHAPE_RETURN read the result of a call */
	int err;         /* result of attaching: 0, -EEXIST if already probed, or another errno */
	struct file_id file;
};

struct probe_link;
struct probe_file;

struct probe_set {
	uint32_t binding; /* see MEMLEAK_COOKIE */
	bool has_sharers; /* true if processes that run in the process's memory are also probed */
	struct probe *items;
	size_t cnt;
	size_t cap;
	struct probe_file *files; /* open files of the probes; none in a set for all processes */
	size_t file_cnt;
	size_t file_cap;
	struct probe_link *links;
	size_t link_cnt;
	size_t link_cap;
};

/*
 * Probes functions in the file open as fd. pid: the process to probe; 0 for all processes. Sets err
 * in each probe. Returns 0 or the first error other than -EEXIST.
 */
int probe_set_attach(struct probe_set *set, const struct probe_programs *programs, pid_t pid,
		     int fd, struct probe *probes, size_t cnt);

/* True if the set has a probe of this shape at this offset of the file open as fd. */
bool probe_set_has(const struct probe_set *set, int fd, uint64_t offset, enum memleak_shape shape);

/*
 * Attaches all probes again after a thread other than the first has executed a program. The kernel
 * then replaces the first thread, to which the probes are bound, by that thread. *old is set to the
 * old probes. Detaching them is slow, so the caller does it later. Returns 0 or the first error;
 * the other probes are attached even after an error.
 */
int probe_set_rebind(struct probe_set *set, const struct probe_programs *programs, pid_t pid,
		     struct probe_set *old);

/*
 * Makes all probes of the set, and probes added later, also fire in other processes that run in
 * this process's memory. The additional links fire in all processes, and the BPF programs filter
 * the calls. Returns 0 or the first error.
 */
int probe_set_add_sharers(struct probe_set *set, const struct probe_programs *programs);
/* Removes the links added by probe_set_add_sharers(), when the memory is no longer shared. */
void probe_set_drop_sharers(struct probe_set *set);

/*
 * Removes the probes of one file from a set that applies to all processes. Returns the number of
 * links removed.
 */
size_t probe_set_drop(struct probe_set *set, const struct file_id *file);

/* Detaches several sets. Uses threads, as detaching a link waits for the kernel. */
void probe_sets_detach(struct probe_set *const *sets, size_t cnt);
void probe_set_detach(struct probe_set *set);

#endif
