/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot: what was outstanding at one moment, as plain data. A source makes it, ranking and
 * report read it. It owns what it points to (snapshot_own()), so it may outlive its source. It
 * knows nothing of BPF maps, symbols or output formats.
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

/* A process image: who owns the addresses of a stack. */
struct process {
	uint32_t image;
	pid_t pid;
	char *comm;   /* raw bytes from the kernel */
	char *cgroup; /* its path; NULL: not known, or not asked for */
};

/* Kernel sites: where the memory went. Strings are raw bytes. */
struct site_origin {
	pid_t last_pid;
	const char *last_comm; /* who allocated there last; NULL: only interrupts did */
	bool several_pids;
	pid_t owner_pid;        /* whose are most of its blocks; 0: not known */
	const char *owner_comm; /* NULL: not known */
	bool interrupt;         /* allocated in interrupt context; others are another site */
	const char *cache;      /* the slab cache; NULL: unknown or none */
	bool several_caches;
	bool reclaimable; /* a cache, which the kernel empties when it needs memory */
	/* Of its blocks at most so many were freed unseen: its slab cache did not grow by them. */
	uint64_t unseen_frees;
};

struct block {
	size_t site; /* index into sites; 0 in a site's own */
	uint64_t addr;
	uint64_t size;
	uint64_t sampled_size; /* its size when it was sampled, or SAMPLED_FOR_CERTAIN */
	uint64_t age_ns;
	pid_t tid;
	bool inherited; /* a forked child's copy of a block of its parent's */
	bool moved;     /* since a picture of its process was taken */
};

/* Some of the blocks of a site. */
struct part {
	uint64_t bytes;
	uint64_t count;
	struct estimate estimate; /* with sampling */
};

/*
 * Blocks by age, as they were sampled: those of class c > 0 are at least 2^(c-1) ms old and less
 * than 2^c, those of the last at least so old.
 */
#define AGE_CLASS_CNT 32
struct ages {
	uint64_t bytes[AGE_CLASS_CNT];
	uint32_t count[AGE_CLASS_CNT];
};

struct site {
	uint64_t id; /* the same site has the same id in every snapshot of a run */
	enum address_space space;
	enum block_kind kind;
	const struct process *process; /* NULL: no one process */
	pid_t tid;                     /* with --by thread: whose it is; else 0 */
	uint64_t bytes;
	uint64_t count;
	double bytes_variance; /* with sampling: of the estimates; NAN: not known */
	double count_variance;
	uint64_t inherited_bytes; /* of the above: copies of a parent's blocks */
	uint64_t inherited_count;
	uint64_t oldest_ns; /* ages; AGE_UNKNOWN with -C */
	uint64_t newest_ns;
	struct ages ages; /* with -C all 0 */
	/* Blocks, as sampled, that the last snapshot had, too, by their ages at that time. */
	uint32_t kept[AGE_CLASS_CNT];
	const uint64_t *frames; /* innermost first */
	size_t frame_cnt;       /* 0: the stack was lost */
	enum stack_end end;     /* how the walk of the stack ended */
	struct block largest;   /* of its blocks; with -C not known */
	struct site_origin origin;
	struct site_reach reach; /* if there was a proof; else 0 */
};

/* What --summary tells of a process. */
struct process_summary {
	const struct process *process;
	uint64_t allocated; /* bytes, here and below */
	uint64_t freed;
	uint64_t outstanding;
	uint64_t peak;
	uint64_t largest;
	uint64_t calls;
	uint64_t calls_of[FAMILY_CNT];
};

/* Address space that is only reserved, where a report leaves it out. */
struct reserved {
	uint64_t bytes;
	uint64_t count;
	size_t sites;
};

/* Processes that have ended since the last report, where a report leaves out what they held. */
struct ended {
	size_t processes;
	uint64_t bytes;
	uint64_t count;
};

/* Frees of blocks from before tracing began. */
struct earlier_frees {
	uint64_t cnt;
	uint64_t sized; /* of these, so many whose size is known, */
	uint64_t bytes; /* which is so much */
};

/* What the kernel counts of a process as a whole, now. */
enum footprint_part {
	FOOTPRINT_ANONYMOUS,   /* resident bytes of anonymous memory */
	FOOTPRINT_SHARED,      /* the same of tmpfs, memfd_create(), System V, MAP_SHARED */
	FOOTPRINT_HUGE,        /* the same of hugetlbfs */
	FOOTPRINT_DESCRIPTORS, /* open ones */
	FOOTPRINT_THREADS,
	FOOTPRINT_VIRTUAL, /* bytes of address space */
	FOOTPRINT_CNT,
};

struct footprint {
	bool is_known;
	uint64_t parts[FOOTPRINT_CNT];
};

/* What is counted of a process, since tracing began. */
struct process_tally {
	const struct process *process;
	uint64_t refused; /* blocks that were not tracked, as it had its share of the table */
	struct earlier_frees earlier; /* where all blocks are tracked */
	struct footprint footprint;
	struct rss rss;  /* all 0 if it is not known */
	bool ended;      /* with --all-processes, --comm or --cgroup: since the last report */
	bool ended_here; /* one that was given, or follows from it: what it held is in this report
			  */
};

/* What a pattern of --suppressions has taken out of a snapshot. */
struct suppressed {
	const char *pattern;
	uint64_t bytes;
	uint64_t count;
	size_t sites;
};

/* The blocks of a process's heap that a proof can look at. */
struct heap {
	uint32_t image;
	pid_t pid;
	struct heap_block *blocks; /* in any order */
	size_t block_cnt;
	size_t block_cap;
};

/* --fds: what is open beside the descriptors that are tracked, in all processes. */
struct descriptor_facts {
	bool are_traced;        /* all blocks are descriptors */
	uint64_t older;         /* were open when tracing began */
	uint64_t missed;        /* were opened in a way that is not traced */
	uint64_t closed_unseen; /* were tracked, and are not open any more: not in the report */
	uint64_t unread;        /* processes of which this is not known */
};

struct counts;
struct peak;

struct snapshot {
	int64_t wall_ns;      /* t0 as CLOCK_REALTIME */
	uint64_t t0_ns;       /* when the walk began */
	uint64_t walk_ns;     /* how long it took */
	uint64_t elapsed_ns;  /* t0 since tracing began */
	bool between;         /* taken between two reports: only verdicts go by it */
	uint64_t baseline_ns; /* the same: blocks from before are left out; 0: none are */
	struct site *sites;   /* no two with one id; any order */
	size_t site_cnt;
	struct block *blocks; /* only when asked for; sorted by site, then oldest first */
	size_t block_cnt;
	struct heap *heaps; /* for a proof, which takes them; none otherwise */
	size_t heap_cnt;
	const struct proof_facts *proof;   /* NULL: there was none */
	const struct hanging_sum *hanging; /* of it, by site */
	size_t hanging_cnt;
	const struct heap_census *census; /* the same, or nobody has asked for it */
	/* NULL: it is of no core. Else sites are sorts of blocks, and have no stacks. */
	const struct core_facts *core;
	struct sampling sampling;
	struct descriptor_facts descriptors;
	uint64_t lost[LOSS_CNT]; /* since tracing began */
	uint64_t calls;          /* allocator calls seen since tracing began */
	/* Frees that no event showed, since tracing began. */
	uint64_t replaced;       /* blocks found at an address just handed out again */
	uint64_t gone_with_page; /* blocks in a slab page that was given back */
	/* Blocks of this snapshot by which the slab caches have not grown: at most so many. */
	uint64_t beyond_caches;
	uint64_t vmalloc_hidden; /* bytes that vmalloc() has taken without an event */
	bool frees_hidden;       /* some ways to free kernel memory cannot be seen here at all */
	struct stats stats[SPACE_CNT];
	struct tracing_cost cost;
	const struct peak *peak;           /* if asked for */
	const struct counts *counts;       /* the same; nothing else is known then */
	struct process_summary *summaries; /* if asked for; in any order */
	size_t summary_cnt;
	const struct suppressed *suppressed; /* if asked for, by pattern; the suppressor's */
	size_t suppressed_cnt;
	struct reserved reserved;      /* the view's that a report is made of; else 0 */
	struct ended ended;            /* the same */
	struct process_tally *tallies; /* of the processes of which anything is counted */
	size_t tally_cnt;
	const uint64_t *frames; /* of all sites in their order, behind them the peak's */
	struct arena arena;     /* what sites, summaries and tallies point to, peak and counts */
};

/* Whether somebody has asked for what it holds: neither address space alone nor a stack. */
bool site_is_memory(const struct site *site);

/* From the sums over its blocks, which are a sample; estimate: 0 without sampling. */
void site_set_sums(struct site *site, const struct sampling *sampling, uint64_t bytes,
		   uint64_t count, const struct estimate *estimate);

/* The same for those that are inherited. */
void site_set_inherited(struct site *site, const struct sampling *sampling,
			const struct part *inherited);

/*
 * Adds what a site holds, how old that is and what a proof says of it to a sum that begins with
 * newest_ns AGE_UNKNOWN.
 */
void site_add_sums(struct site *sum, const struct site *site);

/* Adds also its blocks by age, and those that the last snapshot had. */
void site_join(struct site *sum, const struct site *site);

/* Adds a block. */
void part_add(struct part *part, const struct sampling *sampling, const struct block *block);

size_t age_class(uint64_t age_ns);
/* The least age of a class, in ns. */
uint64_t age_class_ns(size_t at);

void ages_add(struct ages *ages, uint64_t age_ns, uint64_t bytes);
void ages_join(struct ages *ages, const struct ages *part);

/* Of two blocks the larger, of equal ones the older; a site's own serves to find its largest. */
void block_take_larger(struct block *block, const struct block *other);

/* Returns what the resident memory of the only process is used for, or NULL if it is not known. */
const struct rss *snapshot_rss(const struct snapshot *snap);

void snapshot_deinit(struct snapshot *snap);

#endif
