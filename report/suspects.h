/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merges paths that seem to leak, and paths with lost blocks, by program and blamed function.
 */
#ifndef REPORT_SUSPECTS_H
#define REPORT_SUSPECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report_site.h"

struct suspect {
	const struct report_site *site; /* the path that leaks most */
	size_t path_cnt;
	size_t companion_cnt;  /* paths that are no suspects by themselves */
	bool has_other_owners; /* kernel memory of several owners */
	size_t process_cnt;    /* processes of the paths; 1 for the kernel */
	double bytes_per_s;    /* sum over all paths */
	double weight;         /* bytes_per_s times leak score, summed over all paths */
	uint64_t seen;         /* blocks of all paths */
	uint64_t freed;        /* blocks of all paths */
	uint64_t since_ns;     /* how long the oldest of the paths has been growing */
	/* Set only if the suspect is the objects of a runtime. */
	bool in_pools;      /* the runtime hands out memory that it takes in large steps */
	const char *holder; /* text for the script variable that has most objects; or NULL */
};

/* Lost blocks of all paths for which one function is blamed. */
struct proven_loss {
	const struct report_site *site; /* the path that has lost most */
	size_t path_cnt;
	size_t process_cnt;
	struct reach_sum lost;    /* lost blocks of all paths */
	struct reach_sum hanging; /* hanging blocks of all paths */
	double per_s;             /* blocks that all paths lose per second */
	uint64_t for_ns;          /* time since the first loss */
};

/* Reference amounts: a suspect that is tiny in comparison is not reported. */
struct trifle_scale {
	uint64_t held_bytes;
	double untraced_per_s; /* growth of untraced memory, in bytes */
	double kernel_per_s;   /* growth of kernel sites, including caches, in bytes */
};

/*
 * Merges cnt paths that seem to leak into at most `most` suspects, the worst first. The paths must
 * have names and histories. Leaves out settling paths, and suspects that are trifles beside all
 * suspects, all outstanding memory or the growth of untraced memory. Kernel suspects are also left
 * out if they are trifles beside all kernel growth, except the worst suspect. The suspects point
 * into paths; *ret is to be freed. Returns 0 or -ENOMEM.
 */
int suspects_init(const struct report_site *paths, size_t cnt, const struct trifle_scale *scale,
		  size_t most, size_t *ret_cnt, struct suspect **ret);

/*
 * Merges cnt paths with lost blocks into at most `most` losses, the largest first. The losses point
 * into paths; *ret is to be freed. Returns 0 or -ENOMEM.
 */
int losses_init(const struct report_site *paths, size_t cnt, size_t most, size_t *ret_cnt,
		struct proven_loss **ret);

/* True if a path is one of the paths merged into a suspect. */
bool suspect_has(const struct suspect *suspect, const struct report_site *path);

/* True if the losses already cover the function of a suspect. */
bool suspect_is_lost(const struct suspect *suspect, const struct proven_loss *losses, size_t cnt);

#endif
