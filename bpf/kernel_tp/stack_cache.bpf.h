/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel stacks in the stack cache. The programs of raw tracepoints are given a context that lies
 * on the stack, and all frames of interest are above it.
 *
 * The kernel does not tell which words it has read: they are found by the return addresses that it
 * gives. A return address may also stand where an earlier call has left it; if it stands once more
 * before the next one is found, both places are kept. How far a frame reaches follows from its
 * return address, but for the few functions that find their caller by a saved register. What could
 * be taken for another stack in spite of this is a stack with an old return address below a new one
 * that differs, all others being equal. That is why some stacks are walked although they are
 * recognised; if one of them is another, its key is not used again.
 *
 * Only stacks of tasks are cached: an interrupt has another stack, or ends somewhere in the middle
 * of a task's.
 */
#ifndef BPF_KERNEL_TP_STACK_CACHE_BPF_H
#define BPF_KERNEL_TP_STACK_CACHE_BPF_H

#include "bpf/kernel_tp/stack.bpf.h"

#ifdef MEMLEAK_STACK_CACHE

#include "bpf/stack_cache.bpf.h"

/* Kernel stacks begin and end at multiples of it, on every architecture that is supported. */
#define KERNEL_STACK_BYTES 16384

/* So many words are searched for frames. */
#define SEARCHED_WORDS 512

/*
 * So much random room does the kernel add to a system call's stack. Where the caller is known,
 * depth says no more than which of the paths to it this may be; elsewhere depth is all there is.
 */
#define RANDOM_BYTES 1024

/* The context has the arguments of the event, among them a return address. */
#define ARGUMENT_WORDS 6

/* The first frame is found in so many words. */
#define FIRST_WORDS 32

/* A walk begins with frames of tracing, of which the innermost may lie below the context. */
#define LOWER_FRAMES 4

/* What a program sees of the stack before it is walked. */
struct stack_view {
	__u64 start; /* address of the first word */
	__u64 key;
	__u64 expected; /* the stack's hash in the cache, if it is walked as a check */
	__u64 lower;    /* frames below the first word */
	__u64 found;    /* and frames that were found above it */
	__u32 hits;     /* how often it was recognised so far */
	__u32 room;     /* words up to the end of the stack */
	__u32 cnt;      /* words that were read */
	struct stack_words depends;
	__u64 words[STACK_CACHE_STACK_WORDS];
};

/* For the first program of each event: second programs run in interrupts. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_SECOND);
	__type(key, __u32);
	__type(value, struct stack_view);
} stack_views SEC(".maps");

/* Copies the first words, if the stack has so many. */
static __always_inline bool view__see(struct stack_view *view, __u32 cnt)
{
	if (cnt > view->room)
		return false;
	if (cnt <= view->cnt)
		return true;
	view->cnt = 0;
	if (bpf_probe_read_kernel(view->words, cnt % STACK_CACHE_STACK_WORDS * 8,
				  (void *)view->start))
		return false;
	view->cnt = cnt;
	return true;
}

/*
 * The word of the outermost frame is found by its distance from the end of the stack, and put
 * behind the others that are looked at: between it and them lies the random room.
 */
#define OUTERMOST (STACK_CACHE_STACK_WORDS - 1)
#define END_WORDS 64 /* it is found in the last words, before the registers of user space */
#define NOTE_OUTERMOST(note) ((note) >> 1)

static __always_inline bool view__see_outermost(struct stack_view *view, __u32 from_end)
{
	if (!from_end || from_end > view->room)
		return false;
	return !bpf_probe_read_kernel(&view->words[OUTERMOST], sizeof(__u64),
				      (void *)(view->start + (view->room - from_end) * 8ULL));
}

/* A function of its own: the verifier checks it once, and not in every program. */
__noinline int stack_view__look_up(__u32 user, __u32 way)
{
	struct stack_view *view = bpf_map_lookup_elem(&stack_views, &user);
	const struct cached_stack *entry;
	struct stack_cache_head head;

	if (!view || way >= STACK_CACHE_WAYS)
		return 0;
	entry = stack_cache__find(view->key, way);
	if (!entry || !stack_cache__read(entry, view->key, &head) || !view__see(view, head.end))
		return 0;
	if (!view__see_outermost(view, NOTE_OUTERMOST(head.note)))
		return 0;
	if (!stack_cache__fits(entry, &head, view->words, view->start))
		return 0;
	view->expected = head.stack;
	return 1 + (head.note & 1);
}

/*
 * One word of the stack: it may be the next frame's return address, or once more the last frame's,
 * for which another word was taken already. That does not hold for the outermost frame: the one
 * before it is the system call's, to which the kernel adds random room that is full of what earlier
 * calls left.
 */
static __always_inline void view__search(struct stack_view *view, const struct stack_buffer *buf,
					 __u32 frame_cnt, __u32 i)
{
	__u64 word = view->words[i], found = view->found, next, again;

	next = mask_if_equal(word, buf->words[1 + found % MEMLEAK_MAX_STACK_DEPTH]) &
	       mask_if_less(found, frame_cnt);
	again = mask_if_equal(word, buf->words[found % MEMLEAK_MAX_STACK_DEPTH]) &
		mask_if_less(found + 1, frame_cnt) & mask_if_less(view->lower, found);
	view->found = found + (next & 1);
	next |= again;
	view->depends.end += (i + 1 - view->depends.end) & (__u32)next;
	view->depends.places[view->depends.cnt % STACK_CACHE_WORDS_MAX] = i;
	view->depends.hash ^= (hash_mix(view->depends.hash, word) ^ view->depends.hash) & next;
	view->depends.cnt += next & 1;
	view->depends.prefix ^= (view->depends.hash ^ view->depends.prefix) &
				mask_if_equal(view->depends.cnt, STACK_CACHE_PREFIX) & next;
}

/* The number of frames below the context: all that come before the first one that is seen. */
static __always_inline __u32 view__lower_frames(const struct stack_view *view,
						const struct stack_buffer *buf)
{
	__u64 seen = 0;

	for (__u32 i = ARGUMENT_WORDS; i < FIRST_WORDS; i++)
		for (__u32 j = 0; j < LOWER_FRAMES; j++)
			seen |= mask_if_equal(view->words[i], buf->words[1 + j]) & 1ULL << j;
	if (seen & 1)
		return 0;
	if (seen & 2)
		return 1;
	if (seen & 4)
		return 2;
	return seen ? 3 : MEMLEAK_MAX_STACK_DEPTH;
}

/* How far from the end of the stack the word lies; 0: it is not near. Overwrites words. */
static __always_inline __u32 view__find_outermost(struct stack_view *view, __u64 word)
{
	__u64 from_end = 0;

	if (view->room < END_WORDS)
		return 0;
	view->cnt = 0;
	if (bpf_probe_read_kernel(view->words, END_WORDS * 8,
				  (void *)(view->start + (view->room - END_WORDS) * 8ULL)))
		return 0;
	for (__u32 i = 0; i < END_WORDS; i++)
		from_end ^= (from_end ^ (END_WORDS - i)) & mask_if_equal(view->words[i], word);
	return from_end;
}

/*
 * The word that the search took for the outermost one may lie in the random room, from an earlier
 * call.
 */
static __always_inline void view__learn(struct stack_view *view, const struct stack_buffer *buf,
					__u32 frame_cnt, __u32 note)
{
	struct stack_words *depends = &view->depends;
	__u32 last = depends->cnt - 1;
	__u32 from_end =
		view__find_outermost(view, buf->words[frame_cnt % MEMLEAK_MAX_STACK_DEPTH]);

	if (depends->cnt < 2 || !from_end)
		return;
	depends->places[last % STACK_CACHE_WORDS_MAX] = OUTERMOST;
	depends->end = 1 + depends->places[(last - 1) % STACK_CACHE_WORDS_MAX];
	stack_cache__learn(view->key, depends, buf->hash, note | from_end << 1);
}

/* Whether all frames were found, but for those below the context. */
__noinline int stack_view__search(__u32 user)
{
	struct stack_view *view = bpf_map_lookup_elem(&stack_views, &user);
	struct stack_buffer *buf = stack__buffer(user, LEVEL_TASK);
	const struct memleak_stack *header;

	if (!view || !buf)
		return 0;
	header = (void *)&buf->words[0];
	for (__u32 i = ARGUMENT_WORDS; i < SEARCHED_WORDS; i++) {
		if (i >= view->cnt)
			break;
		view__search(view, buf, header->frame_cnt, i);
	}
	return view->found == header->frame_cnt;
}

/* The frames are in the program's buffer, as they are kept. */
__noinline int stack_view__cache(__u32 user, __u32 note)
{
	struct stack_view *view = bpf_map_lookup_elem(&stack_views, &user);
	struct stack_buffer *buf = stack__buffer(user, LEVEL_TASK);
	const struct memleak_stack *header;
	__u32 frame_cnt;

	if (!view || !buf)
		return 0;
	header = (void *)&buf->words[0];
	frame_cnt = header->frame_cnt;
	if (!view__see(view, view->room < SEARCHED_WORDS ? view->room : SEARCHED_WORDS))
		return 0;
	stack_words__begin(&view->depends);
	view->lower = view__lower_frames(view, buf);
	if (view->lower >= frame_cnt)
		return 0;
	view->found = view->lower;
	if (stack_view__search(user))
		view__learn(view, buf, frame_cnt, note);
	return 0;
}

/* Whether the stack is in the cache: then only its hash is known. */
static __always_inline bool stack__look_up(void *ctx, struct stack_buffer *buf, __u32 user,
					   __u32 level, __u64 call_site, __u32 *note)
{
	struct stack_view *view;
	__u64 depth;

	if (!config.stack_cache || level != LEVEL_TASK || user >= STACK_SECOND)
		return false;
	view = bpf_map_lookup_elem(&stack_views, &user);
	if (!view)
		return false;
	/* Read as memory: the verifier does not let a pointer be a number. */
	*(volatile __u64 *)&view->start = (__u64)ctx;
	view->key = *(volatile __u64 *)&view->start;
	view->room = (KERNEL_STACK_BYTES - view->key % KERNEL_STACK_BYTES) / 8;
	depth = view->key % KERNEL_STACK_BYTES;
	if (call_site)
		depth /= RANDOM_BYTES;
	view->key = hash_mix(call_site ^ (__u64)user << 56, depth);
	view->cnt = 0;
	view->expected = 0;
#pragma unroll
	for (__u32 way = 0; way < STACK_CACHE_WAYS; way++) {
		const struct cached_stack *entry = stack_cache__find(view->key, way);
		int known;

		if (!entry || entry->head.key != view->key)
			continue;
		known = stack_view__look_up(user, way);
		if (!known)
			continue;
		if (view->hits++ % STACK_CACHE_CHECKED == STACK_CACHE_CHECKED - 1)
			return false;
		buf->hash = view->expected;
		*note = known - 1;
		return true;
	}
	return false;
}

/* The stack has been walked: puts it into the cache. */
static __always_inline void stack__cache(struct stack_buffer *buf, __u32 user, __u32 level,
					 __u32 note)
{
	struct stack_view *view;

	count(MEMLEAK_STAT_WALKS, 1);
	if (!config.stack_cache || level != LEVEL_TASK || user >= STACK_SECOND)
		return;
	view = bpf_map_lookup_elem(&stack_views, &user);
	if (!view)
		return;
	if (view->expected) {
		count(MEMLEAK_STAT_CHECKED, 1);
		if (view->expected != buf->hash) {
			count(MEMLEAK_STAT_DISAGREED, 1);
			stack_cache__distrust(view->key);
			return;
		}
	}
	stack_view__cache(user, note);
}

#else

static __always_inline bool stack__look_up(void *ctx, struct stack_buffer *buf, __u32 user,
					   __u32 level, __u64 call_site, __u32 *note)
{
	return false;
}

static __always_inline void stack__cache(struct stack_buffer *buf, __u32 user, __u32 level,
					 __u32 note)
{
}

#endif
#endif
