/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a thread, kept during its outermost allocator call and between calls. */
#ifndef BPF_USER_PROBES_THREAD_BPF_H
#define BPF_USER_PROBES_THREAD_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/pids.bpf.h"
#include "bpf/track.bpf.h"
#include "bpf/user_probes/image_refs.bpf.h"
#include "bpf/user_probes/unwind.bpf.h"

/*
 * Identifies a call by its address on the stack (slot; see bpf/arch.bpf.h) and its return address.
 * `slot` is 0 if there is no call; `return_address` is 0 if it was not stored.
 */
struct call_mark {
	__u64 slot;
	__u64 return_address;
};

enum operation {
	OP_ALLOC,          /* allocates: p = f(...) */
	OP_REALLOC,        /* reallocates: p = f(old, ...) */
	OP_RESIZE,         /* resizes p in place: size = f(p, size, extra, ...) */
	OP_POSIX_MEMALIGN, /* allocates: err = f(&p, ...) */
	OP_STRING,         /* allocates a string, whose length is the size: p = f(...) */
	OP_MMAP,
	OP_MUNMAP,
	OP_MREMAP,
};

/* A call interrupted by a signal whose handler makes another call. */
struct suspended_call {
	struct call_mark call; /* the interrupted call; its slot is 0 if there is none */
	__u32 nested;
	__u32 operation;
	__u32 kind;
	bool chosen;
	bool has_old;
	__u32 read_by;
	bool frees_old;
	bool throws;
	bool unreported;
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
	struct call_mark freed; /* the most recent outermost free; it has no return probe */
	__u64 free_function;    /* free function called most recently */
	__u64 freed_addr;       /* block freed most recently; 0 after an allocation */
	__u64 raised;           /* stack address of a call in which an exception was raised */
	/* stack address of a call whose mark was replaced; the call may still return */
	__u64 overwritten;
	__u32 nested;     /* number of calls that seemed nested in the call in progress */
	__u32 generation; /* targets_generation when the target's data were copied */
	__u32 tid;
	__u32 image;
	__u32 binding;
	__u32 unloads;
	struct known_space space;
	__u32 hits;      /* number of stack cache hits */
	__u64 forked_ns; /* time of the image's last fork, or 0: see image_refs__forked_ns() */
	bool descendant;
	bool has_descendants; /* true if descendants have a copy of the last removed block */
	bool freed_in_child;  /* true if the last free was recorded in the map freed_in_child */

	/* fields of the call in progress */
	__u32 operation;
	__u32 kind;
	bool chosen;
	bool has_old;
	__u32 read_by;    /* number of the reading that has read the old block; 0 if none has */
	bool frees_old;   /* the function frees the old block even on failure */
	bool throws;      /* an exception may leave the call: return instructions are probed */
	bool unreported;  /* the call's return will not be reported, so its mark stays */
	bool reports_all; /* all returns of this thread are reported */
	bool careful;     /* marks have the return address even for unreported calls */
	__u64 function;
	__u64 size;
	__u64 addr;  /* realloc: old block's address; posix_memalign: where the result is stored */
	__u64 extra; /* OP_RESIZE: bytes wanted beyond `size` if there is room */
	struct memleak_block old;
	__u64 site;

	struct suspended_call suspended;

	/* for the walk that decides whether a call is nested: the call's shape, and the result */
	__u32 asked_shape;
	bool decided; /* true if the walk has decided that the call is not nested */

	__u64 countdown; /* --sample-bytes: bytes until the thread's next sample */
	__u32 step;      /* --max-overhead: sampling step for which the countdown was drawn */

	/* fields for -tt */
	__u64 stack;     /* key of the current call's stack in the stack table; 0 if unknown */
	__u64 free_addr; /* address to be freed, if the stack walk is for a free; else 0 */
	__u64 free_size;
	bool event_by_vma; /* true if the walk with the kernel's VMAs is only for a -tt event */

	/* --fds: address of the arguments of the event that fd_call_return() handled last */
	__u64 fd_event;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct memleak_target);
} targets SEC(".maps");

/* Incremented when the map of targets changes: threads then look up their image again. */
__u32 targets_generation = 1;

/*
 * Number of thread slots. The tid selects a thread's slot; if that slot is used, the thread gets
 * one of the next THREAD_TRIES - 1 slots, until the task ends.
 */
#define THREAD_SLOTS 16384
#define THREAD_TRIES 8

struct thread_slot {
	__u64 task; /* 0 if the slot is free; the loader counts used slots by it */
	__u32 tid;
	__u32 reserved;
	struct thread_state state;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, THREAD_SLOTS);
	__type(key, __u32);
	__type(value, struct thread_slot);
} thread_slots SEC(".maps");

/* Thread states on kernels without compare-and-exchange, where slots cannot be claimed. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREAD_SLOTS);
	__type(key, __u32);
	__type(value, struct thread_slot);
} thread_table SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct thread_slot);
} thread_template SEC(".maps");

static __always_inline struct thread_slot *thread_slot__at(__u32 tid, __u32 i)
{
	__u32 at = (tid + i) % THREAD_SLOTS;

	return bpf_map_lookup_elem(&thread_slots, &at);
}

/*
 * Returns the number of the current thread's slot; THREAD_SLOTS if it has none. Not static, so that
 * the verifier checks the search, and what follows it for each slot, once and not for each call.
 */
__noinline int thread_slot_number(__u32 tid)
{
	__u64 task = bpf_get_current_task();

	/* Older verifiers also check functions that are not called. This one's map is missing. */
	if (!config.exchange)
		return THREAD_SLOTS;
#pragma unroll
	for (__u32 i = 0; i < THREAD_TRIES; i++) {
		struct thread_slot *slot = thread_slot__at(tid, i);

		if (slot && slot->task == task && slot->tid == tid)
			return (tid + i) % THREAD_SLOTS;
	}
	return THREAD_SLOTS;
}

static __always_inline struct thread_slot *thread_slot__find(__u32 tid)
{
	struct thread_slot *first;
	__u32 number;

	if (!config.exchange)
		return bpf_map_lookup_elem(&thread_table, &tid);
	/* Saves most threads the call. */
	first = thread_slot__at(tid, 0);
	if (first && first->task == bpf_get_current_task() && first->tid == tid)
		return first;
	number = thread_slot_number(tid);
	return bpf_map_lookup_elem(&thread_slots, &number);
}

static __always_inline struct thread_slot *thread_slot__claim(__u32 tid)
{
	__u64 task = bpf_get_current_task();
	struct thread_slot *template;
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
		struct thread_slot *slot = thread_slot__at(tid, i);

		if (slot && !__sync_val_compare_and_swap(&slot->task, 0, task)) {
			slot->tid = tid;
			__builtin_memset(&slot->state, 0, sizeof(slot->state));
			return slot;
		}
	}
	return NULL;
}

/* Releases the state of the current thread when it ends or gets another tid. */
static __always_inline void thread__end(__u32 tid)
{
	struct thread_slot *slot;

	if (!config.exchange) {
		bpf_map_delete_elem(&thread_table, &tid);
		return;
	}
	slot = thread_slot__find(tid);
	if (slot)
		slot->task = 0;
}

static __always_inline struct thread_state *thread_slot__state(struct thread_slot *slot)
{
	if (!slot)
		return NULL;
	/* Older verifiers reject an addition to a pointer before the test for NULL. */
	barrier_var(slot);
	return &slot->state;
}

static __always_inline struct thread_state *thread__find(void)
{
	return thread_slot__state(thread_slot__find(bpf_get_current_pid_tgid()));
}

static __always_inline struct thread_state *thread__create(void)
{
	return thread_slot__state(thread_slot__claim(bpf_get_current_pid_tgid()));
}

/*
 * Looks up the current thread's process among the targets, and creates the thread's state at first
 * use. Returns 0 if the process is no target or if no slot is free. Not static, so that the
 * verifier checks it once, and not for each call: programs contain many.
 */
__noinline int thread_renew(void)
{
	__u32 generation = targets_generation, tgid;
	struct memleak_target *target;
	struct thread_state *thread;
	__u64 pid_tgid;

	pid_tgid = current_pids();
	tgid = pid_tgid >> 32;
	target = bpf_map_lookup_elem(&targets, &tgid);
	if (!target || !target->image)
		return 0;
	thread = thread__find();
	if (!thread)
		thread = thread__create();
	if (!thread) {
		count(MEMLEAK_LOST_THREADS_FULL, 1);
		return 0;
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
	return 1;
}

/*
 * Returns the state of the current thread. Returns NULL if the process is no target, if no slot is
 * free, or if the probe belongs to an older binding.
 */
static __always_inline struct thread_state *thread__get(__u32 binding)
{
	struct thread_state *thread = thread__find();

	if (!thread || thread->generation != targets_generation) {
		if (!thread_renew())
			return NULL;
		thread = thread__find();
	}
	if (!thread)
		return NULL;
	return binding == MEMLEAK_ANY_BINDING || binding == thread->binding ? thread : NULL;
}

#endif
