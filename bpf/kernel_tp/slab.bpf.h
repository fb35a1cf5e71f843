/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tracks objects of the slab allocator, from kmalloc() and from caches. */
#ifndef BPF_KERNEL_TP_SLAB_BPF_H
#define BPF_KERNEL_TP_SLAB_BPF_H

#include "bpf/kernel_tp/pages.bpf.h"

/* Highest bits of a kernel address; an address computed from a frame number lacks these bits */
#define KERNEL_HALF (0xffffULL << 48)

/*
 * Finds the cache of an object by its page, for events that do not name the cache; NULL if unknown.
 */
static __always_inline struct kmem_cache *cache_of(__u64 object)
{
	__u64 frame = (object - direct_map) >> kernel_config.page_shift, head;
	struct page *page = (void *)(KERNEL_HALF | frame * bpf_core_type_size(struct page));

	if (bpf_core_type_exists(struct page) && bpf_core_field_exists(page->compound_head)) {
		head = BPF_CORE_READ(page, compound_head);
		if (head & 1)
			page = (void *)(head - 1);
	}
	if (bpf_core_type_exists(struct slab))
		return BPF_CORE_READ((struct slab *)page, slab_cache);
	if (bpf_core_field_exists(page->slab_cache))
		return BPF_CORE_READ(page, slab_cache);
	return NULL;
}

/*
 * Reads the name of the cache, and whether it is reclaimable, once for each site. Objects larger
 * than two pages do not belong to a cache.
 */
static __always_inline void cache__read(struct memleak_origin *origin, struct kmem_cache *cache,
					__u64 object)
{
	const char *name;

	if (!cache) {
		if (!direct_map || origin->cache_size > 2ULL << kernel_config.page_shift)
			return;
		cache = cache_of(object);
	}
	origin->cache_read = 1;
	if (!cache)
		return;
	origin->reclaimable = cache_is_reclaimable(cache);
	name = BPF_CORE_READ(cache, name);
	bpf_probe_read_kernel_str(origin->cache, sizeof(origin->cache), name);
}

static __always_inline void origin__note_cache(struct memleak_origin *origin,
					       struct kmem_cache *cache, __u64 object, __u64 size)
{
	if (!origin->cache_size)
		origin->cache_size = size;
	else if (origin->cache_size != size && !origin->several_caches)
		origin->several_caches = 1;
	if (!origin->cache_read)
		cache__read(origin, cache, object);
}

static __always_inline int on_slab_alloc(void *ctx, __u32 user, __u32 function, __u64 call_site,
					 __u64 object, struct kmem_cache *cache, __u64 size)
{
	struct memleak_block_key key = {.addr = object, .domain = MEMLEAK_DOMAIN_SLAB};
	struct memleak_site *site = NULL;
	struct requester requester;
	struct stack_buffer *buf;
	__u32 walked, note;
	__u64 id;

	if (!object)
		return 0;
	count(MEMLEAK_STAT_CALLS, 1);
	slab_page__detect(object, size);
	repair(&key);
	if (!is_traced(&requester) || !chosen(size, countdown(requester.level)))
		return 0;
	buf = stack__buffer(user, requester.level);
	if (!buf)
		return 0;
	if (stack__look_up(ctx, buf, user, requester.level, call_site, &note))
		site = site__look_up(buf, MEMLEAK_KIND_SLAB, &requester, &id);
	if (!site) {
		walked = stack__walk(ctx, buf);
		trim_stack(user, requester.level, walked, call_site);
		stack__cache(buf, user, requester.level, 0);
		site = site__of(buf, MEMLEAK_KIND_SLAB, &requester, &id);
	}
	if (site) {
		origin__note_cache(&site->origin, cache, object, size);
		record_block(id, &key, size, requester.tid);
	}
	emit_event(MEMLEAK_EVENT_ALLOC, function, object, size, alloc_stack(site, buf));
	return 0;
}

static __always_inline int on_slab_free(void *ctx, __u32 user, __u32 function, __u64 call_site,
					__u32 skipped, __u64 object)
{
	struct memleak_block_key key = {.addr = object, .domain = MEMLEAK_DOMAIN_SLAB};
	__u64 size;

	if (!object)
		return 0;
	count(MEMLEAK_STAT_CALLS, 1);
	if (forget_block(&key, &size))
		emit_event(MEMLEAK_EVENT_FREE, function, object, size,
			   free_stack(ctx, user, call_site, skipped));
	return 0;
}

#endif
