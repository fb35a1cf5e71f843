/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks a user stack by unwind tables (bpf/unwind.h), one frame at a time. Where code has no table
 * (made at run time, or assembly that says nothing of itself) the frame pointer is followed.
 *
 * Verifiers see walk_step as a function of its own and follow it once, not once for each frame:
 * so the whole walk needs neither loops by helper nor tail calls. What steers a search (how far
 * it has come) is computed without branches or kept in memory, where verifiers do not follow it:
 * else each comparison would double the paths that they look at.
 */
#ifndef UNWIND_BPF_H
#define UNWIND_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/remembered.bpf.h"

/* Stack memory that is read at once: one read costs little more for 2 KB than for 8 bytes. */
#define WINDOW_BYTES 2048
/* Taken along below the wanted word, if it lies far from the frame that asks for it. */
#define WINDOW_LEAD 64
#define PAGE_BYTES 4096

/* A frame pointer farther away from the stack pointer is no frame pointer. */
#define FRAME_BYTES_MAX (1ULL << 20)

/* What the first function of a program keeps of the stack. */
#define START_BYTES 256

/* Code this near to other code is taken for the same library's. */
#define SAME_LIBRARY (1U << 20)

/* Tells of unknown code no more often. */
#define CODE_TOLD_NS 100000000ULL

/* Pending return probes that are looked at to find the one of a frame. */
#define RETURN_PROBES_MAX 64

/* An array for each batch of tables; see loader/user_tables.c. */
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

/* What each process has mapped; the key is the tgid. */
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
 * Rules of addresses met lately: the same return addresses come again and again. Written by all
 * CPUs without a lock: the key is stored xor the rest, so a torn entry fits nothing.
 */
#define RULE_CACHE_BITS 12

struct {
	__u64 key;
	__u64 rule;
	__u64 to_frame; /* of the mapping */
	__u64 permanent;
} rule_cache[1 << RULE_CACHE_BITS];

struct walk {
	struct stack_buffer stack; /* the frames; words[0] is the header */
	struct unwind_regs regs;
	__u64 slot;       /* of the call that returns to pc; 0: not known */
	__u64 generation; /* of the process's mappings; 0: there are none to be used */
	__u64 to_frame;   /* of the mapping that was met last */
	__u64 permanent;
	__u32 unloads; /* of the process, now and when the mappings were read */
	__u32 known_unloads;
	__u32 doubtful;  /* frames outside permanent mappings stay addresses */
	__u32 unsettled; /* such a frame was met */
	__u64 word;      /* what walk__read has read */
	__u64 found;     /* position of a search */
	__u32 tgid;
	__u32 image;
	__u32 frame_cnt;
	__u32 end;     /* enum unwind_end */
	__u32 exact;   /* pc was interrupted, and does not follow a call */
	__u32 guessed; /* pc was found by a frame pointer: there may have been none */
	__u64 unknown; /* code that was met, but is in no mapping that is known; 0: none */
	__u32 repaired;
	__u64 interrupted;          /* the stack pointer where a signal came; 0: none did */
	struct unwind_mapping here; /* of the last lookup */
	__u64 origin; /* the stack pointer that the walk began with, and the key of that place */
	__u64 key;
	__u64 recalled; /* the stack's hash, if it is walked as a check */
	__u64 fp_place; /* of the word that regs.fp came from */
	struct stack_words depends;
	__u64 window_start;
	__u64 window_bytes;
	/* As much as can be remembered; a walk reads less at once. */
	__u64 window[REMEMBERED_STACK_WORDS];
};

/* Where the frame pointer's register stands, as if it were on the stack. */
#define FP_REGISTER_PLACE (REMEMBERED_STACK_WORDS - 1)

/* Copies the stack around addr; near the stack's upper end only up to the end of a page. */
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
	walk->word = walk->window[(addr - walk->window_start) / 8 % REMEMBERED_STACK_WORDS];
	return true;
}

/* Where the word at addr lies, in words from the walk's beginning. */
static __always_inline __u64 walk__place(const struct walk *walk, __u64 addr)
{
	return (addr - walk->origin) / 8;
}

/* The walk depends on a word; one that points into the stack is known by its distance. */
static __always_inline void walk__depend_on(struct walk *walk, __u64 place, __u64 relative,
					    __u64 value)
{
	__u64 end = (place & mask_if_less(place, FP_REGISTER_PLACE)) + 1;
	__u64 start = relative ? walk->origin : 0;

	walk->depends.not_fitting |= ~mask_if_less(place, REMEMBERED_STACK_WORDS);
	walk->depends.end += (end - walk->depends.end) & mask_if_less(walk->depends.end, end);
	stack_words__add(&walk->depends, place | relative, value - start);
}

/* On the word that was just read from addr. */
static __always_inline void walk__depend(struct walk *walk, __u64 addr, __u64 relative)
{
	__u64 place = walk__place(walk, addr);

	walk->depends.not_fitting |= ~mask_if_less(place, FP_REGISTER_PLACE);
	walk__depend_on(walk, place, relative, walk->word);
}

/* On where the frame pointer points to: most are saved and restored without being looked at. */
static __always_inline void walk__depend_fp(struct walk *walk)
{
	walk__depend_on(walk, walk->fp_place, REMEMBERED_RELATIVE, walk->regs.fp);
}

/* The caller's frame pointer is the word that was just read from addr. */
static __always_inline void walk__restore_fp(struct walk *walk, __u64 addr)
{
	__u64 place = walk__place(walk, addr);

	walk->regs.fp = walk->word;
	/* No word of the stack has the register's place. */
	walk->fp_place = place - ~mask_if_less(place, FP_REGISTER_PLACE);
}

static __always_inline bool mapping__holds(const struct unwind_mapping *mapping, __u64 addr)
{
	return addr - mapping->start < mapping->end - mapping->start;
}

/* The last mapping that begins at or below addr; whether it reaches addr. */
static __always_inline bool walk__find_mapping(struct walk *walk, __u64 addr)
{
	__u32 tgid = walk->tgid, i = 0; /* keys lie on the stack: older verifiers want them there */
	void *space = bpf_map_lookup_elem(&unwind_spaces, &tgid);
	const union unwind_space_entry *entry;
	__u64 cnt;

	if (!space)
		return false;
	entry = bpf_map_lookup_elem(space, &i);
	if (!entry || entry->space.image != walk->image)
		return false;
	cnt = entry->space.mapping_cnt;
	walk->found = 0;
	/* Mappings have the numbers from 1 on: as many steps as UNWIND_MAPPINGS_MAX has bits. */
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

/* The page of the table that has a word. */
static __always_inline const __u32 *walk__page(struct walk *walk, void *arena, __u64 word)
{
	__u32 page = walk->here.page + word / UNWIND_PAGE_WORDS;

	return bpf_map_lookup_elem(arena, &page);
}

/* The rule of the code at addr, which walk->here maps; 0, that is NO_ROW, if there is none. */
static __always_inline __u64 walk__find_rule(struct walk *walk, __u64 addr)
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

/* False: addr is no executable memory that is known. */
static __always_inline bool walk__rule(struct walk *walk, __u64 addr, __u64 *rule)
{
	__u64 key = addr ^ walk->generation << 48;
	__u32 at = (key * 0x9e3779b97f4a7c15ULL) >> (64 - RULE_CACHE_BITS);

	if (!walk->generation)
		return false;
	if (rule_cache__get(walk, at, key, rule))
		return true;
	if (!mapping__holds(&walk->here, addr) && !walk__find_mapping(walk, addr))
		return false;
	*rule = config.unwind == MEMLEAK_UNWIND_FP ? 0 : walk__find_rule(walk, addr);
	walk->to_frame = walk->here.to_frame;
	walk->permanent = walk->here.permanent;
	rule_cache[at].rule = *rule;
	rule_cache[at].to_frame = walk->to_frame;
	rule_cache[at].permanent = walk->permanent;
	rule_cache[at].key = key ^ rule_cache__check(*rule, walk->to_frame, walk->permanent);
	return true;
}

/*
 * A pending return probe, ours or anybody's, has put the address of its trampoline where the
 * return address was; the kernel keeps that one with the slot of the call.
 */
static __always_inline bool walk__repair(struct walk *walk)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct return_instance *call;

	if (!walk->slot || !bpf_core_field_exists(struct return_instance, orig_ret_vaddr))
		return false;
	call = BPF_CORE_READ(task, utask, return_instances);
	for (int i = 0; i < RETURN_PROBES_MAX && call; i++) {
		if (BPF_CORE_READ(call, stack) == walk->slot) {
			walk->regs.pc = BPF_CORE_READ(call, orig_ret_vaddr);
			walk->slot = 0;
			walk->repaired++;
			walk->depends.not_fitting = 1;
			return true;
		}
		call = BPF_CORE_READ(call, next);
	}
	return false;
}

/* True, for convenience: the walk is over. */
static __always_inline bool walk__ends(struct walk *walk, enum unwind_end end)
{
	walk->end = end;
	return true;
}

/* Keeps pc as a frame; true: there is no room. */
static __always_inline bool walk__keep_frame(struct walk *walk)
{
	bool settled = !walk->doubtful || (walk->permanent && !config.verify_unwind);
	__u64 frame = walk->regs.pc + (settled ? walk->to_frame : 0);
	__u32 at = walk->frame_cnt;

	if (at >= config.stack_depth || at >= MEMLEAK_MAX_STACK_DEPTH)
		return true;
	walk->unsettled |= !settled;
	if (walk->exact)
		frame |= MEMLEAK_FRAME_EXACT;
	walk->stack.words[1 + at] = frame;
	walk->stack.hash = hash_mix(walk->stack.hash, frame);
	walk->frame_cnt = at + 1;
	return false;
}

/* The registers that the kernel saved when it called a signal handler. */
static __always_inline bool walk__step_signal(struct walk *walk)
{
	__u64 base = walk->regs.sp, fp, pc;

	walk->depends.not_fitting = 1; /* rare */
	if (!walk__read(walk, base + ARCH_SIGNAL_FP))
		return walk__ends(walk, UNWIND_END_READ);
	fp = walk->word;
	if (!walk__read(walk, base + ARCH_SIGNAL_PC))
		return walk__ends(walk, UNWIND_END_READ);
	pc = walk->word;
	if (ARCH_SIGNAL_LR) {
		if (!walk__read(walk, base + ARCH_SIGNAL_LR))
			return walk__ends(walk, UNWIND_END_READ);
		walk->regs.lr = walk->word;
	}
	if (!walk__read(walk, base + ARCH_SIGNAL_SP))
		return walk__ends(walk, UNWIND_END_READ);
	walk->regs.pc = pc;
	walk->regs.fp = fp;
	walk->regs.sp = walk->word;
	walk->interrupted = walk->word;
	walk->slot = 0;
	walk->exact = true;
	walk->guessed = false;
	return false;
}

/* The frame pointer points at the caller's, above which the return address lies. */
static __always_inline bool walk__step_fp(struct walk *walk)
{
	__u64 fp = walk->regs.fp;

	/* The start of a program or thread clears it; other code may use it for anything. */
	if (!fp && (walk->guessed || first_stack_pointer() - walk->regs.sp < START_BYTES)) {
		walk__depend_on(walk, walk->fp_place, 0, 0);
		/* How near the stack's beginning is, no word of it tells. */
		walk->depends.not_fitting |= !walk->guessed;
		return walk__ends(walk, UNWIND_END_COMPLETE);
	}
	walk__depend_fp(walk);
	if (config.unwind == MEMLEAK_UNWIND_DWARF || fp < walk->regs.sp ||
	    fp - walk->regs.sp > FRAME_BYTES_MAX)
		return walk__ends(walk, UNWIND_END_NO_RULE);
	if (!walk__read(walk, fp + 8))
		return walk__ends(walk, UNWIND_END_READ);
	walk__depend(walk, fp + 8, 0);
	walk->regs.pc = arch_code_address(walk->word);
	if (!walk__read(walk, fp))
		return walk__ends(walk, UNWIND_END_READ);
	walk__restore_fp(walk, fp);
	walk->regs.sp = fp + 16;
	walk->regs.lr = 0;
	walk->slot = arch_frame_slot(fp + 16);
	walk->exact = false;
	walk->guessed = true;
	return false;
}

/* The canonical frame address into walk->word; false: it cannot be read. */
static __always_inline bool walk__cfa(struct walk *walk, const struct unwind_rule *rule)
{
	__u64 sp = walk->regs.sp, fp = walk->regs.fp;
	bool past;

	switch (rule->cfa) {
	case UNWIND_CFA_SP:
		walk->word = sp + rule->cfa_off;
		return true;
	case UNWIND_CFA_FP:
		walk__depend_fp(walk);
		walk->word = fp + rule->cfa_off;
		return true;
	case UNWIND_CFA_PLT:
		past = (walk->regs.pc & 15) >= (__u64)rule->cfa_off;
		walk->word = sp + (past ? 16 : 8);
		return true;
	case UNWIND_CFA_SP_DEREF:
	case UNWIND_CFA_FP_DEREF:
		if (rule->cfa == UNWIND_CFA_FP_DEREF) {
			walk__depend_fp(walk);
			sp = fp;
		}
		sp += UNWIND_DEREF_OUTER(rule->cfa_off);
		if (!walk__read(walk, sp))
			return false;
		walk__depend(walk, sp, REMEMBERED_RELATIVE);
		walk->word += UNWIND_DEREF_INNER(rule->cfa_off);
		return true;
	default:
		return false;
	}
}

static __always_inline bool walk__step_rule(struct walk *walk, const struct unwind_rule *rule)
{
	struct unwind_saved_at saved;
	__u64 cfa, pc = walk->regs.lr;

	if (!walk__cfa(walk, rule))
		return walk__ends(walk, UNWIND_END_READ);
	cfa = walk->word;
	/* The stack grows down: only an interrupted function may not have a frame yet. */
	if (cfa < walk->regs.sp || (cfa == walk->regs.sp && !walk->exact))
		return walk__ends(walk, UNWIND_END_NO_RULE);
	arch_saved(rule, cfa, walk->regs.fp, &saved);
	if (saved.ra) {
		if (!walk__read(walk, saved.ra))
			return walk__ends(walk, UNWIND_END_READ);
		walk__depend(walk, saved.ra, 0);
		pc = walk->word;
	}
	if (rule->saved == UNWIND_SAVED_FP_REL)
		walk__depend_fp(walk);
	if (saved.fp) {
		if (!walk__read(walk, saved.fp))
			return walk__ends(walk, UNWIND_END_READ);
		walk__restore_fp(walk, saved.fp);
	}
	walk->regs.pc = arch_code_address(pc);
	walk->regs.sp = cfa;
	walk->regs.lr = 0;
	walk->slot = arch_frame_slot(cfa);
	walk->exact = false;
	walk->guessed = false;
	return walk->regs.pc ? false : walk__ends(walk, UNWIND_END_COMPLETE);
}

/*
 * Code in no mapping that we know: of a library that was loaded just now, unless a frame pointer
 * that was none has led here. It is followed by its frame pointer until its table is there; if it
 * has none either, its caller may be missed.
 */
static __always_inline bool walk__step_unknown(struct walk *walk)
{
	__u64 distance = walk->regs.pc - walk->unknown + SAME_LIBRARY;
	bool far = !walk->unknown || distance > 2 * SAME_LIBRARY;

	walk->unknown = walk->regs.pc;
	walk->to_frame = 0;
	walk->permanent = 0;
	if (walk->guessed && far)
		return walk__ends(walk, UNWIND_END_NO_CODE);
	if (walk__keep_frame(walk))
		return walk__ends(walk, UNWIND_END_TRUNCATED);
	if (!walk->regs.fp || walk__step_fp(walk))
		return walk__ends(walk, UNWIND_END_NO_CODE);
	return false;
}

/*
 * No call lies before pc, yet a function begins there: the return address was put there by hand.
 * makecontext and other makers of coroutines do that at the outer end of the stacks they make.
 */
static __always_inline bool walk__returns_to_start(struct walk *walk)
{
	__u64 rule = 0;

	return config.unwind != MEMLEAK_UNWIND_FP && walk__rule(walk, walk->regs.pc, &rule) && rule;
}

/* Keeps the frame at pc and goes on to its caller's. True: the walk is over. */
static __always_inline bool walk__step(struct walk *walk)
{
	union {
		__u64 bits;
		struct unwind_rule rule;
	} found = {0};
	__u64 to_frame, permanent;
	bool made;

	/* A return address may be the first byte of the next function: the call lies before it. */
	if (!walk__rule(walk, walk->regs.pc - !walk->exact, &found.bits)) {
		if (walk__repair(walk))
			return false;
		return walk__step_unknown(walk);
	}
	to_frame = walk->to_frame;
	permanent = walk->permanent;
	made = found.rule.cfa == UNWIND_CFA_NO_ROW && !walk->exact && walk__returns_to_start(walk);
	walk->exact |= made;
	if (!made) {
		walk->to_frame = to_frame;
		walk->permanent = permanent;
	}
	if (walk__keep_frame(walk))
		return walk__ends(walk, UNWIND_END_TRUNCATED);
	if (made)
		return walk__ends(walk, UNWIND_END_COMPLETE);
	switch (found.rule.cfa) {
	case UNWIND_CFA_NO_ROW:
		return walk__step_fp(walk);
	case UNWIND_CFA_UNKNOWN:
		return walk__ends(walk, UNWIND_END_NO_RULE);
	case UNWIND_CFA_OUTERMOST:
		return walk__ends(walk, UNWIND_END_COMPLETE);
	case UNWIND_CFA_SIGNAL:
		return walk__step_signal(walk);
	default:
		return walk__step_rule(walk, &found.rule);
	}
}

/* The mappings of the process, if they are known and of this image. */
static __always_inline const struct unwind_space *space__find(__u32 tgid, __u32 image)
{
	void *space = bpf_map_lookup_elem(&unwind_spaces, &tgid);
	const union unwind_space_entry *entry;
	__u32 zero = 0;

	if (!space)
		return NULL;
	entry = bpf_map_lookup_elem(space, &zero);
	return entry && entry->space.image == image ? &entry->space : NULL;
}

/* Whoever compares walks wants addresses. */
static __always_inline void walk__use_space(struct walk *walk)
{
	const struct unwind_space *space = space__find(walk->tgid, walk->image);

	walk->generation = space ? space->generation : 0;
	walk->known_unloads = space ? space->unloads : 0;
	walk->doubtful = !space || walk->known_unloads != walk->unloads || config.verify_unwind;
	walk->unsettled = 0;
}

/* Whether the same words mean the same stack until the mappings are read again. */
static __always_inline bool walk__is_certain(const struct walk *walk)
{
	return walk->generation && walk->unloads == walk->known_unloads;
}

/* At the entry of a function that was called from return_address. */
static __always_inline void walk__begin(struct walk *walk, struct pt_regs *ctx, __u32 image,
					__u32 unloads, __u64 return_address)
{
	walk->tgid = bpf_get_current_pid_tgid() >> 32;
	walk->image = image;
	walk->unloads = unloads;
	walk__use_space(walk);
	arch_caller(ctx, &walk->regs);
	walk->regs.pc = arch_code_address(return_address);
	walk->slot = arch_entry_slot(ctx);
	walk->stack.hash = 0;
	walk->stack.first = 0;
	walk->frame_cnt = 0;
	walk->end = UNWIND_END_UNKNOWN;
	walk->exact = false;
	walk->guessed = false;
	walk->unknown = 0;
	walk->repaired = 0;
	walk->origin = walk->regs.sp;
	walk->recalled = 0;
	walk->fp_place = FP_REGISTER_PLACE;
	stack_words__begin(&walk->depends);
	walk->interrupted = 0;
	walk->here.start = 0;
	walk->here.end = 0;
	walk->window_start = 0;
	walk->window_bytes = 0;
}

/*
 * What is to be known of a stack besides its frames: the same may have ended here and gone on
 * there, and addresses may have been of other code.
 */
static __always_inline void walk__describe(struct walk *walk)
{
	struct memleak_stack *header = (void *)&walk->stack.words[0];
	bool unsettled = walk->unsettled || walk->unknown;

	header->frame_cnt = walk->frame_cnt;
	header->end = walk->end;
	header->unsettled = unsettled;
	header->unloads = unsettled ? walk->unloads : 0;
	header->known_unloads = unsettled ? walk->known_unloads : 0;
	walk->stack.hash = hash_mix(walk->stack.hash, walk->end);
	if (unsettled)
		walk->stack.hash = hash_mix(walk->stack.hash, walk->stack.words[0]);
}

/* The stack is ready to be stored. */
static __always_inline void walk__finish(struct walk *walk)
{
	walk__describe(walk);
	if (!walk->stack.hash)
		walk->stack.hash = 1;
	count(MEMLEAK_STAT_WALKS, 1);
	if (walk->repaired)
		count(MEMLEAK_STAT_REPAIRED, walk->repaired);
	if (walk->end < UNWIND_END_NO_CODE)
		return;
	count(MEMLEAK_LOST_UNWIND, 1);
	count(MEMLEAK_STAT_CUT_NO_CODE + walk->end - UNWIND_END_NO_CODE, 1);
}

#endif
