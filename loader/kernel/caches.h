/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates, from /proc/slabinfo, how many blocks were freed without an event: if a cache has grown
 * by less than its outstanding blocks, the difference seems to have been freed.
 *
 * The result is an upper bound: objects from before tracing may have been freed and replaced by new
 * ones. Also, CPUs keep free objects, which slabinfo counts as used: a block that reuses one of
 * them does not make its cache grow.
 */
#ifndef LOADER_KERNEL_CACHES_H
#define LOADER_KERNEL_CACHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct slab_cache {
	char *name;
	uint64_t used;         /* objects in use */
	uint64_t object_bytes; /* bytes of an object, including padding */
	uint64_t slab_objects; /* objects in each slab */
};

struct slab_caches {
	struct slab_cache *caches; /* caches, sorted by name; names may repeat */
	size_t cnt;
	size_t cap;
};

/*
 * Reads a file in the format of /proc/slabinfo. ret must be zeroed. Returns 0 or a negative errno.
 */
int slab_caches_read(FILE *slabinfo, struct slab_caches *ret);
void slab_caches_deinit(struct slab_caches *caches);

/* A site that allocates from a cache, with all its outstanding blocks, whatever their age. */
struct cache_user {
	uint64_t site;
	const char *cache; /* name of the cache; NULL if unknown */
	bool several_caches;
	uint64_t bytes;
	uint64_t count;
	uint64_t shown;        /* number of these blocks that are in the report */
	uint64_t unseen_frees; /* result: maximum number of shown blocks freed without an event */
};

/*
 * Sets `unseen_frees` of each user, and sorts `users`. Returns how many of the shown blocks seem to
 * have been freed without an event, assuming that each CPU keeps as many free objects as it can.
 * cpus: number of CPUs.
 */
uint64_t slab_caches_reconcile(const struct slab_caches *before, const struct slab_caches *now,
			       size_t cpus, struct cache_user *users, size_t cnt);

#endif
