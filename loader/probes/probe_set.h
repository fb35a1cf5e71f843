/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes on one process, or on all processes: attached by file and offset, each place once, and
 * detached together. The kind of link is chosen when the BPF programs are loaded. Knows nothing of
 * what the programs do.
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
	struct entry_programs *entries;                /* LINK_SESSION: for entry links */
	struct bpf_program *session;                   /* LINK_SESSION */
	struct bpf_program *any;                       /* reads the shape from the cookie */
	struct bpf_program *shapes[MEMLEAK_SHAPE_CNT]; /* LINK_SHAPE */
	struct bpf_program *ret;
};

/* True if links can be bound to one process. They leave out processes that borrow its memory. */
static inline bool probe_programs_bound(const struct probe_programs *programs)
{
	return programs->kind == LINK_SESSION || programs->kind == LINK_MULTI;
}

/* A function that is or will be probed. */
struct probe {
	const char *function; /* valid as long as the options */
	enum memleak_shape shape;
	uint64_t offset; /* in the file */
	bool at_return;  /* a return probe takes its result */
	bool throws;     /* probes of MEMLEAK_SHAPE_RETURN take its result */
	int err;         /* result of attaching: 0, -EEXIST (probed already: an alias) or another */
	struct file_id file;
};

struct probe_link;
struct probe_file;

struct probe_set {
	uint32_t binding; /* see MEMLEAK_COOKIE */
	bool lent;        /* processes that borrow the process's memory are probed, too */
	struct probe *items;
	size_t cnt;
	size_t cap;
	struct probe_file *files; /* files with probes of one process, kept open */
	size_t file_cnt;
	size_t file_cap;
	struct probe_link *links;
	size_t link_cnt;
	size_t link_cap;
};

/*
 * Probes functions in the file open as fd, in process pid, or in all processes if pid is 0. Sets
 * err of each probe. Returns 0 or the first error but -EEXIST.
 */
int probe_set_attach(struct probe_set *set, const struct probe_programs *programs, pid_t pid,
		     int fd, struct probe *probes, size_t cnt);

/*
 * Attaches all probes again after process pid has executed a program in another thread than its
 * first: probes are bound to the first thread, which that thread replaces. *old receives the old
 * probes, which the caller detaches later, since that is slow. Returns 0 or the first error; the
 * remaining probes are attached nevertheless.
 */
int probe_set_rebind(struct probe_set *set, const struct probe_programs *programs, pid_t pid,
		     struct probe_set *old);

/*
 * Attaches present and future probes also for processes that borrow this process's memory: by links
 * to all processes, whose calls the programs filter. Returns 0 or the first error.
 */
int probe_set_lend(struct probe_set *set, const struct probe_programs *programs);
/* Removes the lent links: the memory is no longer shared. */
void probe_set_end_lending(struct probe_set *set);

/*
 * Removes the probes of one file from a set for all processes. Returns the number of links removed.
 */
size_t probe_set_drop(struct probe_set *set, const struct file_id *file);

/* Detaches several sets in parallel, since each link waits for the kernel. */
void probe_sets_detach(struct probe_set *const *sets, size_t cnt);
void probe_set_detach(struct probe_set *set);

#endif
