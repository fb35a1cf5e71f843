/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the frames of scripts, which CPython keeps in memory: one native frame of its evaluation
 * loop stands for any number of calls in the script. The script frames are stored after the native
 * frames. The loader inserts those of each evaluation loop at its native frame.
 *
 * CPython's state of a thread (PyThreadState) points to the thread's script frames. The address of
 * the state is in thread-specific data. In CPython 3.11, this is always the thread's first state: a
 * thread has one for each interpreter that it runs. The running one is in a variable of CPython,
 * unless the thread has released the global interpreter lock. A state is ignored unless it contains
 * this thread's thread pointer.
 */
#ifndef BPF_USER_PROBES_SCRIPT_FRAMES_BPF_H
#define BPF_USER_PROBES_SCRIPT_FRAMES_BPF_H

#include "bpf/user_probes/thread.bpf.h"

/*
 * Layouts of CPython interpreters, filled in by the loader. The key is the image whose mappings a
 * walk uses.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct memleak_interpreter);
} interpreters SEC(".maps");

/* Number of code objects that processes with struct memleak_interpreter.counts_frees have freed. */
__u64 freed_code_cnt;

/*
 * Hashes of script frames with their cookies, by the same frames without cookies. Valid until a
 * code object is freed: then another may get its address. Written by all CPUs without locks: the
 * stored key is XORed with the hash, so a torn entry matches nothing.
 */
#define SCRIPT_CACHE_BITS 12

struct {
	__u64 key;
	__u64 hash;
} script_cache[1 << SCRIPT_CACHE_BITS];

static __always_inline __u64 script__word(const struct walk *walk, __u32 offset)
{
	return walk->script[(walk->script_at + offset / sizeof(__u64)) % SCRIPT_WORDS];
}

static __always_inline bool read_word(__u64 addr, __u64 *ret)
{
	return !bpf_probe_read_user(ret, sizeof(*ret), (void *)addr);
}

/* Reads the thread's state whose address is stored at `place`. False if there is none. */
static __always_inline bool walk__read_state(struct walk *walk,
					     const struct memleak_interpreter *interpreter,
					     __u64 thread, __u64 place)
{
	__u64 state;

	return place && read_word(place, &state) && state &&
	       !bpf_probe_read_user(walk->script, MEMLEAK_SCRIPT_STATE_BYTES, (void *)state) &&
	       script__word(walk, interpreter->thread) == thread;
}

static __always_inline bool walk__find_state(struct walk *walk,
					     const struct memleak_interpreter *interpreter)
{
	__u64 thread = arch_thread_pointer();
	struct {
		__u32 is_set;
		__u32 number;
	} key;

	if (walk__read_state(walk, interpreter, thread, interpreter->current))
		return true;
	return !bpf_probe_read_user(&key, sizeof(key), (void *)interpreter->key) && key.is_set &&
	       walk__read_state(walk, interpreter, thread, arch_thread_data(thread, key.number));
}

/* Finds the thread's innermost script frame. False if none is found. */
static __always_inline bool walk__find_scripts(struct walk *walk,
					       const struct memleak_interpreter *interpreter)
{
	__u64 frame;

	if (!walk__find_state(walk, interpreter))
		return false;
	frame = script__word(walk, interpreter->holder);
	if (interpreter->has_holder && (!frame || !read_word(frame + interpreter->held, &frame)))
		return false;
	walk->script_frame = frame;
	return frame;
}

/*
 * Returns a pointer to the first word of the script frame that was stored most recently (the code
 * object's address and the flags); NULL if no script frame is stored.
 */
static __always_inline __u64 *walk__last_script(struct walk *walk)
{
	__u32 at = walk->frame_cnt + 2 * walk->script_cnt - 2;

	barrier_var(at); /* for older verifiers, the variable that is tested must be the index */
	return walk->script_cnt && at < MEMLEAK_MAX_STACK_DEPTH ? &walk->stack.words[1 + at] : NULL;
}

/* Sets a flag in the script frame that was stored most recently. */
static __always_inline void walk__mark_script(struct walk *walk, __u64 mark)
{
	__u64 *last = walk__last_script(walk);

	if (!last)
		return;
	*last |= mark;
	walk->script_key = hash_mix(walk->script_key, mark);
}

static __always_inline bool read_cookie(const struct memleak_interpreter *interpreter, __u64 code,
					__u32 *ret)
{
	__u64 words[MEMLEAK_SCRIPT_COOKIE_WORDS], name_hash = 0;

	if (bpf_probe_read_user(words, sizeof(words), (void *)code + MEMLEAK_SCRIPT_COOKIE))
		return false;
	if (interpreter->hashes_names)
		read_word(words[MEMLEAK_SCRIPT_COOKIE_NAME] + MEMLEAK_SCRIPT_HASH, &name_hash);
	*ret = memleak_script_cookie(words, name_hash);
	return true;
}

/*
 * Makes the frame at `frame` the one that script__word() reads, and copies it with up to
 * SCRIPT_BELOW bytes below it, unless an earlier call has copied it. False if it cannot be read.
 */
static __always_inline bool walk__see_script(struct walk *walk, __u64 frame)
{
	__u64 below = frame % PAGE_BYTES & ~7ULL;

	if (frame - walk->script_start >= walk->script_places) {
		barrier_var(below); /* for older verifiers, as in walk__last_script() */
		if (below > SCRIPT_BELOW)
			below = SCRIPT_BELOW;
		walk->script_places = 0;
		if (bpf_probe_read_user(walk->script, below + MEMLEAK_SCRIPT_FRAME_BYTES,
					(void *)(frame - below)))
			return false;
		walk->script_start = frame - below;
		walk->script_places = below + 1;
	}
	walk->script_at = (frame - walk->script_start) / sizeof(__u64);
	return true;
}

/* Stores the frame that script__word() reads, without its cookie. False if there is no room. */
static __always_inline bool walk__keep_script(struct walk *walk,
					      const struct memleak_interpreter *interpreter)
{
	__u64 code = script__word(walk, interpreter->code) & ~MEMLEAK_SCRIPT_CODE_TAGS;
	__u32 instr = script__word(walk, interpreter->instr) - code;
	__u32 at = walk->frame_cnt + 2 * walk->script_cnt;

	barrier_var(at);
	if (walk->script_cnt >= MEMLEAK_SCRIPT_FRAMES_MAX || at + 2 > config.stack_depth ||
	    at >= MEMLEAK_MAX_STACK_DEPTH - 1)
		return false;
	walk->stack.words[1 + at] = code;
	walk->stack.words[2 + at] = instr;
	walk->script_key = hash_mix(hash_mix(walk->script_key, code), instr);
	walk->script_cnt++;
	return true;
}

/*
 * Stores the next script frame. True if the walk is over: there are no more frames, or the stack is
 * cut.
 */
static __always_inline bool walk__step_script(struct walk *walk,
					      const struct memleak_interpreter *interpreter)
{
	__u64 frame = walk->script_frame;
	__u32 border = interpreter->border;
	bool ends, empty;

	if (!frame)
		return true;
	if (!walk__see_script(walk, frame)) {
		walk__mark_script(walk, MEMLEAK_SCRIPT_CUT);
		return true;
	}
	ends = (__u8)(script__word(walk, border) >> border % sizeof(__u64) * 8) ==
	       interpreter->border_value;
	empty = ends && interpreter->border_is_empty;
	if (!empty && !walk__keep_script(walk, interpreter)) {
		walk__mark_script(walk, MEMLEAK_SCRIPT_CUT);
		return true;
	}
	if (ends)
		walk__mark_script(walk, MEMLEAK_SCRIPT_BORDER);
	walk->script_frame = script__word(walk, interpreter->previous);
	return false;
}

/* Number of script frames that script_steps() stores; one call for each frame would cost more. */
#define SCRIPT_STEPS 4

/* Stores the next script frames of a walk. Returns 1 if the walk is over. */
__noinline int script_steps(__u32 entry)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &entry);

	if (!walk)
		return 1;
#pragma unroll
	for (int i = 0; i < SCRIPT_STEPS; i++)
		if (walk__step_script(walk, &walk->layout))
			return 1;
	return 0;
}

/*
 * Adds its cookie to the stored script frame number `i`, and the frame to walk->script_hash. False
 * if there is no such frame; if the code object cannot be read, the stack is cut before the frame.
 */
static __always_inline bool walk__identify(struct walk *walk, __u32 i)
{
	__u32 at = walk->frame_cnt + 2 * i, cookie;
	__u64 code, word;

	barrier_var(at);
	if (i >= walk->script_cnt || at >= MEMLEAK_MAX_STACK_DEPTH - 1)
		return false;
	code = walk->stack.words[1 + at];
	if (!read_cookie(&walk->layout, code & ~(MEMLEAK_SCRIPT_BORDER | MEMLEAK_SCRIPT_CUT),
			 &cookie)) {
		walk->script_cnt = i;
		walk__mark_script(walk, MEMLEAK_SCRIPT_CUT);
		walk->script_hash = hash_mix(walk->script_hash, MEMLEAK_SCRIPT_CUT);
		return false;
	}
	word = walk->stack.words[2 + at] | (__u64)cookie << 32;
	walk->stack.words[2 + at] = word;
	walk->script_hash = hash_mix(hash_mix(walk->script_hash, code), word);
	return true;
}

/* Identifies a script frame of a walk. Returns 1 if there are no more. */
__noinline int script_identify(__u32 entry, __u32 i)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &entry);

	return !walk || !walk__identify(walk, i);
}

/*
 * Stores the cookies of the stored script frames, which walk__step_script() has not read, and
 * computes their hash.
 */
__noinline int scripts_identify(__u32 entry)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &entry);

	if (!walk)
		return 0;
	walk->script_hash = 0;
	for (__u32 i = 0; i < MEMLEAK_SCRIPT_FRAMES_MAX; i++)
		if (script_identify(entry, i))
			break;
	return 0;
}

__noinline int script_begin(__u32 entry)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &entry);
	const struct memleak_interpreter *interpreter;
	__u32 image;

	if (!walk)
		return 0;
	image = walk->space;
	interpreter = bpf_map_lookup_elem(&interpreters, &image);
	if (!interpreter)
		return 0;
	walk->layout = *interpreter;
	walk->script_key = hash_mix(hash_mix(0, walk->image), freed_code_cnt);
	walk->script_cnt = 0;
	walk->script_places = 0;
	walk->script_at = 0;
	return walk__find_scripts(walk, interpreter);
}

/*
 * Drops outer native frames so that script frames get at least a quarter of the stack: the
 * innermost ones are more informative.
 */
static __always_inline void walk__make_room(struct walk *walk)
{
	struct memleak_stack *header = (void *)&walk->stack.words[0];
	__u32 most = config.stack_depth - config.stack_depth / 4;

	if (walk->frame_cnt <= most)
		return;
	walk->frame_cnt = most;
	header->frame_cnt = most;
	header->end = UNWIND_END_TRUNCATED;
}

static __always_inline __u32 walk__script_place(const struct walk *walk)
{
	return walk->script_key >> (64 - SCRIPT_CACHE_BITS);
}

/*
 * True if all code objects that the process frees are counted. False for a child that uses the
 * mappings of its parent: it may not be probed yet.
 */
static __always_inline bool walk__counts_frees(const struct walk *walk)
{
	return walk->layout.counts_frees && !walk->layout.misses_frees &&
	       walk->space == walk->image;
}

/* Sets walk->script_hash to the hash in the cache. False if these script frames are not in it. */
static __always_inline bool walk__recall_scripts(struct walk *walk)
{
	__u32 at = walk__script_place(walk);
	__u64 hash = script_cache[at].hash;

	barrier_var(hash); /* the entry must be read only once */
	if (!walk__counts_frees(walk) || (script_cache[at].key ^ hash) != walk->script_key)
		return false;
	walk->script_hash = hash;
	return true;
}

/* Ends the use of the cache for the image of a walk. */
static __always_inline void walk__distrust_cache(const struct walk *walk)
{
	__u32 image = walk->space;
	struct memleak_interpreter *interpreter = bpf_map_lookup_elem(&interpreters, &image);

	if (interpreter)
		interpreter->misses_frees = 1;
	count(MEMLEAK_STAT_DISAGREED, 1);
}

/*
 * Adds the script frames to the cache. If it has another hash for them, it is not used for this
 * image again.
 */
static __always_inline void walk__remember_scripts(struct walk *walk)
{
	__u32 at = walk__script_place(walk);
	__u64 hash = script_cache[at].hash;

	if (!walk__counts_frees(walk))
		return;
	if ((script_cache[at].key ^ hash) == walk->script_key && hash != walk->script_hash)
		walk__distrust_cache(walk);
	script_cache[at].hash = walk->script_hash;
	script_cache[at].key = walk->script_key ^ walk->script_hash;
}

/*
 * Reads the frames of scripts. Adds them to the hash of the stack, unless the stack is deferred.
 * hash_only: the stack will not be stored, so its frames may lack their cookies.
 */
static __always_inline void walk__take_scripts(struct walk *walk, __u32 entry, bool deferred,
					       bool hash_only)
{
	__u32 cnt;

	walk->script_cnt = 0;
	if (!script_begin(entry))
		return;
	walk__make_room(walk);
	for (int i = 0; i < MEMLEAK_SCRIPT_STEPS_MAX; i += SCRIPT_STEPS)
		if (script_steps(entry))
			break;
	cnt = walk->script_cnt;
	if (!hash_only || !walk__recall_scripts(walk)) {
		scripts_identify(entry);
		if (cnt == walk->script_cnt)
			walk__remember_scripts(walk);
	}
	if (!walk->script_cnt || deferred)
		return;
	walk->stack.hash = hash_mix(walk->native_hash, walk->script_hash);
	if (!walk->stack.hash)
		walk->stack.hash = 1;
}

#endif
