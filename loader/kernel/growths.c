// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares the contents of /proc/slabinfo and /proc/allocinfo at two times. */
#include "loader/kernel/growths.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "loader/kernel/allocinfo.h"

int kernel_sizes_init(const struct slab_caches *caches, struct kernel_sizes *ret)
{
	/* /proc/allocinfo exists only if the kernel profiles memory allocations. */
	cleanup_fclose FILE *allocinfo = fopen("/proc/allocinfo", "re");
	struct kernel_sizes sizes = {0};
	int err = 0;

	for (size_t i = 0; !err && i < caches->cnt; i++) {
		const struct slab_cache *cache = &caches->caches[i];

		err = named_sizes_add(&sizes.caches, cache->name,
				      cache->used * cache->object_bytes);
	}
	if (!err && allocinfo)
		err = allocinfo_read(allocinfo, &sizes.lines);
	if (err == -EIO)
		log_verbose("cannot read /proc/allocinfo: %s", strerror(EIO));
	if (err == -ENOMEM) {
		kernel_sizes_deinit(&sizes);
		return err;
	}
	named_sizes_sort(&sizes.caches);
	named_sizes_sort(&sizes.lines);
	*ret = sizes;
	return 0;
}

void kernel_sizes_deinit(struct kernel_sizes *sizes)
{
	named_sizes_deinit(&sizes->caches);
	named_sizes_deinit(&sizes->lines);
}

static enum reclaim reclaim_of(const char *cache)
{
	cleanup_free char *path = NULL;
	cleanup_fclose FILE *file = NULL;

	if (asprintf(&path, "/sys/kernel/slab/%s/reclaim_account", cache) < 0)
		path = NULL;
	file = path ? fopen(path, "re") : NULL;
	switch (file ? fgetc(file) : EOF) {
	case '0':
		return RECLAIM_NO;
	case '1':
		return RECLAIM_YES;
	default:
		return RECLAIM_UNKNOWN;
	}
}

int kernel_sizes_compare(const struct kernel_sizes *before, const struct kernel_sizes *now,
			 struct snapshot *snap)
{
	struct kernel_growth growths[KERNEL_GROWTH_KIND_CNT * KERNEL_GROWTHS_MAX];
	size_t cache_cnt = named_sizes_grown(&before->caches, &now->caches, growths);
	size_t cnt =
		cache_cnt + named_sizes_grown(&before->lines, &now->lines, growths + cache_cnt);

	for (size_t i = 0; i < cnt; i++) {
		const char *name = growths[i].name;

		growths[i].kind = i < cache_cnt ? GROWTH_OF_CACHE : GROWTH_OF_LINE;
		growths[i].reclaim = i < cache_cnt ? reclaim_of(name) : RECLAIM_UNKNOWN;
		growths[i].name = arena_copy(&snap->arena, name, strlen(name) + 1);
		if (!growths[i].name)
			return -ENOMEM;
	}
	snap->kernel_growths = arena_copy(&snap->arena, growths, cnt * sizeof(*growths));
	snap->kernel_growth_cnt = snap->kernel_growths ? cnt : 0;
	return snap->kernel_growths ? 0 : -ENOMEM;
}
