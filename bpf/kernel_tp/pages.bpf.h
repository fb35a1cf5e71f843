/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracks pages of the page allocator. Pages for the slab allocator are not counted, because their
 * objects are counted. If a part of a block of pages is freed, the rest is recorded as smaller
 * blocks.
 *
 * A page belongs to the slab allocator if one of the slab allocator's functions is in the stack, or
 * if the next slab object that the CPU allocates lies in the page. The second check needs the
 * address of the page in the direct mapping. The programs find out where the direct mapping is by
 * comparing each new page with the next slab object: if the object lies in the page, the difference
 * of their addresses is a multiple of 128 MiB in every layout of x86-64 and aarch64. If the object
 * lies elsewhere, the difference is hardly ever such a multiple. A difference must occur twice
 * before it is used.
 */
#ifndef BPF_KERNEL_TP_PAGES_BPF_H
#define BPF_KERNEL_TP_PAGES_BPF_H

#include "bpf/kernel_tp/event_stack.bpf.h"
#include "bpf/kernel_tp/stack_cache.bpf.h"

#define DIRECT_MAP_ALIGN (1ULL << 27)
/* Maximum number of objects in one slab: 32 KiB of kmalloc-32, or 8 KiB of kmalloc-8 */
#define SLAB_OBJECTS 1024
#define SLAB_STEP 32 /* maximum objects per call of slab_objects__take() */

/*
 * Address of a page in the direct mapping, minus its address in the page domain (frame number times
 * page size); 0 if unknown
 */
volatile __u64 direct_map;
static volatile __u64 direct_map_candidate;

/*
 * Indexed by order: true if a block of this order was recorded. Blocks of other orders are not
 * searched for.
 */
#define ORDER_CNT 32 /* number of elements: a power of two above MEMLEAK_MAX_PAGE_ORDER */
static volatile __u8 order_seen[ORDER_CNT];

/* A block of pages held by the slab allocator. The key is its address in the page domain. */
struct slab_page {
	__u64 len;
	__u32 stride; /* distance between objects; 0 if unknown */
	__u32 phase;  /* offset of the first object */
};

/*
 * Slab pages. If the table is full, new slab pages are not recorded. When they are freed, their
 * objects stay recorded until the addresses are allocated again.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct slab_page);
} slab_pages SEC(".maps");

/*
 * The block of pages that each CPU allocated most recently: the block's address, with the order in
 * the low bits. The value is 0 if there is no such block, or if a slab object was already found in
 * the block. It is a single word, so that an interrupt cannot change only a part of it.
 */
#define FRESH_ORDER 31ULL

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} fresh_pages SEC(".maps");

static __always_inline void direct_map__learn(__u64 page, __u64 len, __u64 object)
{
	__u64 difference = (object & ~(len - 1)) - page;

	if (!difference || difference & (DIRECT_MAP_ALIGN - 1))
		return;
	if (difference == direct_map_candidate)
		direct_map = difference;
	direct_map_candidate = difference;
}

/*
 * Called when the CPU allocates a slab object. If the object lies in the block of pages that the
 * CPU allocated last, records that block as a slab page, and no longer tracks it as a block.
 */
static __always_inline void slab_page__detect(__u64 object, __u64 size)
{
	__u32 zero = 0;
	volatile __u64 *fresh = bpf_map_lookup_elem(&fresh_pages, &zero);
	struct memleak_block_key key = {.domain = MEMLEAK_DOMAIN_PAGE};
	__u64 page = fresh ? *fresh : 0, offset;
	struct slab_page slab = {0};
	struct memleak_block block;

	if (!page || !size)
		return;
	key.addr = page & ~FRESH_ORDER;
	slab.len = 1ULL << kernel_config.page_shift << (page & FRESH_ORDER);
	if (!direct_map) {
		direct_map__learn(key.addr, slab.len, object);
		return;
	}
	offset = object - (key.addr + direct_map);
	if (offset >= slab.len)
		return;
	slab.stride = size;
	slab.phase = offset % size;
	*fresh = 0;
	bpf_map_update_elem(&slab_pages, &key.addr, &slab, BPF_ANY);
	block__take(&key, &block);
}

/*
 * Removes the block of an object of a freed slab, if any. Not static, so that the verifier checks
 * this once and not in each iteration of a loop.
 */
__noinline int slab_object__take(__u64 addr)
{
	struct memleak_block_key key = {.addr = addr, .domain = MEMLEAK_DOMAIN_SLAB};
	struct memleak_block block;

	if (block__take(&key, &block))
		count(MEMLEAK_STAT_GONE_WITH_PAGE, 1);
	return 0;
}

/* Removes the blocks of up to SLAB_STEP objects of a freed slab that begin before `end`. */
__noinline int slab_objects__take(__u64 object, __u64 end, __u32 stride)
{
	for (__u32 i = 0; i < SLAB_STEP && object < end; i++) {
		slab_object__take(object);
		object += stride;
	}
	return 0;
}

/*
 * Removes the blocks of all objects of a freed slab page. If an earlier free of the page by the
 * slab allocator was missed, the page itself may have been recorded as a block of its next owner;
 * this block is removed, too.
 */
__noinline int slab_page__give_back(__u64 addr, __u64 len, __u32 stride, __u32 phase)
{
	struct memleak_block_key key = {.addr = addr, .domain = MEMLEAK_DOMAIN_PAGE};
	__u64 start = addr + direct_map, end = start + len;
	__u64 object = start + phase;
	struct memleak_block block;

	block__take(&key, &block);
	if (!stride || !direct_map)
		return 0;
	for (__u32 i = 0; i < SLAB_OBJECTS && object < end; i += SLAB_STEP) {
		slab_objects__take(object, end, stride);
		object += (__u64)stride * SLAB_STEP;
	}
	return 0;
}

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
