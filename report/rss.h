/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The resident memory of a process, divided by use. All numbers are bytes of resident pages. The
 * sum of all parts is Rss in /proc/PID/smaps.
 */
#ifndef REPORT_RSS_H
#define REPORT_RSS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/heap_census.h"

enum rss_part {
	RSS_LIVE,      /* used blocks with their headers, and glibc's own structures */
	RSS_PINNED,    /* free memory on pages that also have live blocks or headers */
	RSS_TRIMMABLE, /* whole pages in free chunks: malloc_trim() would give them back */
	RSS_TOP,       /* free memory at the ends of heaps, for new blocks */
	RSS_PYTHON,    /* free memory in pools of CPython, for new objects */
	RSS_MAPPED,    /* other anonymous memory: mmap() of the program, other allocators */
	RSS_STACKS,
	RSS_FILES, /* code and data of mapped files */
	RSS_SHARED,
	RSS_UNREAD, /* glibc arenas, or parts of their heaps, that were inconsistent */
	RSS_OTHER,  /* kernel mappings, and pages that changed during counting */
	RSS_PART_CNT,
};

enum rss_allocator {
	ALLOCATOR_NONE,
	ALLOCATOR_JEMALLOC,
	ALLOCATOR_TCMALLOC,
	ALLOCATOR_MIMALLOC,
	ALLOCATOR_MUSL,
	ALLOCATOR_CNT,
};

struct rss {
	uint64_t parts[RSS_PART_CNT];
	uint64_t arenas; /* number of glibc arenas whose chunks were counted */
	/*
	 * Number of counted arenas that changed during counting, so that their bytes are
	 * approximate.
	 */
	uint64_t torn_arenas;
	/* Number of glibc arenas that were inconsistent; see RSS_UNREAD. */
	uint64_t skipped_arenas;
	uint64_t huge;     /* bytes, over all parts, in transparent huge pages */
	uint64_t swapped;  /* swapped-out bytes, which no part includes */
	uint64_t main_top; /* part of RSS_TOP that malloc_trim() would return */
	/*
	 * Bytes that are not resident in the writable mappings of RSS_MAPPED, except mappings
	 * without any resident page. The program can use them without a call that memleak traces.
	 */
	uint64_t room;
	enum rss_allocator allocator; /* the loaded allocator, if it is not glibc's */
	bool has_blocks;              /* true if `outside` and `older` are known */
	/* Part of RSS_MAPPED and RSS_PYTHON in tracked blocks, outside of glibc's heap */
	uint64_t outside;
	/*
	 * Used chunks of glibc's heap that memleak does not track as blocks, by size class
	 * (heap_census.h).
	 */
	struct reach_sum older[HEAP_CLASSES];
	uint64_t pinned_by_older; /* part of RSS_PINNED that the chunks in `older` pin */
};

#define RSS_PINNERS_MAX 64

/* The sites whose blocks pin most free memory, the largest first. */
struct rss_pinners {
	struct rss_pinner {
		uint32_t site;  /* index into the sites of the snapshot */
		uint64_t bytes; /* free bytes on the pages of the site's blocks */
	} items[RSS_PINNERS_MAX];
	size_t cnt;
};

/* Maximum number of points for a process. When it is reached, every second point is dropped. */
#define RSS_POINTS 128

struct rss_past {
	uint32_t image;   /* number of the process image that the memory belongs to */
	struct rss first; /* resident memory when it was first known */
	struct rss latest;
	struct rss_point {
		uint64_t elapsed_ns; /* time since tracing began */
		uint64_t parts[RSS_PART_CNT];
	} points[RSS_POINTS];
	size_t cnt;
};

/* Maximum number of processes whose resident memory is read in a run */
#define RSS_PROCESSES_MAX 8

/* Earlier resident memory of several process images. */
struct rss_pasts {
	struct rss_past items[RSS_PROCESSES_MAX];
};

/* Parts of the free memory that glibc keeps. */
enum rss_kept {
	RSS_KEPT_RETURNABLE, /* trimmable memory and the ends of heaps */
	RSS_KEPT_ALL, /* trimmable memory, the ends of heaps, and pinned memory (RSS_PINNED) */
};

/*
 * Returns by how many bytes the free memory that glibc keeps has grown from since_ns to now_ns
 * (times since tracing began). Returns 0 if it has not grown, or if no sample is from the second
 * half of this period.
 */
double rss_past_kept(const struct rss_past *past, enum rss_kept which, uint64_t since_ns,
		     uint64_t now_ns);

/* Adds a point of a process image. If the earlier points are of another image, drops them first. */
void rss_past_add(struct rss_past *past, uint32_t image, uint64_t elapsed_ns,
		  const struct rss *rss);

/*
 * Adds a point of a process image. If the image is new and all items are in use, replaces the image
 * whose latest point is oldest.
 */
void rss_pasts_add(struct rss_pasts *pasts, uint32_t image, uint64_t elapsed_ns,
		   const struct rss *rss);

/* Returns NULL if the process image has no past. */
const struct rss_past *rss_pasts_find(const struct rss_pasts *pasts, uint32_t image);

/*
 * Returns the past of the process image that has the latest point; NULL if there are no points, or
 * if several images share the time of the latest point.
 */
const struct rss_past *rss_pasts_latest(const struct rss_pasts *pasts);

/*
 * Adds the values of another process to `rss`, except the values that depend on tracked blocks.
 * `allocator` stays set only if it is the same in both processes.
 */
void rss_join(struct rss *rss, const struct rss *other);

struct reach_sum rss_older(const struct rss *rss);

uint64_t rss_total(const struct rss *rss);

/*
 * True if it matters which sites pin memory: RSS_PINNED is at least a tenth of resident memory, and
 * the blocks are known.
 */
bool rss_pins_matter(const struct rss *rss);

/* True if more than a tenth of resident memory is in huge pages. */
bool rss_has_many_huge(const struct rss *rss);

/* Returns the free bytes that glibc keeps: the sum of RSS_PINNED, RSS_TRIMMABLE and RSS_TOP. */
uint64_t rss_kept(const struct rss *rss);

/* Returns the free bytes that glibc and Python are known to keep: rss_kept() and RSS_PYTHON. */
uint64_t rss_all_kept(const struct rss *rss);

/*
 * True if resident memory is large because of the free memory that glibc and Python keep: there is
 * more of it than of memory in use, and it is at least a third of resident memory. Memory in use is
 * RSS_LIVE; if Python keeps more than glibc, it includes RSS_MAPPED, which has the objects of
 * Python.
 */
bool rss_is_mostly_kept(const struct rss *rss);

/*
 * Returns the bytes to report for a part. All free memory that glibc keeps is reported as one part,
 * RSS_PINNED: its bytes include those of RSS_TRIMMABLE and RSS_TOP, for which the function returns
 * 0.
 */
uint64_t rss_term(const struct rss *rss, enum rss_part part);

/*
 * True if the difference of a part's bytes between two readings shows a change of the process.
 * False for the memory of glibc if an arena could not be read in one of the readings: it then
 * counts as RSS_UNREAD.
 */
bool rss_can_compare(const struct rss *first, const struct rss *rss, enum rss_part part);

/*
 * Returns by how much resident memory has grown since `first`. Of the parts from RSS_LIVE to
 * `last`, sets *ret_part to the one whose rss_term() grew most, and *ret_bytes to this growth.
 * Returns 0 if resident memory grew by less than 1 MiB or less than 1 % of its present size, or if
 * none of these parts grew.
 */
uint64_t rss_growth(const struct rss *first, const struct rss *rss, enum rss_part last,
		    enum rss_part *ret_part, uint64_t *ret_bytes);

/*
 * Returns the maximum number of free bytes that an allocator other than glibc's may keep:
 * RSS_MAPPED without tracked blocks. The result also includes blocks from before tracing, and
 * mappings of the program, but not RSS_PYTHON.
 */
uint64_t rss_others_keep(const struct rss *rss);

/* Returns NULL for ALLOCATOR_NONE. */
const char *rss_allocator_name(enum rss_allocator allocator);

/* Returns the name of a part in machine-readable reports, such as "live". */
const char *rss_part_name(enum rss_part part);

#endif
