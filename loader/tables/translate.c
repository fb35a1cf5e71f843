// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts constants of the BPF programs' ABI to those of snapshots. Frames are equal in both. */
#include "loader/tables/translate.h"

#include <assert.h>
#include <stddef.h>

#include "report/frame.h"
#include "report/trace_event.h"

static_assert(FRAME_EXACT == MEMLEAK_FRAME_EXACT && FRAME_FILE == MEMLEAK_FRAME_FILE &&
		      FRAME_ADDR_END == MEMLEAK_FRAME_UNKNOWN,
	      "frames of the ABI are those of snapshots");
static_assert(SIZE_UNKNOWN == MEMLEAK_SIZE_UNKNOWN, "so are sizes of events");

enum block_kind kind_from(uint32_t kind)
{
	static const enum block_kind kinds[MEMLEAK_KIND_CNT] = {
		[MEMLEAK_KIND_HEAP] = KIND_HEAP,       [MEMLEAK_KIND_MMAP] = KIND_MMAP,
		[MEMLEAK_KIND_RESERVE] = KIND_RESERVE, [MEMLEAK_KIND_STACK] = KIND_STACK,
		[MEMLEAK_KIND_SLAB] = KIND_SLAB,       [MEMLEAK_KIND_PAGE] = KIND_PAGE,
		[MEMLEAK_KIND_PERCPU] = KIND_PERCPU,   [MEMLEAK_KIND_DESCRIPTOR] = KIND_DESCRIPTOR,
	};

	return kind < MEMLEAK_KIND_CNT ? kinds[kind] : KIND_CNT;
}

enum stack_end stack_end_from(unsigned int end)
{
	static const enum stack_end ends[UNWIND_END_CNT] = {
		[UNWIND_END_UNKNOWN] = STACK_END_UNKNOWN,
		[UNWIND_END_COMPLETE] = STACK_END_COMPLETE,
		[UNWIND_END_TRUNCATED] = STACK_END_TRUNCATED,
		[UNWIND_END_NO_CODE] = STACK_END_NO_CODE,
		[UNWIND_END_NO_RULE] = STACK_END_NO_RULE,
		[UNWIND_END_READ] = STACK_END_READ,
	};

	return end < UNWIND_END_CNT ? ends[end] : STACK_END_UNKNOWN;
}

enum family family_from(enum memleak_shape shape)
{
	switch (shape_plain(shape)) {
	case MEMLEAK_SHAPE_SIZE:
		return FAMILY_MALLOC;
	case MEMLEAK_SHAPE_COUNT_SIZE:
		return FAMILY_CALLOC;
	case MEMLEAK_SHAPE_ALIGN_SIZE:
		return FAMILY_ALIGNED_ALLOC;
	case MEMLEAK_SHAPE_REALLOC:
		return FAMILY_REALLOC;
	case MEMLEAK_SHAPE_REALLOCARRAY:
		return FAMILY_REALLOCARRAY;
	case MEMLEAK_SHAPE_POSIX_MEMALIGN:
		return FAMILY_POSIX_MEMALIGN;
	case MEMLEAK_SHAPE_FREE:
		return FAMILY_FREE;
	case MEMLEAK_SHAPE_MMAP:
		return FAMILY_MMAP;
	case MEMLEAK_SHAPE_MUNMAP:
		return FAMILY_MUNMAP;
	case MEMLEAK_SHAPE_MREMAP:
		return FAMILY_MREMAP;
	case MEMLEAK_SHAPE_STRING:
		return FAMILY_STRDUP;
	default:
		return FAMILY_CNT;
	}
}

void losses_from(const uint64_t counters[MEMLEAK_LOST_CNT], uint64_t ret[LOSS_CNT])
{
	static const enum loss losses[MEMLEAK_LOST_CNT] = {
		[MEMLEAK_LOST_ALLOCS_FULL] = LOSS_ALLOCS_FULL,
		[MEMLEAK_LOST_STACKS_FULL] = LOSS_STACKS_FULL,
		[MEMLEAK_LOST_NESTING] = LOSS_NESTING,
		[MEMLEAK_LOST_RECURSION] = LOSS_RECURSION,
		[MEMLEAK_LOST_UNWIND] = LOSS_UNWIND,
		[MEMLEAK_LOST_UNRETURNED] = LOSS_UNRETURNED,
		[MEMLEAK_LOST_SITES_FULL] = LOSS_SITES_FULL,
		[MEMLEAK_LOST_THREADS_FULL] = LOSS_THREADS_FULL,
		[MEMLEAK_LOST_NO_MEMORY] = LOSS_NO_MEMORY,
		[MEMLEAK_LOST_MAPPINGS] = LOSS_MAPPINGS,
		[MEMLEAK_LOST_EVENTS] = LOSS_EVENTS,
		[MEMLEAK_LOST_EXEC] = LOSS_EXEC,
		[MEMLEAK_LOST_QUOTA_FULL] = LOSS_QUOTA_FULL,
		[MEMLEAK_LOST_PROCESSES] = LOSS_PROCESSES,
		[MEMLEAK_LOST_HEAPS] = LOSS_HEAPS,
		[MEMLEAK_LOST_INHERITED] = LOSS_INHERITED,
		[MEMLEAK_LOST_STRINGS] = LOSS_STRINGS,
	};

	for (size_t i = 0; i < MEMLEAK_LOST_CNT; i++)
		ret[losses[i]] = counters[i];
}

uint64_t calls_from(const uint64_t calls[MEMLEAK_SHAPE_CNT], uint64_t calls_of[FAMILY_CNT])
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < MEMLEAK_SHAPE_CNT; i++) {
		enum family family = family_from((enum memleak_shape)i);

		if (family < FAMILY_CNT)
			calls_of[family] += calls[i];
		sum += calls[i];
	}
	return sum;
}
