/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tracks heap blocks, which malloc() and related functions allocate. */
#ifndef BPF_USER_PROBES_HEAP_BPF_H
#define BPF_USER_PROBES_HEAP_BPF_H

#include "bpf/clock.bpf.h"
#include "bpf/user_probes/inheritance.bpf.h"
#include "bpf/user_probes/reading.bpf.h"
#include "bpf/user_probes/stack.bpf.h"
#include "bpf/user_probes/strings.bpf.h"

struct memleak_earlier earlier[MEMLEAK_EARLIER_CNT];

/* A caller within this distance of free() is the allocator itself: 32 KiB. */
#define SAME_OBJECT (1U << 15)

#define CHUNK_MIN 32
#define CHUNK_MAX (1ULL << 40)
#define CHUNK_PAGE 4096
#define CHUNK_FLAGS 7
#define CHUNK_MAPPED 2
#define CHUNK_BEFORE_IS_USED 1

/*
 * Returns the approximate size that was requested for a block, from glibc's malloc header before
 * the block; 0 if the header is not glibc's. As a check, the header of the next chunk must mark
 * this chunk as used.
 */
__noinline __u64 chunk_size(__u64 addr)
{
	__u64 word, next, size;

	if (addr % 16 || bpf_probe_read_user(&word, sizeof(word), (void *)(addr - 8)))
		return 0;
	size = word & ~(__u64)CHUNK_FLAGS;
	if (size < CHUNK_MIN || size > CHUNK_MAX)
		return 0;
	if (word & CHUNK_MAPPED)
		return addr % CHUNK_PAGE == 16 ? size - 16 : 0;
	if ((bpf_probe_read_user(&next, sizeof(next), (void *)(addr - 8 + size)) ||
	     !(next & CHUNK_BEFORE_IS_USED)))
		return 0;
	return size - 16;
}

/*
 * Counts a free of an unknown block, usually allocated before tracing began. Does not count frees
 * by the allocator itself: it may free internal blocks, such as glibc's thread cache when a thread
 * ends.
 */
static __always_inline void count_earlier(struct pt_regs *ctx, const struct thread_state *thread,
					  __u64 addr)
{
	struct memleak_earlier *counts = &earlier[memleak_earlier_at(thread->image)];
	__u64 size;

	if (!config.earlier || !tracking || (children_inherit() && thread->freed_in_child))
		return;
	if (arch_return_address(ctx) - PT_REGS_IP(ctx) + SAME_OBJECT <= 2 * SAME_OBJECT)
		return;
	size = chunk_size(addr);
	__sync_fetch_and_add(&counts->frees, 1);
	if (!size)
		return;
	__sync_fetch_and_add(&counts->sized, 1);
	__sync_fetch_and_add(&counts->bytes, size);
}

/*
 * Removes the old block of the current realloc or resize: its address may be reused before the call
 * returns. Not static, so that the verifier checks it once, and not for each shape of call.
 */
__noinline int take_old_block(void)
{
	struct thread_state *thread = thread__find();
	struct memleak_block_key key = {0};

	if (!thread)
		return 0;
	key.addr = thread->addr;
	key.image = thread->image;
	thread->has_old = thread__take(thread, &key, &thread->old);
	thread->read_by = thread->has_old ? reading__that_read(&key, &thread->old) : 0;
	return 0;
}

/* Stores the arguments of an allocating call. Removes the old block of a realloc or resize. */
static __always_inline void begin_alloc(struct pt_regs *ctx, struct thread_state *thread,
					__u32 shape, __u32 operation, __u64 addr, __u64 size)
{
	thread->freed_addr = 0; /* the new block may have this address */
	thread->operation = operation;
	thread->kind = MEMLEAK_KIND_HEAP;
	thread->addr = addr;
	thread->size = size;
	step__take(thread);
	thread->chosen = operation == OP_STRING ? string__may_be_chosen() : step__chooses(thread);
	if ((operation == OP_REALLOC || operation == OP_RESIZE) && addr) {
		take_old_block();
		if (!thread->has_old && operation != OP_RESIZE)
			count_earlier(ctx, thread, addr);
		thread->extra = PT_REGS_PARM3(ctx);
		thread->frees_old =
			shape == MEMLEAK_SHAPE_REALLOCF || shape == MEMLEAK_SHAPE_HEAP_REALLOCF;
	}
}

/*
 * Clears the mark of the call that an exception is about to leave. Stores the old block of a
 * realloc again.
 */
static __always_inline void raise_in_call(struct pt_regs *ctx)
{
	struct thread_state *thread = thread__find();
	struct memleak_block_key key = {0};

	if (!thread || thread->unreported || !mark__encloses(ctx, &thread->call))
		return;
	thread->raised = thread->call.slot;
	thread->call.slot = 0;
	if (thread->operation != OP_REALLOC || !thread->has_old)
		return;
	key.addr = thread->addr;
	key.image = thread->image;
	thread__untake(thread, &key);
	reading__move(thread, &key, &thread->old);
	block__store(&key, &thread->old);
}

/*
 * True if the call at the stack address `slot` has caught an exception and returns. In a realloc,
 * removes the old block, which raise_in_call() has stored again.
 */
static __always_inline bool goes_on(struct thread_state *thread, __u64 slot)
{
	if (slot != thread->raised)
		return false;
	thread->raised = 0;
	if (thread->operation == OP_REALLOC && thread->has_old)
		take_old_block();
	return true;
}

/*
 * True if the block was not sampled: sampling is on, and the block is in no table. Its free needs
 * no further checks, not even for nesting. Always false with -t, which shows every free.
 */
static __always_inline bool free__is_of_others(const struct memleak_block_key *key)
{
	bool sampled = config.sample_bytes || config.sample_rate > 1;

	return sampled && !config.trace_events && !block__may_be_held(key);
}

/*
 * True if an allocator call whose return is reported is in progress, and the block is tracked.
 * Allocators do not free tracked blocks on their own, so the free is by code that the allocator has
 * called, such as a new_handler.
 */
static __always_inline bool free__is_of_handler(const struct thread_state *thread,
						const struct memleak_block_key *key)
{
	return thread->call.slot && !thread->unreported && block__may_be_held(key);
}

/*
 * True if this free() is part of the thread's most recent free(), which has called or jumped to it:
 * a wrapper in another library has passed its block on, or a free() has started over, as in glibc
 * 2.42 after setting up a thread's cache. False if the block is tracked: then the wrapper frees a
 * block that it had allocated from this library.
 */
static __always_inline bool free__is_passed_on(struct pt_regs *ctx,
					       const struct thread_state *thread,
					       const struct memleak_block_key *key)
{
	__u64 slot = arch_entry_slot(ctx), caller = arch_return_address(ctx);

	if (PT_REGS_IP(ctx) - thread->free_function + SAME_LIBRARY <= 2 * SAME_LIBRARY &&
	    key->addr != thread->freed_addr)
		return false;
	if (!mark__may_be_freeing(thread, slot, caller) &&
	    (slot != thread->freed.slot ||
	     (caller != thread->freed.return_address && !is_return_trampoline(caller))))
		return false;
	return !block__may_be_held(key);
}

/* Marks a call to free(addr). `caller` is the return address; 0 if unread. */
static __always_inline void mark_free(struct pt_regs *ctx, struct thread_state *thread, __u64 addr,
				      __u64 caller)
{
	thread->free_function = PT_REGS_IP(ctx);
	thread->freed_addr = addr;
	thread->freed.slot = arch_entry_slot(ctx);
	thread->freed.return_address = caller;
}

static __always_inline void note_free(struct pt_regs *ctx, struct thread_state *thread, __u64 addr,
				      __u64 caller)
{
	mark_free(ctx, thread, addr, caller);
	count(MEMLEAK_STAT_CALLS_OF + MEMLEAK_SHAPE_FREE, 1);
	summary__call(thread->image, MEMLEAK_SHAPE_FREE);
}

/*
 * Handles the entry of a free. The block is removed at the entry, since its address may be reused
 * as soon as the function returns. Frees have no return probe, so the thread's latest free is
 * recorded apart from other calls: at the entry of a mapping call or another free, this tells
 * whether that call is part of the free.
 */
static __always_inline void enter_free(struct pt_regs *ctx, const struct entry *entry, __u32 shape,
				       __u64 addr)
{
	struct memleak_block_key key = {.addr = addr};
	struct memleak_block block;
	struct thread_state *thread;
	bool decided;

	if (!key.addr)
		return;
	thread = thread__get(entry->binding);
	if (!thread)
		return;
	decided = thread__was_decided(thread);
	key.image = thread->image;
	if (free__is_passed_on(ctx, thread, &key)) {
		mark_free(ctx, thread, addr, arch_return_address(ctx));
		return;
	}
	if (!(children_inherit() && thread->descendant) && free__is_of_others(&key)) {
		note_free(ctx, thread, addr, 0);
		return;
	}
	if (!decided && !free__is_of_handler(thread, &key) &&
	    thread__is_nested(ctx, entry, thread, arch_entry_slot(ctx), shape))
		return;
	note_free(ctx, thread, addr, arch_return_address(ctx));
	if (thread__take(thread, &key, &block)) {
		summary__freed(key.image, block.size);
	} else {
		count_earlier(ctx, thread, key.addr);
		block.size = MEMLEAK_SIZE_UNKNOWN;
	}
	stack__send_free(ctx, entry, thread, key.addr, block.size);
}

/*
 * Counts a heap that is destroyed. Its blocks are freed with it, but it is unknown which blocks
 * they are.
 */
static __always_inline void enter_destroy(const struct entry *entry, __u64 heap)
{
	if (heap && thread__get(entry->binding))
		count(MEMLEAK_LOST_HEAPS, 1);
}

/*
 * Treats a resize in place as a realloc. Returns the block's address; 0 if the returned size is
 * less than `size`. The block gets the returned size, but at most `size` + `extra`.
 */
static __always_inline __u64 resize_result(struct thread_state *thread, __u64 got)
{
	__u64 more = got - thread->size;

	thread->operation = OP_REALLOC;
	if (got < thread->size)
		return 0;
	thread->size += more < thread->extra ? more : thread->extra;
	return thread->addr;
}

/* Returns the address of the new block; 0 if there is none. */
static __always_inline __u64 heap_result(const struct thread_state *thread, __u64 result)
{
	__u64 addr = 0;

	if (thread->operation != OP_POSIX_MEMALIGN)
		return result;
	if ((__u32)result || bpf_probe_read_user(&addr, sizeof(addr), (void *)thread->addr))
		return 0;
	return addr;
}

static __always_inline void send_call(struct thread_state *thread, __u64 addr)
{
	if (thread->operation == OP_REALLOC && thread->addr)
		send_free(thread, thread->addr,
			  thread->has_old ? thread->old.size : MEMLEAK_SIZE_UNKNOWN);
	if (addr && thread->chosen)
		send_alloc(thread, addr);
}

/*
 * Counts a failed call. Does not count untracked calls, since their returns may go unreported. Does
 * not count calls for 0 bytes either: they may succeed and return NULL.
 */
static __always_inline void count_failure(const struct thread_state *thread)
{
	if (thread->chosen && thread->size)
		count(MEMLEAK_STAT_FAILED, 1);
}

/*
 * Returns the birth time for a new block. A reallocated block that stays at its site keeps its
 * birth time, so that it can become old. A block that moves to another site while the loader reads
 * the blocks gets the exact time: the approximate clock lags, so the block could seem older than
 * the reading. The loader then counts the old block instead. If children inherit blocks, all birth
 * times are exact, since they tell which child has a copy of which block.
 */
static __always_inline __u64 birth_of(const struct thread_state *thread)
{
	if (thread->operation == OP_REALLOC && thread->has_old && !children_inherit()) {
		__u32 number = reading.number;

		if (thread->old.site == thread->site)
			return thread->old.birth_ns;
		if (number) {
			reading__replace(thread, number);
			return bpf_ktime_get_ns();
		}
	}
	return children_inherit() ? bpf_ktime_get_ns() : about_now();
}

/*
 * Records the result of an allocating call. After a failed realloc, stores the old block again,
 * unless the function frees it on failure.
 */
static __always_inline void leave_heap(struct thread_state *thread, __u64 result)
{
	struct memleak_block_key key = {.image = thread->image};
	struct memleak_block block = {
		.size = thread->size,
		.site = thread->site,
		.tid = thread->tid,
	};

	key.addr = heap_result(thread, result);
	if (thread->operation == OP_REALLOC && !key.addr && thread->size && !thread->frees_old) {
		count_failure(thread);
		key.addr = thread->addr;
		thread__untake(thread, &key);
		if (!thread->has_old)
			return;
		block = thread->old;
	} else {
		send_call(thread, key.addr);
		if (thread->operation == OP_REALLOC && thread->has_old)
			summary__freed(thread->image, thread->old.size);
		if (!key.addr)
			count_failure(thread);
		if (!key.addr || !thread->chosen)
			return;
		if (!config.combined_only)
			block.birth_ns = birth_of(thread);
		if (block.site)
			summary__allocated(thread->image, thread->size);
	}
	/* The site is 0 if the stack could not be walked. */
	if (!block.site) {
		count(MEMLEAK_LOST_SITES_FULL, 1);
		return;
	}
	summary__freed(thread->image, thread__repair(thread, &key));
	if (thread->has_old && block.birth_ns == thread->old.birth_ns)
		reading__move(thread, &key, &block);
	block__store(&key, &block);
	send_peak(key.image);
	emit_blocks(key.image);
}

#endif
