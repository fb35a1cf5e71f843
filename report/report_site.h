/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A site as shown in a report, with named frames and a blamed function. */
#ifndef REPORT_REPORT_SITE_H
#define REPORT_REPORT_SITE_H

#include "report/chunks.h"
#include "report/frame.h"
#include "report/own.h"
#include "report/site_order.h"
#include "report/symbol_backend.h"

struct runtime_objects;
struct site_history;

/*
 * Returns the address of a frame's code; if the code is not mapped any more, its latest known
 * address. Returns 0 if no address is known.
 */
static inline uint64_t frame_address(uint64_t frame, const struct sym_location *location)
{
	if (!frame_is_in_file(frame))
		return frame_addr(frame);
	return location ? location->addr : 0;
}

/* Position of a function in a stack. */
struct stack_pos {
	size_t frame; /* index into the frames of the site */
	/* index into the functions at this frame; 0 is the innermost inlined function */
	size_t function;
};

struct report_site {
	const struct site *site;
	int64_t growth_bytes; /* growth since the last report */
	int64_t growth_count;
	const struct site_history *history;    /* NULL if there are no earlier snapshots */
	const struct sym_location **locations; /* locations of the frames; entries may be NULL */
	/*
	 * True if the site is runtime initialisation (runtime_init.h). Never true if sites are
	 * grouped.
	 */
	bool runtime_init;
	struct program program; /* the traced program, as found on the stack */
	size_t first_frame;     /* innermost frame outside the allocator */
	size_t wrapped_frame;   /* frames with a lower index belong to a funnel (funnels.h) */
	size_t blamed_from;     /* frames with a lower index are not blamed */
	size_t path_cnt;        /* number of sites summed up; 0 for a single site */
	/*
	 * True if a language runtime took the memory for a pool of its own: then blame the runtime,
	 * or a function of a script, but no other caller of the runtime.
	 */
	bool in_pool;
	enum common_callers common_callers;
	double blamed_inside;     /* see struct candidate */
	bool is_excluded;         /* true if the site grows, but must not become a suspect */
	struct chunks chunks;     /* chunks, if a chunk pool took the memory */
	bool has_instances;       /* true if the blamed functions are instances of one template */
	struct stack_pos blamed;  /* the blamed function */
	struct stack_pos through; /* library function that `blamed` called to allocate */
	bool has_through;
	/* The objects that a language runtime keeps in the blocks; NULL if not known. */
	const struct runtime_objects *objects;
	bool settling; /* true if the site may stop growing soon; it is no suspect yet */
	/* texts for the chain of pointers that keeps the blocks reachable, root first */
	char **held_by;
	size_t held_by_cnt;
	/*
	 * True if source lines may be read: the site's process has memleak's mount namespace and
	 * root directory, so that its paths lead to the same files for memleak.
	 */
	bool has_source;
	uid_t source_uid; /* user whose files may be read for the site; -1 if there is none */
	size_t depth_cnt; /* number of stacks that depths_join() joined; 0 if it joined none */
	const struct block *blocks; /* outstanding blocks of the site; NULL without -a */
	size_t block_cnt;
};

#endif
