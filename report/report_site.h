/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A site as a report shows it: each frame named, and a function blamed. */
#ifndef REPORT_REPORT_SITE_H
#define REPORT_REPORT_SITE_H

#include "report/chunks.h"
#include "report/frame.h"
#include "report/own.h"
#include "report/symbol_backend.h"

struct runtime_objects;
struct site_history;

/* Where the code of a frame is, or was last; 0: not known. */
static inline uint64_t frame_address(uint64_t frame, const struct sym_location *location)
{
	if (!frame_is_in_file(frame))
		return frame_addr(frame);
	return location ? location->addr : 0;
}

/* Of a function in a stack. */
struct place {
	size_t frame;    /* of the site */
	size_t function; /* of the location: the innermost inlined one is 0 */
};

struct report_site {
	const struct site *site;
	int64_t growth_bytes; /* against the previous snapshot */
	int64_t growth_count;
	const struct site_history *history;    /* NULL: of a single moment */
	const struct sym_location **locations; /* one per frame of the site; entries may be NULL */
	bool runtime_init;                     /* of libraries; not looked for in groups */
	struct program program;                /* as far as the stack tells */
	size_t first_frame;                    /* the first that is not an allocator's own */
	size_t wrapped_frame;                  /* frames before this one only get it for others */
	size_t blamed_from;                    /* frames before this one are not blamed */
	size_t path_cnt;                       /* sites that it stands for; 0: for itself */
	bool in_pool;                          /* whoever asked the runtime is not blamed */
	bool callers_vary;                     /* no caller has most of these */
	bool is_excluded;                      /* a growing path that is no suspect */
	struct chunks chunks;                  /* the chunk pool at blamed_from takes */
	struct place blamed;                   /* whom the memory is for, as far as is known */
	struct place through;                  /* the library call that it came by */
	bool has_through;
	const struct runtime_objects *objects; /* it is for them, whatever asked; NULL: not so */
	bool settling;                         /* objects may yet stop growing: no suspect */
	char **held_by;                        /* who holds it, from the root down, in words */
	size_t held_by_cnt;
	size_t depth_cnt; /* stacks of several depths that it stands for, see depths.h; else 0 */
	const struct block *blocks; /* with -a */
	size_t block_cnt;
};

#endif
