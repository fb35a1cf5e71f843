/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks up kernel stacks in the stack cache. The context of a raw tracepoint's program lies on the
 * stack, and all frames of interest are at higher addresses.
 *
 * The kernel does not reveal which words a walk has read, so these words are found by searching the
 * stack for the return addresses in the walk's result. A word that is found may be left over from
 * an earlier call; if the same return address occurs again before the next return address is found,
 * the cache entry depends on both words. The size of a frame follows from its return address,
 * except in the few functions that find their caller by a saved register. So a stack is mistaken
 * for a cached one only if one return address differs, a copy of the cached return address is left
 * over below it, and all other words are equal. Therefore some recognised stacks are walked as a
 * check; if a walk gives another stack, no stack with this key is cached any more.
 *
 * Only stacks of tasks are cached: the frames of an interrupt are on another stack, or they end
 * somewhere within a task's stack.
 */
#ifndef BPF_KERNEL_TP_STACK_CACHE_BPF_H
#define BPF_KERNEL_TP_STACK_CACHE_BPF_H

#include "bpf/kernel_tp/stack.bpf.h"

#ifdef MEMLEAK_STACK_CACHE

#include "bpf/stack_cache.bpf.h"

/* Size and alignment of kernel stacks in bytes, on every supported architecture */
#define KERNEL_STACK_BYTES 16384

/* Maximum number of words searched for the frames of a walk */
#define SEARCHED_WORDS 512

/*
 * Maximum random offset, in bytes, that the kernel adds to the stack of a system call. A cache key
 * contains the caller and the stack's depth in these units, or the exact depth if the caller is
 * unknown.
 */
#define RANDOM_BYTES 1024

/* Words of the context that are not searched: arguments, which may be return addresses */
#define ARGUMENT_WORDS 6

/* Number of words searched for the return address of the first frame */
#define FIRST_WORDS 32

/* Maximum number of frames below the context; all of them are frames of tracing */
#define LOWER_FRAMES 4

/* A stack to be looked up in the cache or added to it. */
struct stack_view {
	__u64 start; /* address of the context, the first word used */
	__u64 key;
	__u64 expected; /* hash of the recognised stack; 0 if none was recognised */
	__u64 lower;    /* number of frames below `start` */
	__u64 found;    /* number of frames found, including the `lower` frames */
	__u32 hits;     /* number of times a stack was recognised */
	__u32 room;     /* number of words from `start` to the end of the stack */
	__u32 cnt;      /* number of words copied so far */
	struct stack_words depends;
	__u64 words[STACK_CACHE_STACK_WORDS];
};

/*
 * A view for the first program of each pair. Second programs do not use the cache: they handle few
 * events.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_SECOND);
	__type(key, __u32);
	__type(value, struct stack_view);
} stack_views SEC(".maps");

/* Copies the first cnt words of the stack. False if the stack is shorter, or cannot be read. */
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
 * The return address of the outermost frame is located by its distance from the end of the stack.
 * Its distance from the start is not constant: on entry to a system call, the kernel moves the
 * stack pointer by a random offset, so a gap of random size precedes this return address. It is
 * stored in the last element of view->words.
 */
#define OUTERMOST (STACK_CACHE_STACK_WORDS - 1)
#define END_WORDS 64 /* words searched at the stack's end, below the user registers */
#define NOTE_OUTERMOST(note) ((note) >> 1)

static __always_inline bool view__see_outermost(struct stack_view *view, __u32 from_end)
{
	if (!from_end || from_end > view->room)
		return false;
	return !bpf_probe_read_kernel(&view->words[OUTERMOST], sizeof(__u64),
				      (void *)(view->start + (view->room - from_end) * 8ULL));
}

/*
 * Compares the stack with a cache entry. Returns 0 if they differ, else 1 plus the lowest bit of
 * the entry's note. Not inlined, so that the verifier checks this function once and not in every
 * program.
 */
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
 * Checks one word of the stack. The entry will depend on the word if it is the return address of
 * the next frame, or again the return address of the frame that was found last. Repetitions just
 * before the outermost frame are left out: the random offset of the system call lies there, and it
 * is full of left-over words.
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

/*
 * Returns the number of frames below the context: the index of the first frame whose return address
 * is found above the context.
 */
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

/*
 * Returns the distance of a word from the end of the stack, in words; 0 if the word is not among
 * the last END_WORDS words, or if these cannot be read. Overwrites view->words.
 */
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
 * Adds the stack to the cache. The outermost return address is searched for again, from the end of
 * the stack, because the word found before may be a left-over in the random offset.
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

/* Number of words that stack_view__search() checks */
#define SEARCH_STEP 16

/*
 * Searches SEARCH_STEP words, beginning `from` words after the arguments, for the return addresses
 * of frames above the context.
 */
__noinline int stack_view__search(__u32 user, __u32 from)
{
	struct stack_view *view = bpf_map_lookup_elem(&stack_views, &user);
	struct stack_buffer *buf = stack__buffer(user, LEVEL_TASK);
	const struct memleak_stack *header;

	if (!view || !buf)
		return 0;
	header = (void *)&buf->words[0];
	from &= SEARCHED_WORDS - SEARCH_STEP; /* bounds the index for the verifier */
	barrier_var(from);
	from += ARGUMENT_WORDS;
	for (__u32 i = 0; i < SEARCH_STEP && from + i < view->cnt; i++)
		view__search(view, buf, header->frame_cnt, from + i);
	return 0;
}

/*
 * Adds a walked stack, reduced by trim_stack(), to the cache. Its frames are in the buffer of
 * `user`.
 */
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
	for (__u32 from = 0; from < SEARCHED_WORDS && from < view->cnt; from += SEARCH_STEP)
		stack_view__search(user, from);
	if (view->found == frame_cnt)
		view__learn(view, buf, frame_cnt, note);
	return 0;
}

/*
 * True if the stack is in the cache; then sets *note and buf->hash, but not the frames in the
 * buffer. False for one in STACK_CACHE_CHECKED recognised stacks, so that the caller walks it as a
 * check.
 */
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
	/*
	 * The address is read from memory, because the verifier forbids arithmetic on the pointer.
	 */
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

/*
 * Adds a walked stack to the cache. If the stack was walked as a check, compares it with the cache
 * first.
 */
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
