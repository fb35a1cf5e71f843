/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The heap: blocks that malloc and its kin hand out, in the block table. */
#ifndef BPF_USER_PROBES_HEAP_BPF_H
#define BPF_USER_PROBES_HEAP_BPF_H

#include "bpf/clock.bpf.h"
#include "bpf/user_probes/inheritance.bpf.h"
#include "bpf/user_probes/reading.bpf.h"
#include "bpf/user_probes/stack.bpf.h"
#include "bpf/user_probes/strings.bpf.h"

struct memleak_earlier earlier[MEMLEAK_EARLIER_CNT];

/* Who calls free from no farther is of the allocator. */
#define SAME_OBJECT (1U << 15)

#define CHUNK_LEAST 32
#define CHUNK_MOST (1ULL << 40)
#define CHUNK_PAGE 4096
#define CHUNK_FLAGS 7
#define CHUNK_MAPPED 2
#define CHUNK_BEFORE_IS_USED 1

/*
 * About the size that was asked for, by what glibc's malloc keeps before a block; 0: the block is
 * not of such a kind. The chunk behind it knows that it is in use.
 */
__noinline __u64 chunk_size(__u64 addr)
{
	__u64 word, next, size;

	if (addr % 16 || bpf_probe_read_user(&word, sizeof(word), (void *)(addr - 8)))
		return 0;
	size = word & ~(__u64)CHUNK_FLAGS;
	if (size < CHUNK_LEAST || size > CHUNK_MOST)
		return 0;
	if (word & CHUNK_MAPPED)
		return addr % CHUNK_PAGE == 16 ? size - 16 : 0;
	if ((bpf_probe_read_user(&next, sizeof(next), (void *)(addr - 8 + size)) ||
	     !(next & CHUNK_BEFORE_IS_USED)))
		return 0;
	return size - 16;
}

/*
 * A block was not found that is being freed. As a rule it was there before tracing began, unless
 * the allocator itself frees what it took without a call (glibc's cache of a thread that ends).
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

/* The entry of a function that allocates. */
static __always_inline void begin_alloc(struct pt_regs *ctx, struct thread_state *thread,
					__u32 shape, __u32 operation, __u64 addr, __u64 size)
{
	thread->operation = operation;
	thread->kind = MEMLEAK_KIND_HEAP;
	thread->addr = addr;
	thread->size = size;
	thread->chosen =
		operation == OP_STRING ? string__may_be_chosen() : chosen(size, &thread->countdown);
	if ((operation == OP_REALLOC || operation == OP_RESIZE) && addr) {
		/*
		 * The old block is taken out now: its address may be handed out again before the
		 * call returns.
		 */
		struct memleak_block_key key = {.addr = addr, .image = thread->image};

		thread->has_old = thread__take(thread, &key, &thread->old);
		thread->met_by = thread->has_old ? reading__that_met(&key, &thread->old) : 0;
		if (!thread->has_old && operation != OP_RESIZE)
			count_earlier(ctx, thread, addr);
		thread->extra = PT_REGS_PARM3(ctx);
		thread->frees_old =
			shape == MEMLEAK_SHAPE_REALLOCF || shape == MEMLEAK_SHAPE_HEAP_REALLOCF;
	}
}

/*
 * An exception is about to end the marked call, if that is in progress: it gives nothing, and what
 * it was to reallocate stays.
 */
static __always_inline void raise_in_call(struct pt_regs *ctx)
{
	struct thread_state *thread = thread__find();
	struct memleak_block_key key = {0};

	if (!thread || thread->unawaited || !mark__encloses(ctx, &thread->call))
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

/* The call at slot returns after all: it has caught the exception itself. */
static __always_inline bool goes_on(struct thread_state *thread, __u64 slot)
{
	struct memleak_block_key key = {.addr = thread->addr, .image = thread->image};

	if (slot != thread->raised)
		return false;
	thread->raised = 0;
	if (thread->operation == OP_REALLOC && thread->has_old) {
		thread->has_old = thread__take(thread, &key, &thread->old);
		thread->met_by = thread->has_old ? reading__that_met(&key, &thread->old) : 0;
	}
	return true;
}

/*
 * If few blocks are chosen, most are in no table. The free of such a block is not looked at any
 * further: not even whether it is nested.
 */
static __always_inline bool free__is_of_others(const struct memleak_block_key *key)
{
	bool sampled = config.sample_bytes || config.sample_rate > 1;

	return sampled && !config.trace_events && !block__may_be_held(key);
}

/*
 * What the program holds, no allocator frees by itself: it is the program's own free, even if it is
 * made inside another call. operator new asks the program's new_handler for memory.
 */
static __always_inline bool free__is_of_handler(const struct thread_state *thread,
						const struct memleak_block_key *key)
{
	return thread->call.slot && !thread->unawaited && block__may_be_held(key);
}

/*
 * True if another library's free() is in progress and has called or jumped to this one: a wrapper
 * that passes the block on. A block that is still in the tables is one that the wrapper itself had
 * from this library.
 */
static __always_inline bool free__is_passed_on(struct pt_regs *ctx,
					       const struct thread_state *thread,
					       const struct memleak_block_key *key)
{
	__u64 slot = arch_entry_slot(ctx), caller = arch_return_address(ctx);

	if (PT_REGS_IP(ctx) - thread->free_function + SAME_LIBRARY <= 2 * SAME_LIBRARY)
		return false;
	if (!mark__may_be_freeing(thread, slot, caller) &&
	    (slot != thread->freed.slot || caller != thread->freed.return_address))
		return false;
	return !block__may_be_held(key);
}

/* caller 0: it was not looked who called. */
static __always_inline void mark_free(struct pt_regs *ctx, struct thread_state *thread,
				      __u64 caller)
{
	thread->free_function = PT_REGS_IP(ctx);
	thread->freed.slot = arch_entry_slot(ctx);
	thread->freed.return_address = caller;
}

static __always_inline void note_free(struct pt_regs *ctx, struct thread_state *thread,
				      __u64 caller)
{
	mark_free(ctx, thread, caller);
	count(MEMLEAK_STAT_CALLS_OF + MEMLEAK_SHAPE_FREE, 1);
	summary__call(thread->image, MEMLEAK_SHAPE_FREE);
}

/*
 * The block is taken out at the entry: after the function has returned its address may belong to
 * someone else. There is no return probe, hence a mark of its own, which only mappings made inside
 * free look at.
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
		mark_free(ctx, thread, arch_return_address(ctx));
		return;
	}
	if (!(children_inherit() && thread->descendant) && free__is_of_others(&key)) {
		note_free(ctx, thread, 0);
		return;
	}
	if (!decided && !free__is_of_handler(thread, &key) &&
	    thread__is_nested(ctx, entry, thread, arch_entry_slot(ctx), shape))
		return;
	note_free(ctx, thread, arch_return_address(ctx));
	if (thread__take(thread, &key, &block)) {
		summary__freed(key.image, block.size);
	} else {
		count_earlier(ctx, thread, key.addr);
		block.size = MEMLEAK_SIZE_UNKNOWN;
	}
	stack__tell_free(ctx, entry, thread, key.addr, block.size);
}

/* A whole heap is freed at once, and which blocks were in it is not known. */
static __always_inline void enter_destroy(const struct entry *entry, __u64 heap)
{
	if (heap && thread__get(entry->binding))
		count(MEMLEAK_LOST_HEAPS, 1);
}

/*
 * A resize in place is a realloc that gives the same block, with the size that it asked for and
 * got.
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

/* The address that the call gave to the program; 0: none. */
static __always_inline __u64 heap_result(const struct thread_state *thread, __u64 result)
{
	__u64 addr = 0;

	if (thread->operation != OP_POSIX_MEMALIGN)
		return result;
	if ((__u32)result || bpf_probe_read_user(&addr, sizeof(addr), (void *)thread->addr))
		return 0;
	return addr;
}

static __always_inline void tell_of_call(struct thread_state *thread, __u64 addr)
{
	if (thread->operation == OP_REALLOC && thread->addr)
		tell_free(thread, thread->addr,
			  thread->has_old ? thread->old.size : MEMLEAK_SIZE_UNKNOWN);
	if (addr && thread->chosen)
		tell_alloc(thread, addr);
}

/*
 * The return of a call that is not tracked may not be seen. A call that asks for 0 bytes may get
 * nothing without having failed.
 */
static __always_inline void count_failure(const struct thread_state *thread)
{
	if (thread->chosen && thread->size)
		count(MEMLEAK_STAT_FAILED, 1);
}

/*
 * What a place reallocates again and again lives on: by its age it would always have just come.
 * What becomes another place's while the blocks are read came after that, which the CPU's clock may
 * not say yet. With descendants the birth tells who has a copy of which block.
 */
static __always_inline __u64 birth_of(const struct thread_state *thread)
{
	if (thread->operation == OP_REALLOC && thread->has_old && !children_inherit()) {
		if (thread->old.site == thread->site)
			return thread->old.birth_ns;
		if (reading.number)
			return bpf_ktime_get_ns();
	}
	return children_inherit() ? bpf_ktime_get_ns() : about_now();
}

/* A failed realloc leaves the old block as it was, unless it is of those that free it. */
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
		tell_of_call(thread, key.addr);
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
	/* 0: the stack could not be walked. */
	if (!block.site) {
		count(MEMLEAK_LOST_SITES_FULL, 1);
		return;
	}
	summary__freed(thread->image, thread__repair(thread, &key));
	if (thread->has_old && block.birth_ns == thread->old.birth_ns)
		reading__move(thread, &key, &block);
	block__store(&key, &block);
	tell_of_peak(key.image);
	tell_of_blocks(key.image);
}

#endif
