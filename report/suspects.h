/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merges paths by program and blamed function. A path is the stack of a site that seems to leak,
 * has lost blocks, or pins free memory.
 */
#ifndef REPORT_SUSPECTS_H
#define REPORT_SUSPECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report_site.h"

struct suspect {
	const struct report_site *site; /* the path that leaks fastest */
	size_t path_cnt;
	size_t companion_cnt;   /* number of paths that are companions (kernel_paths.h) */
	bool has_instances;     /* true if the blamed functions are instances of one template */
	bool has_other_callers; /* true if the instances of the template have different callers */
	/*
	 * true if the suspect gets no line in the report: another suspect of its program grows far
	 * faster
	 */
	bool is_slight;
	bool has_other_owners; /* true if the kernel memory of the paths has several owners */
	bool has_other_names;  /* true if the processes of the paths have different names */
	size_t process_cnt;    /* number of processes that the paths belong to; 1 for the kernel */
	double bytes_per_s;    /* growth of all paths together */
	double slowed_per_s;   /* part of bytes_per_s that is missing in the recent past */
	double companions_per_s; /* part of bytes_per_s that is due to companions */
	double weight;           /* sum over all paths of bytes_per_s times leak score */
	uint64_t seen;           /* number of sampled blocks ever seen, over all paths */
	uint64_t freed;          /* number of sampled blocks that were freed, over all paths */
	uint64_t since_ns;       /* longest time for which one of the paths has been growing */
	/*
	 * in_pools and holder are set only if the memory consists of objects of a language runtime.
	 */
	/* true if the runtime allocates in large steps and hands the memory out itself */
	bool in_pools;
	const char *holder; /* script variable that holds most objects; NULL if not known */
	/* true if CPython may have reused the blocks for items of a container: see keepers.h */
	bool may_be_reused;
};

/* Lost blocks of all paths for which the same function is blamed. */
struct proven_loss {
	const struct report_site *site; /* the path that has lost most */
	size_t path_cnt;
	bool has_instances;     /* true if the blamed functions are instances of one template */
	bool has_other_callers; /* true if the instances of the template have different callers */
	bool has_other_names;   /* true if the processes of the paths have different names */
	size_t process_cnt;
	struct reach_sum lost;    /* sum of the lost blocks of all paths */
	struct reach_sum hanging; /* sum of the hanging blocks of all paths */
	double per_s;             /* blocks lost per second, over all paths */
	uint64_t for_ns;          /* time since a proof found the first lost block */
};

/* Free memory pinned by all paths with the same blamed function. */
struct pinner {
	const struct report_site *site; /* the path that pins most */
	uint64_t bytes;                 /* pinned bytes of all paths */
};

/* Amounts that suspects are compared with. A suspect that is tiny in comparison is not reported. */
struct trifle_scale {
	uint64_t held_bytes;
	double untraced_per_s; /* growth of untraced memory, in bytes per second */
	/* Growth of a process's memory that traced blocks explain: not all may be suspects yet. */
	double explained_per_s;
	double kernel_per_s; /* growth of kernel sites, including caches, in bytes per second */
	/*
	 * True if tiny suspects are also reported, provided that one suspect is not tiny. Then no
	 * suspect is marked as slight.
	 */
	bool wants_all;
};

/* Returns the growth in bytes per second, without that for which inner functions are blamed. */
double path_bytes_per_s(const struct report_site *path);

/*
 * Merges cnt paths that seem to leak into suspects. Returns at most `most` suspects: the worst
 * first, but slight ones last. Leaves out paths that may stop growing soon. Leaves out a suspect
 * whose growth is tiny compared with the growth of all suspects and untraced memory together, with
 * explained growth, or with all outstanding memory. Leaves out a kernel suspect, unless it is the
 * worst suspect, if its growth is tiny compared with that of all kernel sites. The paths must have
 * names and histories. The suspects point into paths; the caller frees *ret. Returns 0 or -ENOMEM.
 */
int suspects_init(const struct report_site *paths, size_t cnt, const struct trifle_scale *scale,
		  size_t most, size_t *ret_cnt, struct suspect **ret);

/*
 * Merges cnt paths with lost blocks into losses. Returns the largest losses, at most `most`, in
 * descending order of lost and hanging bytes. The losses point into paths; the caller frees *ret.
 * Returns 0 or -ENOMEM.
 */
int losses_init(const struct report_site *paths, size_t cnt, size_t most, size_t *ret_cnt,
		struct proven_loss **ret);

/*
 * Merges cnt paths that pin memory into pinners. Returns the largest pinners, at most `most`, in
 * descending order of pinned bytes. The paths must also be in descending order of pinned bytes, so
 * that each pinner points to its largest path. The pinners point into paths; the caller frees *ret.
 * Returns 0 or -ENOMEM.
 */
int pinners_init(const struct report_site *paths, size_t cnt, size_t most, size_t *ret_cnt,
		 struct pinner **ret);

bool suspect_has(const struct suspect *suspect, const struct report_site *path);

/*
 * Moves the suspect that `path` was merged into to the front, and unmarks it as slight. Returns
 * false if there is no such suspect.
 */
bool suspects_move_first(struct suspect *suspects, size_t cnt, const struct report_site *path);

/* True if one of the losses has the same program and blamed function as the suspect. */
bool suspect_is_lost(const struct suspect *suspect, const struct proven_loss *losses, size_t cnt);

#endif
