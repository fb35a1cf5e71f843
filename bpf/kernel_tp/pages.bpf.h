/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracks pages of the page allocator. Pages for the slab allocator are not counted, because their
 * objects are counted. If a part of a block of pages is freed, the rest is recorded as smaller
 * blocks.
 *
 * A page belongs to the slab allocator if one of the slab allocator's functions is in the stack, or
 * if slab_page__detect() finds an object in it.
 */
#ifndef BPF_KERNEL_TP_PAGES_BPF_H
#define BPF_KERNEL_TP_PAGES_BPF_H

#include "bpf/kernel_tp/event_stack.bpf.h"
#include "bpf/kernel_tp/slab_pages.bpf.h"
#include "bpf/kernel_tp/stack_cache.bpf.h"

/*
 * Indexed by order: true if a block of this order was recorded. Blocks of other orders are not
 * searched for.
 */
#define ORDER_CNT 32 /* number of elements: a power of two above MEMLEAK_MAX_PAGE_ORDER */
static volatile __u8 order_seen[ORDER_CNT];

__noinline int asked_by_slab(__u32 user, __u32 level, __u32 walked)
{
	const struct stack_buffer *buf = stack__buffer(user, level);
	__u64 asked = 0;

	for (__u32 i = 0; buf && i < SLAB_FRAMES; i++)
		if (i < walked)
			asked |= in_ranges(kernel_config.slab_functions, MEMLEAK_SLAB_FUNCTIONS,
					   buf->words[1 + i]);
	return asked;
}

/*
 * Page mobilities. Movable pages hold user memory and the page cache: they belong to a process or a
 * file, not to kernel code.
 */
#define MIGRATE_MOVABLE 1
#define MIGRATE_RECLAIMABLE 2

static __always_inline int on_page_alloc(void *ctx, __u32 second, __u64 frame, __u32 order,
					 __u32 mobility)
{
	__u64 len = 1ULL << kernel_config.page_shift << (order & 31);
	struct memleak_block_key key = {.domain = MEMLEAK_DOMAIN_PAGE};
	__u32 zero = 0, walked, for_slab = 0;
	__u32 user = second + STACK_PAGE_ALLOC;
	volatile __u64 *fresh = bpf_map_lookup_elem(&fresh_pages, &zero);
	struct slab_page slab = {.len = len};
	struct memleak_site *site = NULL;
	struct requester requester;
	struct stack_buffer *buf;
	__u64 id;

	if (!frame || !~frame || order > MEMLEAK_MAX_PAGE_ORDER)
		return 0; /* the allocation failed */
	count(MEMLEAK_STAT_CALLS, 1);
	key.addr = frame << kernel_config.page_shift;
	if (fresh)
		*fresh = key.addr | order;
	repair(&key);
	if (mobility == MIGRATE_MOVABLE && !kernel_config.movable)
		return 0;
	if (!is_traced(&requester) || !chosen(len, countdown(requester.level)))
		return 0;
	buf = stack__buffer(user, requester.level);
	if (!buf)
		return 0;
	if (stack__look_up(ctx, buf, user, requester.level, 0, &for_slab) && !for_slab)
		site = site__look_up(buf, MEMLEAK_KIND_PAGE, &requester, &id);
	if (!site && !for_slab) {
		walked = stack__walk(ctx, buf);
		for_slab = asked_by_slab(user, requester.level, walked);
		trim_stack(user, requester.level, walked, 0);
		stack__cache(buf, user, requester.level, for_slab);
		if (!for_slab)
			site = site__of(buf, MEMLEAK_KIND_PAGE, &requester, &id);
	}
	if (for_slab) {
		bpf_map_update_elem(&slab_pages, &key.addr, &slab, BPF_ANY);
		return 0;
	}
	order_seen[order & (ORDER_CNT - 1)] =
		1; /* index masked, because the verifier may not know its bound any more */
	if (site) {
		site->origin.reclaimable = mobility == MIGRATE_RECLAIMABLE;
		record_block(id, &key, len, requester.tid);
	}
	emit_event(MEMLEAK_EVENT_ALLOC, MEMLEAK_KERNEL_PAGE_ALLOC, key.addr, len,
		   alloc_stack(site, buf));
	return 0;
}

#define NO_PAGE_BLOCK 1ULL /* stands for "no block"; never the address of a page */

/*
 * Returns the address of the block that contains the page at addr, but does not begin there;
 * NO_PAGE_BLOCK if there is none.
 */
__noinline __u64 page_block__around(__u64 addr)
{
	__u64 page = 1ULL << kernel_config.page_shift;
	struct memleak_block_key key = {.addr = addr, .domain = MEMLEAK_DOMAIN_PAGE};

	for (__u32 order = 1; order <= MEMLEAK_MAX_PAGE_ORDER; order++) {
		__u64 base = addr & ~((page << order) - 1);
		struct memleak_block *held;

		if (!order_seen[order] || base == key.addr)
			continue;
		key.addr = base;
		held = bpf_map_lookup_elem(&blocks, &key);
		if (held && addr - base < held->size)
			return base;
	}
	return NO_PAGE_BLOCK;
}

/* Removes the block that contains the page at addr. Returns false if there is none. */
static __always_inline bool page_block__take(__u64 addr, struct memleak_block_key *key,
					     struct memleak_block *ret)
{
	key->addr = addr;
	if (block__take(key, ret))
		return true;
	key->addr = page_block__around(addr);
	return key->addr != NO_PAGE_BLOCK && block__take(key, ret);
}

/*
 * Stores the remaining pages of a block, of which [addr, addr + len) was freed, as buddies of
 * decreasing size.
 */
static __always_inline void page_block__keep_rest(struct memleak_block_key *key,
						  struct memleak_block *block, __u64 addr,
						  __u64 len)
{
	__u64 base = key->addr;

	for (__u32 i = 0; i <= MEMLEAK_MAX_PAGE_ORDER && block->size > len; i++) {
		block->size /= 2;
		block->halved++;
		key->addr = base;
		if (addr - base < block->size)
			key->addr += block->size;
		else
			base += block->size;
		repair_block(key->addr, MEMLEAK_DOMAIN_PAGE);
		store_block(key->addr, block->size, block->birth_ns, block->site,
			    BLOCK_WORD(MEMLEAK_DOMAIN_PAGE, block->halved, block->tid));
	}
}

static __always_inline int on_page_free(void *ctx, __u32 second, __u64 frame, __u32 order)
{
	__u64 addr = frame << kernel_config.page_shift;
	struct memleak_block_key key = {.domain = MEMLEAK_DOMAIN_PAGE};
	struct slab_page *held, slab;
	struct memleak_block block;
	__u64 len, size = MEMLEAK_SIZE_UNKNOWN;

	if (order > MEMLEAK_MAX_PAGE_ORDER)
		return 0;
	count(MEMLEAK_STAT_CALLS, 1);
	len = 1ULL << kernel_config.page_shift << order;
	held = bpf_map_lookup_elem(&slab_pages, &addr);
	if (held) {
		slab = *held;
		bpf_map_delete_elem(&slab_pages, &addr);
		slab_page__give_back(addr, slab.len, slab.stride, slab.phase);
		return 0;
	}
	if (page_block__take(addr, &key, &block)) {
		if (block.size > len)
			page_block__keep_rest(&key, &block, addr, len);
		size = len;
	} else if (kernel_config.by_process) {
		return 0;
	}
	emit_event(MEMLEAK_EVENT_FREE, MEMLEAK_KERNEL_PAGE_FREE, addr, size,
		   free_stack(ctx, second + FREE_PAGE_FREE, 0, 0));
	return 0;
}

#endif
