/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot is the memory outstanding at one moment, as plain data. A source makes a snapshot;
 * ranking and report read it. After snapshot_own() a snapshot owns everything that it points to, so
 * it may outlive its source. Nothing here depends on BPF maps, symbols or output formats. Sizes are
 * in bytes. Times are CLOCK_MONOTONIC, in nanoseconds; ages are nanoseconds before t0_ns.
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
#include "report/kernel_growth.h"
#include "report/moments.h"
#include "report/python_growth.h"
#include "report/reach.h"
#include "report/rss.h"
#include "report/stats.h"
#include "report/terms.h"
#include "report/tracing_cost.h"

#define AGE_UNKNOWN UINT64_MAX

enum address_space { SPACE_USER, SPACE_KERNEL, SPACE_CNT };

/* A process image: a process from an exec or fork until its next exec or its end. */
struct process {
	uint32_t image;
	pid_t pid;
	char *comm;   /* name of the process; raw bytes from the kernel */
	char *cgroup; /* path of the cgroup; NULL if not known or not requested */
};

/*
 * Origin of a kernel site's memory: the slab cache, the process that made the latest allocation,
 * and the process that owns most of the blocks. Strings are raw bytes.
 */
struct site_origin {
	pid_t last_pid;
	/*
	 * Name of the process that made the latest allocation; NULL if all allocations were made in
	 * interrupts.
	 */
	const char *last_comm;
	bool several_pids;
	/* Pid of the process that owns most of the blocks; 0 if not known. */
	pid_t owner_pid;
	const char *owner_comm; /* name of the owner; NULL if not known */
	bool interrupt;         /* true if all blocks were allocated in interrupt context */
	/* Name of the slab cache; NULL if not known, or if the memory is from no slab cache. */
	const char *cache;
	bool several_caches;
	bool reclaimable; /* true if the kernel can reclaim the memory */
	/*
	 * Maximum number of blocks that may have been freed without an event, computed from the
	 * slab cache's size.
	 */
	uint64_t unseen_frees;
};

struct block {
	size_t site; /* index into the snapshot's sites; not set in site.largest */
	uint64_t addr;
	uint64_t size;
	/*
	 * Size of the block when it was sampled; SAMPLED_FOR_CERTAIN if sampling never skips it.
	 * With SAMPLING_STEPS, the size that has the same probability at the snapshot's rate.
	 */
	uint64_t sampled_size;
	uint64_t age_ns;
	pid_t tid;
	bool inherited; /* true if the block is a forked child's copy of a block of its parent */
	/*
	 * true if the program reallocated the block after the proof had taken its picture of the
	 * memory
	 */
	bool moved;
};

/* Sums over a part of a site's blocks. */
struct part {
	uint64_t bytes;
	uint64_t count;
	struct estimate estimate; /* estimated totals; all 0 without sampling */
};

/*
 * Sampled blocks by age; the numbers are not scaled up. Class 0 has the blocks that are younger
 * than 1 ms. Class c > 0 has the blocks with an age from 2^(c-1) ms to just below 2^c ms. The last
 * class has no upper limit.
 */
#define AGE_CLASS_CNT 32
struct ages {
	uint64_t bytes[AGE_CLASS_CNT];
	uint32_t count[AGE_CLASS_CNT];
};

_Static_assert(AGE_CLASS_CNT == MOMENTS_MAX, "struct ages has a class for each birth");

struct site {
	uint64_t id; /* identifies the site in all snapshots of a run */
	enum address_space space;
	enum block_kind kind;
	/* the site's process; NULL if the site belongs to several processes or none */
	const struct process *process;
	pid_t tid; /* thread that allocated the blocks, with --by thread; else 0 */
	uint64_t bytes;
	uint64_t count;
	double bytes_variance; /* variance of bytes, due to sampling; NAN if not known */
	double count_variance;
	uint64_t inherited_bytes; /* part of `bytes` in blocks inherited from a parent process */
	uint64_t inherited_count;
	uint64_t oldest_ns; /* age of the oldest block; AGE_UNKNOWN with -C */
	uint64_t newest_ns;
	struct ages ages; /* sampled blocks by age; all 0 with -C */
	/*
	 * Sampled blocks by the time of their allocation. The classes are not those of `ages`:
	 * class c has the blocks that were allocated after c of the times in snapshot.earlier, and
	 * before all later ones. NULL if not requested, and in sums.
	 */
	const struct ages *births;
	/* Sampled blocks that were also in the previous snapshot, by the age that they had then. */
	uint32_t kept[AGE_CLASS_CNT];
	const uint64_t *frames; /* frames of the stack, innermost first */
	size_t frame_cnt;       /* number of frames; 0 if the stack was lost */
	enum stack_end end;     /* whether and why the walk of the stack stopped early */
	struct block largest;   /* the largest block; not known with -C */
	struct site_origin origin;
	struct site_reach reach; /* results of a proof; all 0 without a proof */
	/* Free heap memory that stays resident because of the blocks; 0 if not known (rss.h). */
	uint64_t pinned_bytes;
};

/* A row of the table of --summary, for one process. */
struct process_summary {
	const struct process *process;
	uint64_t allocated; /* in bytes, like all fields up to `largest` */
	uint64_t freed;
	uint64_t outstanding;
	uint64_t peak;
	uint64_t largest;
	uint64_t calls;
	uint64_t calls_of[FAMILY_CNT];
};

/* Sum of the reserved address space that a report leaves out. */
struct reserved {
	uint64_t bytes;
	uint64_t count;
	size_t sites;
};

/*
 * Sum over processes that ended since the previous report and are left out of the current report.
 */
struct ended {
	size_t processes;
	uint64_t bytes;
	uint64_t count;
};

/* Frees of blocks that had been allocated before tracing began. */
struct earlier_frees {
	uint64_t cnt;
	uint64_t sized; /* number of these frees for which the size is known */
	uint64_t bytes; /* total size of the blocks freed by the `sized` frees */
};

/*
 * Totals of a process as a whole, at the time of the snapshot. Most of them are counted by the
 * kernel.
 */
enum footprint_part {
	FOOTPRINT_ANONYMOUS,   /* bytes of anonymous memory, resident or swapped out */
	FOOTPRINT_SHARED,      /* resident shared memory: tmpfs, memfd, System V, MAP_SHARED */
	FOOTPRINT_HUGE,        /* resident bytes of hugetlbfs */
	FOOTPRINT_DESCRIPTORS, /* open file descriptors */
	FOOTPRINT_THREADS,
	FOOTPRINT_VIRTUAL,  /* bytes of address space */
	FOOTPRINT_FILES,    /* resident bytes of mapped files */
	FOOTPRINT_CHILDREN, /* living child processes; see has_traced_children */
	FOOTPRINT_ZOMBIES,  /* child processes that have ended, but were not waited for */
	/* bytes of shared memory, mapped or not (see loader/target/shared_files.h) */
	FOOTPRINT_UNMAPPED,
	FOOTPRINT_TOO_YOUNG, /* bytes of the largest heap block younger than --older */
	FOOTPRINT_MAPPINGS,  /* mappings of all kinds: lines of /proc/PID/maps */
	/* bytes of files on tmpfs that belong to the user (see loader/target/tmpfs_files.h) */
	FOOTPRINT_TMPFS,
	FOOTPRINT_ORPHANS,     /* untraced processes of the program (see loader/target/orphans.h) */
	FOOTPRINT_PAGE_TABLES, /* bytes */
	FOOTPRINT_SOCKETS,     /* bytes that wait in sockets (see loader/target/socket_queues.h) */
	FOOTPRINT_TIMERS,      /* POSIX timers */
	FOOTPRINT_QUEUES,      /* System V message queues that the process was the last to use */
	FOOTPRINT_CNT,
};

/* Size of a name in a footprint, with its NUL. Longer names are cut. */
#define FOOTPRINT_NAME_BYTES 64

struct footprint {
	bool is_known;
	/*
	 * true if the process is stopped, by a signal or by a process that traces it, such as a
	 * debugger
	 */
	bool is_stopped;
	bool has_traced_children; /* true if FOOTPRINT_CHILDREN includes traced children (-f) */
	bool has_other_network;   /* true if its network namespace is not memleak's */
	uint64_t parts[FOOTPRINT_CNT];
	uint64_t mappings_max; /* limit of FOOTPRINT_MAPPINGS; 0 if not known */
	uint64_t virtual_max;  /* limit of FOOTPRINT_VIRTUAL; 0 if there is none or not known */
	/* name of the file, or words for the memory, of most new mappings; "" if not known */
	char mapped[FOOTPRINT_NAME_BYTES];
	char orphan[FOOTPRINT_NAME_BYTES]; /* name of one of FOOTPRINT_ORPHANS; "" if none */
};

/* Counters of a process since tracing began, and its footprint now. */
struct process_tally {
	const struct process *process;
	uint64_t refused; /* blocks not tracked because the process had used up its quota */
	/*
	 * Frees of blocks allocated before tracing; all 0 if filters or sampling leave some blocks
	 * untracked.
	 */
	struct earlier_frees earlier;
	struct footprint footprint;
	struct rss rss; /* resident memory; all 0 if not known */
	/* Version of CPython as in Py_Version; 0 if the process runs no readable scripts. */
	uint32_t python;
	/*
	 * True if the process ended since the last report. Set only with --all-processes, --comm or
	 * --cgroup.
	 */
	bool ended;
	/*
	 * True if the process ended, and this report still shows its memory. Set only without
	 * --all-processes, --comm and --cgroup.
	 */
	bool ended_here;
	int killed_by;      /* signal that ended the process; 0 if none did, or if not known */
	bool out_of_memory; /* true if the kernel killed the process because memory ran out */
};

/* Sum of the sites that one pattern of --suppressions removes from a report. */
struct suppressed {
	const char *pattern;
	uint64_t bytes;
	uint64_t count;
	size_t sites;
};

/* Heap blocks of a process, for which a proof searches its memory for pointers. */
struct heap {
	uint32_t image;
	pid_t pid;
	struct heap_block *blocks; /* blocks of the heap, in any order */
	size_t block_cnt;
	size_t block_cap;
};

/*
 * Numbers of descriptors, summed over all processes: descriptors that --fds does not track, and
 * descriptors that were closed without an event.
 */
struct descriptor_facts {
	bool are_traced; /* true if --fds is in effect: every block is a descriptor */
	uint64_t older;  /* descriptors that were open when tracing began */
	uint64_t missed; /* descriptors opened in a way that is not traced */
	/* Tracked descriptors closed without an event; they are not reported. */
	uint64_t closed_unseen;
	uint64_t unread; /* number of processes whose descriptors could not be read */
};

struct counts;
struct peak;

/* Memory that the kernel uses in the whole system, in bytes; all 0 if not known. */
struct kernel_memory {
	uint64_t unreclaimable; /* slab memory that the kernel cannot reclaim */
	uint64_t reclaimable;   /* slab memory that the kernel can reclaim */
	uint64_t vmalloc;
};

/* Age in nanoseconds up to which a process may still be loading modules and filling caches. */
#define RUN_YOUNG_NS UINT64_C(20000000000)

/* Facts about the run that made a snapshot. Verdicts depend on them. */
struct run_facts {
	/* True if the processes are assumed to have finished their start-up before tracing (-p). */
	bool had_begun;
	bool was_young; /* true if a -p process was younger than RUN_YOUNG_NS when tracing began */
	bool has_size_filters; /* true if blocks are left out because of their size */
};

struct snapshot {
	struct run_facts run;
	int64_t wall_ns;     /* t0_ns as a CLOCK_REALTIME time */
	uint64_t t0_ns;      /* when reading of the block tables began */
	uint64_t walk_ns;    /* time that reading of the block tables took */
	uint64_t elapsed_ns; /* time from the start of tracing to t0_ns */
	bool between; /* true if the snapshot was taken between two reports; only verdicts use it */
	/*
	 * Times that divide the classes of site.births, counted from the start of tracing; often
	 * none.
	 */
	struct moments earlier;
	/*
	 * The baseline, as time since tracing began; 0 if there is none. Blocks allocated before
	 * the baseline are left out.
	 */
	uint64_t baseline_ns;
	struct site *sites; /* sites with unique ids, in any order */
	size_t site_cnt;
	/* Outstanding blocks, sorted by site, then by age, oldest first; empty unless requested. */
	struct block *blocks;
	size_t block_cnt;
	/* Heaps for a proof, which takes ownership of them; NULL if there is no proof. */
	struct heap *heaps;
	size_t heap_cnt;
	const struct proof_facts *proof; /* facts about the proof; NULL without a proof */
	/*
	 * Blocks that are reachable only from definite blocks, as the proof found; sorted by site.
	 */
	const struct hanging_sum *hanging;
	size_t hanging_cnt;
	const struct heap_census *census; /* census of glibc heaps; NULL if none was taken */
	/*
	 * Facts about the core file; NULL unless the snapshot is of a core file. The sites of such
	 * a snapshot are groups of similar blocks, without stacks.
	 */
	const struct core_facts *core;
	struct sampling sampling;
	struct descriptor_facts descriptors;
	uint64_t lost[LOSS_CNT]; /* losses since tracing began */
	uint64_t calls;          /* allocator calls seen since tracing began */
	/*
	 * `replaced` and `gone_with_page` are numbers of blocks freed without an event since
	 * tracing began. Later events show that they were freed.
	 */
	uint64_t replaced; /* blocks whose address was allocated again without a free in between */
	uint64_t gone_with_page; /* blocks whose slab page was freed */
	/*
	 * Estimated number of slab blocks in this snapshot that were freed without an event,
	 * computed from the sizes of the slab caches.
	 */
	uint64_t beyond_caches;
	uint64_t vmalloc_hidden; /* bytes allocated by vmalloc() without an event */
	struct kernel_memory kernel_memory;
	struct kernel_memory kernel_memory_before; /* memory of the kernel when tracing began */
	/*
	 * The slab caches that grew most, then the lines of kernel code whose memory grew most.
	 * Each of these two kinds is sorted by growth. May be NULL.
	 */
	const struct kernel_growth *kernel_growths;
	size_t kernel_growth_cnt;
	bool frees_hidden; /* true if some kind of free cannot be traced on this kernel */
	struct stats stats[SPACE_CNT];
	struct tracing_cost cost;
	const struct peak *peak; /* memory at the peak; NULL if not requested */
	/* Rows of --count; NULL without --count. With --count, the snapshot has no sites. */
	const struct counts *counts;
	struct process_summary *summaries; /* rows of --summary, unsorted; NULL if not requested */
	size_t summary_cnt;
	/* One sum for each pattern of --suppressions; the suppressor owns the array. */
	const struct suppressed *suppressed;
	size_t suppressed_cnt;
	/* Sum of the sites of reserved address space; set only in a view that leaves them out. */
	struct reserved reserved;
	/* Sum of the ended processes; set only in a view from which they were removed. */
	struct ended ended;
	struct process_tally *tallies; /* one tally for each process that has counters */
	size_t tally_cnt;
	/*
	 * Growing classes and containers of the only process, if it runs Python; NULL if not known.
	 */
	const struct python_growth *python;
	/* Frames of all sites, in the order of the sites, then frames of the peak's sites. */
	const uint64_t *frames;
	/* Memory of the data that sites, summaries, tallies, peak and counts point to. */
	struct arena arena;
};

void snapshot_drop_heaps(struct snapshot *snap);

/* True if a site has blocks that are neither reserved address space nor stacks of threads. */
bool site_is_memory(const struct site *site);

/*
 * Sets a site's sums, given the sums over its sampled blocks. Without sampling, `estimate` must be
 * all 0.
 */
void site_set_sums(struct site *site, const struct sampling *sampling, uint64_t bytes,
		   uint64_t count, const struct estimate *estimate);

/* Sets a site's sums of inherited blocks, given the sums over its sampled inherited blocks. */
void site_set_inherited(struct site *site, const struct sampling *sampling,
			const struct part *inherited);

/*
 * Adds a site's bytes, count, oldest and newest age, pinned bytes and proof results to a sum.
 * Before the first call, the sum's newest_ns must be AGE_UNKNOWN.
 */
void site_add_sums(struct site *sum, const struct site *site);

/* Like site_add_sums(), but also adds the site's `ages` and `kept` to those of the sum. */
void site_join(struct site *sum, const struct site *site);

void part_add(struct part *part, const struct sampling *sampling, const struct block *block);

size_t age_class(uint64_t age_ns);
/* Returns the lowest age in an age class, in nanoseconds. */
uint64_t age_class_ns(size_t at);

void ages_add(struct ages *ages, uint64_t age_ns, uint64_t bytes);
/* Adds a block to the age class `class`. */
void ages_add_to(struct ages *ages, size_t class, uint64_t bytes);
void ages_join(struct ages *ages, const struct ages *part);

/* Replaces `block` by a copy of `other` if `other` is larger, or equally large and older. */
void block_take_larger(struct block *block, const struct block *other);

/* True if the process had not ended when the snapshot was taken. */
bool process_tally_is_living(const struct process_tally *tally);
/* Returns the number of living processes. */
size_t snapshot_living(const struct snapshot *snap);
/*
 * Returns the tally of the only process if its resident memory is known; otherwise, or if there are
 * several processes, returns NULL.
 */
const struct process_tally *snapshot_only_rss(const struct snapshot *snap);

void snapshot_deinit(struct snapshot *snap);

#endif
