/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What seems to leak, and what is proved to be lost, by the functions that are named for it: paths
 * of one function are one.
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
	size_t companion_cnt;  /* those of them that are no suspects by themselves */
	bool has_other_owners; /* of kernel memory, beside that of site */
	size_t process_cnt;    /* that they are of; 1 also for the kernel */
	double bytes_per_s;    /* of all paths; so below */
	double weight;         /* with how sure it is */
	uint64_t seen;         /* blocks */
	uint64_t freed;
	uint64_t since_ns; /* of the one that has been growing for longest */
	/* Of objects of a runtime: */
	bool in_pools;      /* it hands out memory that it takes in large steps */
	const char *holder; /* the script's variable that has most of them, in words; or NULL */
};

/* What is lost, in the same form. */
struct proven_loss {
	const struct report_site *site; /* the path that has lost most */
	size_t path_cnt;
	size_t process_cnt;
	struct reach_sum lost; /* of all paths; so below */
	struct reach_sum hanging;
	double per_s;    /* blocks */
	uint64_t for_ns; /* of the path that lost something first */
};

/* What suspects are compared with. */
struct trifle_scale {
	uint64_t held_bytes;
	double untraced_per_s; /* bytes by which memory grows that is not traced */
	double kernel_per_s;   /* bytes by which kernel sites grow, caches included */
};

/*
 * Of cnt paths that seem to leak, with their names and histories: suspects, the worst first, at
 * most `most`. Trifles beside all others, beside all that is held, or beside what grows untraced
 * are left out; so are settling paths, and kernel suspects that are trifles beside all that grows
 * in the kernel, but for the worst of all. The suspects point into paths; to be freed.
 */
int suspects_init(const struct report_site *paths, size_t cnt, const struct trifle_scale *scale,
		  size_t most, size_t *ret_cnt, struct suspect **ret);

/* Of cnt paths of which something is lost: the same, the largest first. */
int losses_init(const struct report_site *paths, size_t cnt, size_t most, size_t *ret_cnt,
		struct proven_loss **ret);

/* True if a path is one of those that a suspect stands for. */
bool suspect_has(const struct suspect *suspect, const struct report_site *path);

/* Whether the suspect's memory is lost, too: it is one that is told of already. */
bool suspect_is_lost(const struct suspect *suspect, const struct proven_loss *losses, size_t cnt);

#endif
