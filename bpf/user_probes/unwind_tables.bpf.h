/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lookups made by a stack walk: words of the stack, and the unwind rule for an address
 * (bpf/unwind.h). The state of a search is computed without branches or kept in memory, where
 * verifiers do not track it. Otherwise each comparison would double the number of paths to verify.
 */
#ifndef BPF_USER_PROBES_UNWIND_TABLES_BPF_H
#define BPF_USER_PROBES_UNWIND_TABLES_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/stack_cache.bpf.h"

/* Bytes of the stack read at once: reading 2 KiB costs little more than reading 8 bytes. */
#define WINDOW_BYTES 2048
/*
 * Bytes from the start of the window to the word to be read. But the window starts at the stack
 * pointer unless the word would be outside or in its last WINDOW_LEAD bytes.
 */
#define WINDOW_LEAD 64
#define PAGE_BYTES 4096

/* The arenas of unwind tables; see loader/stacks/arena.h. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, UNWIND_ARENAS_MAX);
	__type(key, __u32);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(map_flags, BPF_F_INNER_MAP);
			__uint(max_entries, 1);
			__uint(key_size, sizeof(__u32));
			__uint(value_size, UNWIND_PAGE_WORDS * sizeof(__u32));
		});
} unwind_arenas SEC(".maps");

/* The mappings of every image; the key is the image. See loader/stacks/unwind_spaces.h. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(map_flags, BPF_F_INNER_MAP);
			__uint(max_entries, 1);
			__uint(key_size, sizeof(__u32));
			__uint(value_size, sizeof(union unwind_space_entry));
		});
} unwind_spaces SEC(".maps");

/*
 * Caches the rules of recently used addresses, because return addresses recur. Written by all CPUs
 * without locks: the stored key is XORed with a checksum of the other fields, so a torn entry
 * matches nothing.
 */
#define RULE_CACHE_BITS 12

struct {
	__u64 key;
	__u64 rule;
	__u64 to_frame; /* `to_frame` of the address's struct unwind_mapping */
	__u64 permanent;
} rule_cache[1 << RULE_CACHE_BITS];

/*
 * Size, in words, of the buffer for an interpreter's thread state or frames; a power of two.
 * CPython places most frames of a thread directly above those of their callers, so a few reads copy
 * all of them. A generator's frame is elsewhere.
 */
#define SCRIPT_WORDS 256
/* Maximum bytes below a frame that are copied with it. */
#define SCRIPT_BELOW (SCRIPT_WORDS * sizeof(__u64) - MEMLEAK_SCRIPT_FRAME_BYTES)

struct walk {
	__u64 users; /* number of programs that use or try to reserve this entry: walk__take() */
	__u32 entry; /* index of this entry in the map `walks` */
	struct stack_buffer stack; /* the frames; words[0] is the header */
	struct unwind_regs regs;
	__u64 slot;       /* stack address of the call that returns to pc; 0 if unknown */
	__u32 generation; /* generation of the mappings; 0 if they are unknown */
	__u64 mappings;   /* hash of `generation`, for cache keys */
	__u64 to_frame;   /* to_frame of the mapping looked up most recently */
	__u64 permanent;
	__u32 unloads; /* the process's current unload count */
	__u32 known_unloads;
	__u32 doubtful;   /* if set, only frames in permanent mappings are stored as file offsets */
	__u32 unresolved; /* true if a frame was stored as an address because `doubtful` is set */
	__u64 word;       /* word read by walk__read() */
	__u64 found;      /* current position in a binary search */
	__u32 image;
	__u32 space; /* image whose mappings the walk uses */
	__u32 frame_cnt;
	__u32 end;      /* enum unwind_end */
	__u32 exact;    /* true if pc is no return address, e.g. after a signal */
	__u32 guessed;  /* true if pc was found by a frame pointer and may be wrong */
	__u64 unknown;  /* most recent pc outside all known mappings; 0 if none */
	__u64 deferred; /* random key of a deferred stack; 0 if it is not deferred */
	__u32 followed; /* true if a frame pointer was followed in unknown code */
	__u32 repaired;
	__u64 called; /* an address in the function that the function at pc has called */
	__u32 unsure; /* true if one of the frames walked so far may be wrong */
	/* stack pointer of the code that a signal interrupted; 0 if there is no signal frame */
	__u64 interrupted;
	struct unwind_mapping here; /* mapping looked up most recently */
	__u64 origin;               /* the walk's first stack pointer */
	__u64 key;
	__u64 expected; /* the stack's hash in the cache, if the walk is a check; else 0 */
	__u32 note;     /* note stored with the stack: see walk__cache() */
	__u64 fp_place; /* place of the word from which regs.fp was read */
	struct stack_words depends;
	__u64 window_start;
	__u64 window_bytes;
	struct arch_syscall
		syscall;   /* --fds: registers at the system call, where the walk begins */
	__u32 interpreter; /* true if the process runs scripts, whose frames are read */
	/* the interpreter's layout: copied because each script frame needs it */
	struct memleak_interpreter layout;
	__u32 script_cnt;           /* number of script frames stored after the native frames */
	__u64 script_frame;         /* address of the next script frame; 0 if there is none */
	__u64 script_hash;          /* hash of the script frames */
	__u64 script_key;           /* hash of the script frames without their cookies */
	__u64 native_hash;          /* hash of the stack without script frames */
	__u64 script[SCRIPT_WORDS]; /* copy of a thread state or of frames */
	__u32 script_at;            /* index in `script` of the thread state or frame in use */
	__u64 script_start;         /* address of the copied frames */
	__u64 script_places;        /* number of addresses from there at which a frame is copied */
	__u64 caller;               /* word below the window, if it begins at `origin` */
	/*
	 * Copy of a part of the stack, with room for all words that a cache entry compares; a walk
	 * copies fewer words at a time.
	 */
	__u64 window[STACK_CACHE_STACK_WORDS];
};

/*
 * Working memory of walks. Each CPU has several entries: a program of another thread can preempt a
 * program during its walk, and then uses the next entry.
 */
#define WALKS_AT_ONCE 8

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WALKS_AT_ONCE);
	__type(key, __u32);
	__type(value, struct walk);
} walks SEC(".maps");

/* Place number of the frame pointer register, as if the register were on the stack. */
#define FP_REGISTER_PLACE (STACK_CACHE_STACK_WORDS - 1)

/*
 * Copies the stack around addr into the window. Near the upper end of the stack, copies only up to
 * the end of a page. Returns false if addr cannot be read.
 */
static __always_inline bool walk__fill_window(struct walk *walk, __u64 addr)
{
	__u64 start = walk->regs.sp & ~7ULL, len = WINDOW_BYTES;

	if (addr - start >= WINDOW_BYTES - WINDOW_LEAD)
		start = addr - WINDOW_LEAD;
	walk->window_bytes = 0;
	if (bpf_probe_read_user(walk->window, WINDOW_BYTES, (void *)start)) {
		len = PAGE_BYTES - start % PAGE_BYTES;
		if (len > WINDOW_BYTES)
			return false;
		if (bpf_probe_read_user(walk->window, len, (void *)start))
			return false;
	}
	walk->window_start = start;
	walk->window_bytes = len;
	return addr - start < len;
}

/* Reads a word of the stack into walk->word. */
static __always_inline bool walk__read(struct walk *walk, __u64 addr)
{
	if (addr & 7)
		return false;
	if (addr - walk->window_start >= walk->window_bytes && !walk__fill_window(walk, addr))
		return false;
	walk->word = walk->window[(addr - walk->window_start) / 8 % STACK_CACHE_STACK_WORDS];
	return true;
}

/* Returns the place of the word at addr: its distance from the walk's origin in words. */
static __always_inline __u64 walk__place(const struct walk *walk, __u64 addr)
{
	return (addr - walk->origin) / 8;
}

/*
 * Adds a word to the words that the walk depends on. If `relative` is set, the word points into the
 * stack and is stored as a distance.
 */
static __always_inline void walk__depend_on(struct walk *walk, __u64 place, __u64 relative,
					    __u64 value)
{
	__u64 end = (place & mask_if_less(place, FP_REGISTER_PLACE)) + 1;
	__u64 start = relative ? walk->origin : 0;

	walk->depends.not_fitting |= ~mask_if_less(place, STACK_CACHE_STACK_WORDS);
	walk->depends.end += (end - walk->depends.end) & mask_if_less(walk->depends.end, end);
	stack_words__add(&walk->depends, place | relative, value - start);
}

/* Adds the word that was just read from addr to the words that the walk depends on. */
static __always_inline void walk__depend(struct walk *walk, __u64 addr, __u64 relative)
{
	__u64 place = walk__place(walk, addr);

	walk->depends.not_fitting |= ~mask_if_less(place, FP_REGISTER_PLACE);
	walk__depend_on(walk, place, relative, walk->word);
}

/*
 * Adds the value of the frame pointer to the words that the walk depends on. Called only where the
 * frame pointer is used: most frame pointers are only saved and restored.
 */
static __always_inline void walk__depend_fp(struct walk *walk)
{
	walk__depend_on(walk, walk->fp_place, STACK_CACHE_RELATIVE, walk->regs.fp);
}

/* Sets the caller's frame pointer to the word just read from addr. */
static __always_inline void walk__restore_fp(struct walk *walk, __u64 addr)
{
	__u64 place = walk__place(walk, addr);

	walk->regs.fp = walk->word;
	/* Skip the number FP_REGISTER_PLACE, which stands for the register. */
	walk->fp_place = place - ~mask_if_less(place, FP_REGISTER_PLACE);
}

static __always_inline bool mapping__holds(const struct unwind_mapping *mapping, __u64 addr)
{
	return addr - mapping->start < mapping->end - mapping->start;
}

/*
 * Finds the highest mapping that begins at or below addr. Returns false if this mapping does not
 * contain addr.
 */
static __always_inline bool walk__search_mapping(struct walk *walk, __u64 addr)
{
	__u32 at = walk->space, i = 0; /* older verifiers require keys on the BPF stack */
	void *space = bpf_map_lookup_elem(&unwind_spaces, &at);
	const union unwind_space_entry *entry;
	__u64 cnt;

	if (!space)
		return false;
	entry = bpf_map_lookup_elem(space, &i);
	if (!entry)
		return false;
	cnt = entry->space.mapping_cnt;
	walk->found = 0;
	/*
	 * Mappings are numbered from 1. The search takes as many steps as UNWIND_MAPPINGS_MAX has
	 * bits.
	 */
	for (__u64 step = (UNWIND_MAPPINGS_MAX + 1) / 2; step; step /= 2) {
		__u64 fits;

		if (step > cnt)
			continue;
		fits = mask_if_less(walk->found + step, cnt + 1);
		i = (walk->found + step) & fits;
		entry = bpf_map_lookup_elem(space, &i);
		if (!entry)
			return false;
		walk->found += step & fits & mask_if_less(entry->mapping.start, addr + 1);
	}
	i = walk->found;
	entry = bpf_map_lookup_elem(space, &i);
	if (!i || !entry)
		return false;
	walk->here = entry->mapping;
	return mapping__holds(&walk->here, addr);
}

/* Not static, so that the verifier checks the search only once, not at each use. */
__noinline int walk_find_mapping(__u32 entry, __u64 addr)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &entry);

	return walk && walk__search_mapping(walk, addr);
}

/* Returns the arena page that contains word number `word` of the table of walk->here. */
static __always_inline const __u32 *walk__page(struct walk *walk, void *arena, __u64 word)
{
	__u32 page = walk->here.page + word / UNWIND_PAGE_WORDS;

	return bpf_map_lookup_elem(arena, &page);
}

/* Returns the unwind rule for addr, which is in walk->here; NO_ROW (0) if there is none. */
static __always_inline __u64 walk__search_rule(struct walk *walk, __u64 addr)
{
	__u64 offset = addr - walk->here.base, granule = offset >> UNWIND_GRANULE_BITS;
	__u64 low = offset % UNWIND_GRANULE_BYTES, cnt, row, rule;
	__u32 entry, at = walk->here.arena;
	const __u32 *page;
	void *arena;

	if (granule >= walk->here.granule_cnt)
		return 0;
	arena = bpf_map_lookup_elem(&unwind_arenas, &at);
	if (!arena)
		return 0;
	granule += walk->here.index;
	page = walk__page(walk, arena, granule);
	if (!page)
		return 0;
	entry = page[granule % UNWIND_PAGE_WORDS];
	row = UNWIND_INDEX_POSITION(entry);
	cnt = UNWIND_INDEX_COUNT(entry);
	page = walk__page(walk, arena, row);
	if (!page)
		return 0;
	walk->found = 0;
	for (__u64 step = (UNWIND_GRANULE_ROWS_MAX + 1) / 2; step; step /= 2) {
		__u64 next = walk->found + step;

		if (step >= cnt)
			continue;
		walk->found += step & mask_if_less(next, cnt) &
			       mask_if_less(UNWIND_ROW_LOW(page[(row + next) % UNWIND_PAGE_WORDS]),
					    low + 1);
	}
	rule = 2 * UNWIND_ROW_RULE(page[(row + walk->found) % UNWIND_PAGE_WORDS]);
	page = walk__page(walk, arena, rule);
	return page ? *(const __u64 *)&page[rule % UNWIND_PAGE_WORDS] : 0;
}

__noinline __u64 walk_find_rule(__u32 entry, __u64 addr)
{
	struct walk *walk = bpf_map_lookup_elem(&walks, &entry);

	return walk ? walk__search_rule(walk, addr) : 0;
}

static __always_inline __u64 rule_cache__check(__u64 rule, __u64 to_frame, __u64 permanent)
{
	return hash_mix(rule, to_frame) ^ permanent;
}

static __always_inline bool rule_cache__get(struct walk *walk, __u32 at, __u64 key, __u64 *rule)
{
	*rule = rule_cache[at].rule;
	walk->to_frame = rule_cache[at].to_frame;
	walk->permanent = rule_cache[at].permanent;
	return (rule_cache[at].key ^ rule_cache__check(*rule, walk->to_frame, walk->permanent)) ==
	       key;
}

/* Finds the rule for addr. False if addr is in no known executable mapping. */
static __always_inline bool walk__rule(struct walk *walk, __u64 addr, __u64 *rule)
{
	__u64 key = addr ^ walk->mappings;
	__u32 at = (key * 0x9e3779b97f4a7c15ULL) >> (64 - RULE_CACHE_BITS);

	if (!walk->generation)
		return false;
	if (rule_cache__get(walk, at, key, rule))
		return true;
	if (!mapping__holds(&walk->here, addr) && !walk_find_mapping(walk->entry, addr))
		return false;
	*rule = config.unwind == MEMLEAK_UNWIND_FP ? 0 : walk_find_rule(walk->entry, addr);
	walk->to_frame = walk->here.to_frame;
	walk->permanent = walk->here.permanent;
	rule_cache[at].rule = *rule;
	rule_cache[at].to_frame = walk->to_frame;
	rule_cache[at].permanent = walk->permanent;
	rule_cache[at].key = key ^ rule_cache__check(*rule, walk->to_frame, walk->permanent);
	return true;
}

/*
 * The mappings that a thread's walks use. They are looked up again when any mappings change. A
 * child uses its parent's mappings until its own mappings have been read.
 */
struct known_space {
	__u32 base;       /* image whose mappings the process began with; 0 if there is none */
	__u32 image;      /* image whose mappings the walks use */
	__u32 stamp;      /* value of spaces_stamp when the mappings were looked up */
	__u32 generation; /* generation of the mappings; 0 if they are unknown */
	__u32 unloads;
	__u32 interpreter;
};

/* Incremented by the loader after each change of unwind_spaces. */
volatile __u32 spaces_stamp = 1;

static __always_inline const struct unwind_space *space__find(__u32 image)
{
	void *space = bpf_map_lookup_elem(&unwind_spaces, &image);
	__u32 zero = 0;

	return space ? bpf_map_lookup_elem(space, &zero) : NULL;
}

static __always_inline void known_space__look(struct known_space *known, __u32 image)
{
	const struct unwind_space *space = space__find(image);

	known->image = image;
	if (!space && known->base) {
		known->image = known->base;
		space = space__find(known->base);
	}
	known->generation = space ? space->generation : 0;
	known->unloads = space ? space->unloads : 0;
	known->interpreter = space ? space->interpreter : 0;
}

#endif
