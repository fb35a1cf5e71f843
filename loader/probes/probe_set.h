/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes on one process, or on all: attached by file and offset, each place once, detached
 * together.
 * Several kinds of link can hold them; which one is chosen when the programs are loaded. Knows
 * nothing of what the programs do.
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
	struct entry_programs *entries;                /* LINK_SESSION: for links of entries */
	struct bpf_program *session;                   /* LINK_SESSION */
	struct bpf_program *any;                       /* told the shape by cookie */
	struct bpf_program *shapes[MEMLEAK_SHAPE_CNT]; /* LINK_SHAPE */
	struct bpf_program *ret;
};

/* Links of these kinds to one process leave out those that borrow its memory. */
static inline bool probe_programs_bound(const struct probe_programs *programs)
{
	return programs->kind == LINK_SESSION || programs->kind == LINK_MULTI;
}

/* A function to probe, or probed. */
struct probe {
	const char *function; /* lives as long as the options */
	enum memleak_shape shape;
	uint64_t offset; /* in the file */
	bool at_return;  /* its result matters, and a return probe takes it */
	bool throws;     /* its result is taken by probes of MEMLEAK_SHAPE_RETURN */
	int err;         /* of attaching: 0, -EEXIST (probed already: an alias) or another */
	struct file_id file;
};

struct probe_link;
struct probe_file;

struct probe_set {
	uint32_t binding; /* see MEMLEAK_COOKIE */
	bool lent;        /* those that borrow the memory of the process are probed, too */
	struct probe *items;
	size_t cnt;
	size_t cap;
	struct probe_file *files; /* that the probes of one process are in, kept open */
	size_t file_cnt;
	size_t file_cap;
	struct probe_link *links;
	size_t link_cnt;
	size_t link_cap;
};

/*
 * Probes functions of the file that fd is open for, in process pid; 0: in all. Sets err of each;
 * returns 0 or the first error but -EEXIST.
 */
int probe_set_attach(struct probe_set *set, const struct probe_programs *programs, pid_t pid,
		     int fd, struct probe *probes, size_t cnt);

/*
 * Probes the same places again in what process pid has become. Probes are bound to the first
 * thread of a process, and another one takes its place when that one executes a program. *old is
 * what was, to be detached by the caller: that takes its time. Returns 0 or the first error; what
 * could be probed again is.
 */
int probe_set_rebind(struct probe_set *set, const struct probe_programs *programs, pid_t pid,
		     struct probe_set *old);

/*
 * Probes the same places, and those to come, for processes that borrow the memory of this one: by
 * links to all processes, whose calls the programs sort out. 0 or the first error.
 */
int probe_set_lend(struct probe_set *set, const struct probe_programs *programs);
/* The memory that was lent is not that of the process any more. */
void probe_set_end_lending(struct probe_set *set);

/* Removes the probes of one file, of a set for all processes. Returns how many links went. */
size_t probe_set_drop(struct probe_set *set, const struct file_id *file);

/* Each link waits for the kernel when it goes: those of all sets wait together. */
void probe_sets_detach(struct probe_set *const *sets, size_t cnt);
void probe_set_detach(struct probe_set *set);

#endif
