/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot: the memory outstanding at one moment, as plain data. A source makes a snapshot,
 * ranking and report read it. A snapshot owns what it points to (snapshot_own()), so it may outlive
 * its source. Nothing here depends on BPF maps, symbols or output formats.
 * Sizes are bytes; times are CLOCK_MONOTONIC nanoseconds, ages nanoseconds before t0_ns.
 */
#ifndef REPORT_SNAPSHOT_H
#define REPORT_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "report/core_facts.h"
#include "report/estimate.h"
#include "report/heap_block.h"
#include "report/heap_census.h"
#include "report/reach.h"
#include "report/rss.h"
#include "report/stats.h"
#include "report/terms.h"
#include "report/tracing_cost.h"

#define AGE_UNKNOWN UINT64_MAX

enum address_space { SPACE_USER, SPACE_KERNEL, SPACE_CNT };

/* A process image: a process from one exec or fork to the next exec or its end. */
struct process {
	uint32_t image;
	pid_t pid;
	char *comm;   /* raw bytes from the kernel */
	char *cgroup; /* path of the cgroup; NULL if not known or not requested */
};

/* Allocator and owner of the memory of a kernel site. Strings are raw bytes. */
struct site_origin {
	pid_t last_pid;
	const char *last_comm; /* process that allocated last; NULL if only interrupts allocated */
	bool several_pids;
	pid_t owner_pid;        /* process that owns most of the blocks; 0 if not known */
	const char *owner_comm; /* NULL if not known */
	bool interrupt;         /* all blocks were allocated in interrupt context */
	const char *cache;      /* slab cache; NULL if unknown or not from a slab cache */
	bool several_caches;
	bool reclaimable; /* the kernel reclaims the memory when it runs short */
	/* Upper bound of blocks freed without an event, judged by the slab cache's size. */
	uint64_t unseen_frees;
};

struct block {
	size_t site; /* index into the snapshot's sites; unused in site.largest */
	uint64_t addr;
	uint64_t size;
	uint64_t sampled_size; /* size when the block was sampled, or SAMPLED_FOR_CERTAIN */
	uint64_t age_ns;
	pid_t tid;
	bool inherited; /* a forked child's copy of its parent's block */
	bool moved;     /* moved after the picture of the process's memory was taken */
};

/* Sums over some of the blocks of a site. */
struct part {
	uint64_t bytes;
	uint64_t count;
	struct estimate estimate; /* all 0 without sampling */
};

/*
 * Sampled blocks by age, not scaled up. Class 0 is younger than 1 ms, class c > 0 is from 2^(c-1)
 * to below 2^c ms old, and the last class has no upper limit.
 */
#define AGE_CLASS_CNT 32
struct ages {
	uint64_t bytes[AGE_CLASS_CNT];
	uint32_t count[AGE_CLASS_CNT];
};

struct site {
	uint64_t id; /* identifies the site in all snapshots of a run */
	enum address_space space;
	enum block_kind kind;
	const struct process *process; /* NULL if the site belongs to no single process */
	pid_t tid;                     /* thread that owns the site with --by thread; else 0 */
	uint64_t bytes;
	uint64_t count;
	double bytes_variance; /* variance of bytes with sampling; NAN if not known */
	double count_variance;
	uint64_t inherited_bytes; /* part of bytes: copies of a parent's blocks */
	uint64_t inherited_count;
	uint64_t oldest_ns; /* age of the oldest block; AGE_UNKNOWN with -C */
	uint64_t newest_ns;
	struct ages ages; /* all 0 with -C */
	/* Sampled blocks also in the previous snapshot, by their age in the previous snapshot. */
	uint32_t kept[AGE_CLASS_CNT];
	const uint64_t *frames; /* innermost first */
	size_t frame_cnt;       /* 0 if the stack was lost */
	enum stack_end end;     /* how the walk of the stack ended */
	struct block largest;   /* the largest block; not known with -C */
	struct site_origin origin;
	struct site_reach reach; /* all 0 without a proof */
};

/* A process's row in the table of --summary. */
struct process_summary {
	const struct process *process;
	uint64_t allocated; /* bytes, as are freed, outstanding, peak and largest */
	uint64_t freed;
	uint64_t outstanding;
	uint64_t peak;
	uint64_t largest;
	uint64_t calls;
	uint64_t calls_of[FAMILY_CNT];
};

/* Sum of reserved address space that a report leaves out. */
struct reserved {
	uint64_t bytes;
	uint64_t count;
	size_t sites;
};

/* Sum over processes that ended since the last report and are left out of this report. */
struct ended {
	size_t processes;
	uint64_t bytes;
	uint64_t count;
};

/* Frees of blocks that were allocated before tracing began. */
struct earlier_frees {
	uint64_t cnt;
	uint64_t sized; /* frees among cnt whose size is known */
	uint64_t bytes; /* total size of the frees in sized */
};

/* Totals that the kernel keeps for a whole process, at the time of the snapshot. */
enum footprint_part {
	FOOTPRINT_ANONYMOUS,   /* resident bytes of anonymous memory */
	FOOTPRINT_SHARED,      /* resident bytes of tmpfs, memfd, System V and MAP_SHARED */
	FOOTPRINT_HUGE,        /* resident bytes of hugetlbfs */
	FOOTPRINT_DESCRIPTORS, /* open file descriptors */
	FOOTPRINT_THREADS,
	FOOTPRINT_VIRTUAL, /* bytes of address space */
	FOOTPRINT_CNT,
};

struct footprint {
	bool is_known;
	uint64_t parts[FOOTPRINT_CNT];
};

/* Counters of a process since tracing began, and its footprint now. */
struct process_tally {
	const struct process *process;
	uint64_t refused; /* blocks not tracked because the per-process quota was used up */
	struct earlier_frees earlier; /* all 0 if filters or sampling leave blocks untracked */
	struct footprint footprint;
	struct rss rss; /* all 0 if not known */
	/* Ended since the last report; set only with --all-processes, --comm or --cgroup. */
	bool ended;
	/* Ended, and its memory still counts in this report; set without those options. */
	bool ended_here;
};

/* Sum of the sites that a pattern of --suppressions leaves out of a report. */
struct suppressed {
	const char *pattern;
	uint64_t bytes;
	uint64_t count;
	size_t sites;
};

/* Heap blocks of a process, as the input of a proof. */
struct heap {
	uint32_t image;
	pid_t pid;
	struct heap_block *blocks; /* in any order */
	size_t block_cnt;
	size_t block_cap;
};

/* Descriptors that --fds does not track or has lost, summed over all processes. */
struct descriptor_facts {
	bool are_traced;        /* --fds is on: every block is a descriptor */
	uint64_t older;         /* descriptors that were open when tracing began */
	uint64_t missed;        /* descriptors opened in a way that is not traced */
	uint64_t closed_unseen; /* tracked descriptors closed without an event: not reported */
	uint64_t unread;        /* processes whose descriptors could not be read */
};

struct counts;
struct peak;

struct snapshot {
	int64_t wall_ns;      /* t0_ns as CLOCK_REALTIME */
	uint64_t t0_ns;       /* when the walk began */
	uint64_t walk_ns;     /* duration of the walk */
	uint64_t elapsed_ns;  /* time from the start of tracing to t0_ns */
	bool between;         /* taken between two reports, for verdicts only */
	uint64_t baseline_ns; /* elapsed time before which blocks are left out; or 0 */
	struct site *sites;   /* sites with unique ids, in any order */
	size_t site_cnt;
	struct block *blocks; /* sorted by site, then oldest first; only if requested */
	size_t block_cnt;
	struct heap *heaps; /* input of a proof, which takes ownership; else NULL */
	size_t heap_cnt;
	const struct proof_facts *proof;   /* NULL without a proof */
	const struct hanging_sum *hanging; /* hanging blocks found by the proof, by site */
	size_t hanging_cnt;
	const struct heap_census *census; /* NULL without a census */
	/* NULL except for a core file, whose sites are groups of similar blocks without stacks. */
	const struct core_facts *core;
	struct sampling sampling;
	struct descriptor_facts descriptors;
	uint64_t lost[LOSS_CNT]; /* losses since tracing began */
	uint64_t calls;          /* allocator calls seen since tracing began */
	/* Frees since tracing began that were inferred, as no event showed them. */
	uint64_t replaced;       /* blocks whose address was allocated again */
	uint64_t gone_with_page; /* blocks in a slab page that was freed */
	/*
	 * Upper bound of slab blocks here that were freed without an event, by the caches' sizes.
	 */
	uint64_t beyond_caches;
	uint64_t vmalloc_hidden; /* bytes allocated by vmalloc() without an event */
	bool frees_hidden;       /* this kernel has frees that cannot be traced */
	struct stats stats[SPACE_CNT];
	struct tracing_cost cost;
	const struct peak *peak;           /* NULL if not requested */
	const struct counts *counts;       /* NULL except with --count; no sites then */
	struct process_summary *summaries; /* unsorted; NULL if not requested */
	size_t summary_cnt;
	const struct suppressed *suppressed; /* sums by pattern, owned by the suppressor */
	size_t suppressed_cnt;
	struct reserved reserved;      /* set only in a view without reserved sites */
	struct ended ended;            /* set only in a view without ended processes */
	struct process_tally *tallies; /* one per process that has counters */
	size_t tally_cnt;
	const uint64_t *frames; /* frames of all sites in order, then those of the peak */
	struct arena arena;     /* holds what sites, summaries, tallies, peak and counts point to */
};

/* True if a site holds memory other than reserved address space and thread stacks. */
bool site_is_memory(const struct site *site);

/* Sets a site's sums from the sums over its sampled blocks; estimate is all 0 without sampling. */
void site_set_sums(struct site *site, const struct sampling *sampling, uint64_t bytes,
		   uint64_t count, const struct estimate *estimate);

/* Sets a site's inherited sums from the sums over its sampled inherited blocks. */
void site_set_inherited(struct site *site, const struct sampling *sampling,
			const struct part *inherited);

/*
 * Adds a site's bytes, count, ages and proof results to a sum, whose newest_ns must start as
 * AGE_UNKNOWN.
 */
void site_add_sums(struct site *sum, const struct site *site);

/* Like site_add_sums(), but also adds up blocks by age and blocks kept from the last snapshot. */
void site_join(struct site *sum, const struct site *site);

/* Adds a block to a part. */
void part_add(struct part *part, const struct sampling *sampling, const struct block *block);

size_t age_class(uint64_t age_ns);
/* Returns the lowest age of an age class, in nanoseconds. */
uint64_t age_class_ns(size_t at);

void ages_add(struct ages *ages, uint64_t age_ns, uint64_t bytes);
void ages_join(struct ages *ages, const struct ages *part);

/* Replaces block by other if other is larger, or equally large and older. */
void block_take_larger(struct block *block, const struct block *other);

/* Returns the resident memory of the only process, divided by use; NULL if not known. */
const struct rss *snapshot_rss(const struct snapshot *snap);

void snapshot_deinit(struct snapshot *snap);

#endif
