/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much the slab caches have handed out, by /proc/slabinfo, and what that says of blocks whose
 * frees no event showed: a cache that grew by less than what is outstanding of it has got the rest
 * back.
 *
 * That is a bound and no count: objects from before tracing began may have been freed as well, and
 * others have taken their place. Nor does slabinfo know what each CPU keeps to be handed out again:
 * it counts that as used.
 */
#ifndef LOADER_KERNEL_CACHES_H
#define LOADER_KERNEL_CACHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct slab_cache {
	char *name;
	uint64_t used;         /* objects */
	uint64_t object_bytes; /* with what is between them */
	uint64_t slab_objects; /* in each slab */
};

struct slab_caches {
	struct slab_cache *caches; /* by name; names may come more than once */
	size_t cnt;
	size_t cap;
};

/* Reads /proc/slabinfo, or a file like it. ret is all zeros. 0 or a negative errno. */
int slab_caches_read(FILE *slabinfo, struct slab_caches *ret);
void slab_caches_deinit(struct slab_caches *caches);

/* What is outstanding of a site, of whatever age. */
struct cache_user {
	uint64_t site;
	const char *cache; /* NULL: not known */
	bool several_caches;
	uint64_t bytes;
	uint64_t count;
	uint64_t shown;        /* of the blocks so many are in the report */
	uint64_t unseen_frees; /* of these at most so many: filled in */
};

/*
 * Fills in unseen_frees of each user, and sorts them. Returns how many there are in all caches
 * together, without those where all may be what CPUs keep. cpus: how many do so.
 */
uint64_t slab_caches_reconcile(const struct slab_caches *before, const struct slab_caches *now,
			       size_t cpus, struct cache_user *users, size_t cnt);

#endif
