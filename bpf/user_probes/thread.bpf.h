/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is kept of a thread between the entry and the return of its outermost allocator call, and
 * from call to call; and where it is kept.
 */
#ifndef BPF_USER_PROBES_THREAD_BPF_H
#define BPF_USER_PROBES_THREAD_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/pids.bpf.h"
#include "bpf/track.bpf.h"
#include "bpf/user_probes/image_refs.bpf.h"
#include "bpf/user_probes/unwind.bpf.h"

/* Where a call was made: its slot and the return address that stood there. slot 0: no call. */
struct call_mark {
	__u64 slot;
	__u64 return_address;
};

enum operation {
	OP_ALLOC,          /* p = f(...) */
	OP_REALLOC,        /* p = f(old, ...) */
	OP_RESIZE,         /* size = f(p, size, extra, ...) */
	OP_POSIX_MEMALIGN, /* err = f(&p, ...) */
	OP_STRING,         /* p = f(...), whose size is the length of the string there */
	OP_MMAP,
	OP_MUNMAP,
	OP_MREMAP,
};

/* A call in progress that was interrupted by a signal, whose handler makes another one. */
struct suspended_call {
	struct call_mark call; /* slot 0: there is none */
	__u32 nested;
	__u32 operation;
	__u32 kind;
	bool chosen;
	bool has_old;
	__u32 met_by;
	bool frees_old;
	bool throws;
	bool unawaited;
	__u64 function;
	__u64 size;
	__u64 addr;
	__u64 extra;
	struct memleak_block old;
	__u64 site;
	__u64 stack;
};

struct thread_state {
	struct call_mark call;  /* the outermost call in progress */
	struct call_mark freed; /* the last outermost free; it has no return probe */
	__u64 free_function;    /* address of the function of that free */
	__u64 raised;           /* slot of a call in which an exception was raised */
	__u64 overwritten;      /* slot of a call whose mark was replaced: it may yet return */
	__u32 nested;           /* calls that were taken for nested in the one in progress */
	__u32 generation;       /* value of targets_generation when the following were looked up */
	__u32 tid;
	__u32 image;
	__u32 binding;
	__u32 unloads;
	struct known_space space;
	__u32 hits;      /* how often its stacks were in the stack cache */
	__u64 forked_ns; /* image_refs__forked_ns */
	bool descendant;
	bool left;           /* the block that was last taken: descendants still have it */
	bool freed_in_child; /* the block that was last not found was a copy of an ancestor's */

	/* the call in progress */
	__u32 operation;
	__u32 kind;
	bool chosen;
	bool has_old;
	__u32 met_by;    /* the reading of the blocks that had it before it was taken; 0: none */
	bool frees_old;  /* a failure frees the old block, too */
	bool throws;     /* an exception may end it: its return is always to be reported */
	bool unawaited;  /* its return will not be reported, so its mark will stay */
	bool awaits_all; /* all returns of this thread are awaited */
	bool careful;    /* marks of calls whose return is not awaited say who called */
	__u64 function;
	__u64 size;
	__u64 addr;  /* realloc: old block; posix_memalign: where the result goes */
	__u64 extra; /* OP_RESIZE: how much more if there is room */
	struct memleak_block old;
	__u64 site;

	struct suspended_call suspended;

	/* an entry that a walk of the stack decides about */
	__u32 asked_shape;
	bool decided; /* it was: the call is not nested */

	__u64 countdown; /* --sample-bytes: bytes to the thread's next sample */

	/* -tt */
	__u64 stack;     /* of the call in progress, key of the stack table; 0: not known */
	__u64 free_addr; /* what is being freed; 0: the walk is for the call in progress */
	__u64 free_size;
	bool event_by_vma; /* the walk that goes on by the kernel's mappings is for an event */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct memleak_target);
} targets SEC(".maps");

/* Bumped whenever targets changes: threads look their image up again. */
__u32 targets_generation = 1;

/*
 * A thread has its state at the place that its number gives, or at the next free one, and a place
 * is found at once. It belongs to a task as long as that lives.
 */
#define THREAD_PLACES 16384
#define THREAD_TRIES 8

struct thread_place {
	__u64 task; /* 0: the place is free. This is the first word, which the loader counts by. */
	__u32 tid;
	__u32 reserved;
	struct thread_state state;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, THREAD_PLACES);
	__type(key, __u32);
	__type(value, struct thread_place);
} thread_places SEC(".maps");

/* The same for kernels without compare and exchange, where places cannot be claimed. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREAD_PLACES);
	__type(key, __u32);
	__type(value, struct thread_place);
} thread_table SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct thread_place);
} thread_template SEC(".maps");

static __always_inline struct thread_place *thread_place__at(__u32 tid, __u32 i)
{
	__u32 at = (tid + i) % THREAD_PLACES;

	return bpf_map_lookup_elem(&thread_places, &at);
}

static __always_inline struct thread_place *thread_place__find(__u32 tid)
{
	__u64 task = bpf_get_current_task();

	if (!config.exchange)
		return bpf_map_lookup_elem(&thread_table, &tid);
#pragma unroll
	for (__u32 i = 0; i < THREAD_TRIES; i++) {
		struct thread_place *place = thread_place__at(tid, i);

		if (place && place->task == task && place->tid == tid)
			return place;
	}
	return NULL;
}

static __always_inline struct thread_place *thread_place__claim(__u32 tid)
{
	__u64 task = bpf_get_current_task();
	struct thread_place *template;
	__u32 zero = 0;

	if (!config.exchange) {
		template = bpf_map_lookup_elem(&thread_template, &zero);
		if (!template)
			return NULL;
		bpf_map_update_elem(&thread_table, &tid, template, BPF_NOEXIST);
		return bpf_map_lookup_elem(&thread_table, &tid);
	}
#pragma unroll
	for (__u32 i = 0; i < THREAD_TRIES; i++) {
		struct thread_place *place = thread_place__at(tid, i);

		if (place && !__sync_val_compare_and_swap(&place->task, 0, task)) {
			place->tid = tid;
			__builtin_memset(&place->state, 0, sizeof(place->state));
			return place;
		}
	}
	return NULL;
}

/* The current thread ends, or is to have another tid than this one. */
static __always_inline void thread__end(__u32 tid)
{
	struct thread_place *place;

	if (!config.exchange) {
		bpf_map_delete_elem(&thread_table, &tid);
		return;
	}
	place = thread_place__find(tid);
	if (place)
		place->task = 0;
}

static __always_inline struct thread_state *thread_place__state(struct thread_place *place)
{
	if (!place)
		return NULL;
	/* Older verifiers reject a sum that is made before the test. */
	barrier_var(place);
	return &place->state;
}

static __always_inline struct thread_state *thread__find(void)
{
	return thread_place__state(thread_place__find(bpf_get_current_pid_tgid()));
}

static __always_inline struct thread_state *thread__create(void)
{
	return thread_place__state(thread_place__claim(bpf_get_current_pid_tgid()));
}

/*
 * The state of the current thread, if its process is a target and the probe that fired is one of
 * its present binding. It is made when it is first needed.
 */
static __always_inline struct thread_state *thread__get(__u32 binding)
{
	struct thread_state *thread = thread__find();
	__u32 generation = targets_generation, tgid;
	struct memleak_target *target;
	__u64 pid_tgid;

	if (thread && thread->generation == generation)
		return binding == MEMLEAK_ANY_BINDING || binding == thread->binding ? thread : NULL;
	pid_tgid = current_pids();
	tgid = pid_tgid >> 32;
	target = bpf_map_lookup_elem(&targets, &tgid);
	if (!target || !target->image)
		return NULL;
	if (!thread)
		thread = thread__create();
	if (!thread) {
		count(MEMLEAK_LOST_THREADS_FULL, 1);
		return NULL;
	}
	thread->generation = generation;
	thread->decided = false;
	thread->tid = pid_tgid;
	thread->image = target->image;
	thread->binding = target->binding;
	thread->unloads = target->unloads;
	thread->space.base = target->base;
	thread->space.stamp = 0;
	if (children_inherit()) {
		thread->descendant = target->descendant;
		thread->forked_ns = image_refs__forked_ns(target->image);
	}
	return binding == MEMLEAK_ANY_BINDING || binding == thread->binding ? thread : NULL;
}

#endif
