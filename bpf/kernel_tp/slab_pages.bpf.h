/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracks the pages of the slab allocator. When such a page is freed, the blocks of its objects are
 * removed, even if their frees were not seen.
 *
 * A page belongs to the slab allocator if the next slab object that the CPU allocates lies in the
 * page. This check needs the address of the page in the direct mapping. The programs find out where
 * the direct mapping is by comparing each new page with the next slab object: if the object lies in
 * the page, the difference of their addresses is a multiple of 128 MiB in every layout of x86-64
 * and aarch64. If the object lies elsewhere, the difference is hardly ever such a multiple. A
 * difference must occur twice before it is used.
 */
#ifndef BPF_KERNEL_TP_SLAB_PAGES_BPF_H
#define BPF_KERNEL_TP_SLAB_PAGES_BPF_H

#include "bpf/kernel_tp/event_stack.bpf.h"

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

#endif
