/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks a user stack by unwind tables (bpf/unwind.h), one frame at a time. Follows the frame
 * pointer in code without a table (made at run time, or assembly without unwind information).
 *
 * The verifier checks walk_step() once as a separate function, not once per frame, so the walk
 * needs neither bpf_loop() nor tail calls.
 */
#ifndef BPF_USER_PROBES_UNWIND_BPF_H
#define BPF_USER_PROBES_UNWIND_BPF_H

#include "bpf/user_probes/vma_code.bpf.h"

/* Maximum distance, in bytes, from the stack pointer to a frame pointer that is followed. */
#define FRAME_BYTES_MAX (1ULL << 20)

/* Maximum bytes between a program's first stack pointer and its first function's frame. */
#define START_BYTES 256

/* Maximum distance in bytes at which two code addresses are assumed to be in the same library. */
#define SAME_LIBRARY (1U << 20)

/* Minimum interval between records of unknown code, in nanoseconds. */
#define CODE_SENT_NS 100000000ULL

/* Maximum number of pending return probes searched for that of a frame. */
#define RETURN_PROBES_MAX 64

/*
 * Sets pc to the original return address if a return probe (memleak's or another tracer's) has
 * replaced it by the trampoline's address. The kernel stores it with the call's address on the
 * stack. False if it has stored none for this call.
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

/* Ends the walk. Always returns true, for callers that return whether the walk is over. */
static __always_inline bool walk__ends(struct walk *walk, enum unwind_end end)
{
	walk->end = end;
	return true;
}

/* Stores pc as a frame. `mark` is a flag for the frame, or 0. True if there is no room. */
static __always_inline bool walk__keep_frame(struct walk *walk, __u64 mark)
{
	bool resolved = !walk->doubtful || walk->permanent;
	__u64 frame = walk->regs.pc + (resolved ? walk->to_frame : 0);
	__u32 at = walk->frame_cnt;

	if (at >= config.stack_depth || at >= MEMLEAK_MAX_STACK_DEPTH)
		return true;
	walk->unresolved |= !resolved;
	frame |= mark;
	if (walk->exact)
		frame |= MEMLEAK_FRAME_EXACT;
	walk->stack.words[1 + at] = frame;
	walk->stack.hash = hash_mix(walk->stack.hash, frame);
	walk->frame_cnt = at + 1;
	return false;
}

/* Restores the registers that the kernel saved for a signal handler. True if the walk is over. */
static __always_inline bool walk__step_signal(struct walk *walk)
{
	__u64 base = walk->regs.sp, fp, pc;

	/* rare, so not cached */
	walk->depends.not_fitting = 1;
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

/*
 * Steps to the caller by the frame pointer, which points at the saved one; the return address is in
 * the word above. True if the walk is over.
 */
static __always_inline bool walk__step_fp(struct walk *walk)
{
	__u64 fp = walk->regs.fp;

	/*
	 * Programs and threads begin with frame pointer 0. Other code may set it to 0, too: so 0
	 * ends the stack only if pc was found by a frame pointer, or near the start of the stack.
	 */
	if (!fp && (walk->guessed || first_stack_pointer() - walk->regs.sp < START_BYTES)) {
		walk__depend_on(walk, walk->fp_place, 0, 0);
		/*
		 * This check depends on the distance to the start of the stack, which no word of
		 * the stack contains, so the walk cannot be cached.
		 */
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

/* Sets walk->word to the canonical frame address. False if it cannot be read. */
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
		walk__depend(walk, sp, STACK_CACHE_RELATIVE);
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
	/*
	 * The CFA must be above the stack pointer, or equal if an interrupted function has no frame
	 * yet.
	 */
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
 * Stores a frame whose pc is in no known mapping. It may be in code made at run time, in a library
 * that was just loaded, or, after a wrong frame pointer, in no code at all. Next, the walk follows
 * the frame pointer; the loader checks later whether that was right. The walk ends if pc was itself
 * found by a frame pointer and is not near the previous unknown pc. True if the walk is over.
 */
static __always_inline bool walk__keep_unknown(struct walk *walk)
{
	__u64 distance = walk->regs.pc - walk->unknown + SAME_LIBRARY;
	bool far = !walk->unknown || distance > 2 * SAME_LIBRARY;

	walk->unknown = walk->regs.pc;
	walk->to_frame = 0;
	walk->permanent = 0;
	if (walk->guessed && far)
		return walk__ends(walk, UNWIND_END_NO_CODE);
	walk->followed = true;
	return walk__keep_frame(walk, MEMLEAK_FRAME_UNKNOWN) &&
	       walk__ends(walk, UNWIND_END_TRUNCATED);
}

static __always_inline bool walk__rule_by(struct walk *walk, bool by_vma, __u64 addr, __u64 *rule)
{
	return by_vma ? walk__rule_by_vma(walk, addr, rule) : walk__rule(walk, addr, rule);
}

/*
 * True if pc is the start of a function. Called if the unwind table has no row for the byte before
 * pc. No call returns to the start of a function: makecontext() and similar coroutine code store
 * such a pc as the return address of the outermost frame.
 */
static __always_inline bool walk__returns_to_start(struct walk *walk, bool by_vma)
{
	__u64 rule = 0;

	return config.unwind != MEMLEAK_UNWIND_FP &&
	       walk__rule_by(walk, by_vma, walk->regs.pc, &rule) && rule;
}

/* Stores a frame whose pc has no row in a table. True if the walk is over. */
static __always_inline bool walk__keep_without_row(struct walk *walk, bool by_vma)
{
	__u64 to_frame = walk->to_frame, permanent = walk->permanent;
	bool made = !walk->exact && walk__returns_to_start(walk, by_vma);

	walk->exact |= made;
	if (!made) {
		walk->to_frame = to_frame;
		walk->permanent = permanent;
	}
	if (walk__keep_frame(walk, 0))
		return walk__ends(walk, UNWIND_END_TRUNCATED);
	return made && walk__ends(walk, UNWIND_END_COMPLETE);
}

/* Stores the frame at pc and steps to its caller. True if the walk is over. */
static __always_inline bool walk__step(struct walk *walk, bool by_vma)
{
	union {
		__u64 bits;
		struct unwind_rule rule;
	} found = {0};
	bool known;

	/*
	 * If a call is a function's last instruction, its return address is in the next function.
	 * So the byte before the return address is looked up.
	 */
	known = walk__rule_by(walk, by_vma, walk->regs.pc - !walk->exact, &found.bits);
	if (!known && walk__repair(walk))
		return false;
	if (!known) {
		found.bits = 0;
		if (walk__keep_unknown(walk))
			return true;
	} else if (found.rule.cfa == UNWIND_CFA_NO_ROW) {
		if (walk__keep_without_row(walk, by_vma))
			return true;
	} else if (walk__keep_frame(walk, 0)) {
		return walk__ends(walk, UNWIND_END_TRUNCATED);
	}
	if (found.rule.cfa == UNWIND_CFA_NO_ROW && !walk->exact &&
	    config.unwind != MEMLEAK_UNWIND_FP)
		arch_rule_by_code(walk->regs.pc, &found.rule);
	switch (found.rule.cfa) {
	case UNWIND_CFA_NO_ROW:
		if (known)
			return walk__step_fp(walk);
		return (!walk->regs.fp || walk__step_fp(walk)) &&
		       walk__ends(walk, UNWIND_END_NO_CODE);
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

/* Looks up the process's mappings for a walk. */
static __always_inline void walk__use_space(struct walk *walk, struct known_space *known)
{
	__u32 stamp = spaces_stamp;

	if (known->stamp != stamp) {
		known_space__look(known, walk->image);
		known->stamp = stamp;
	}
	walk->space = known->image;
	walk->generation = known->generation;
	walk->mappings = known->generation * 0x9e3779b97f4a7c15ULL;
	walk->known_unloads = known->unloads;
	walk->interpreter = known->interpreter;
	walk->script_cnt = 0;
	walk->doubtful = !known->generation || walk->known_unloads != walk->unloads;
	walk->unresolved = 0;
}

/*
 * True if the mappings are known and no library was unloaded since they were read: then stacks with
 * equal words have equal frames.
 */
static __always_inline bool walk__is_certain(const struct walk *walk)
{
	return walk->generation && walk->unloads == walk->known_unloads;
}

/* Begins a walk at the entry of a function; the caller must set the return address. */
static __always_inline void walk__begin(struct walk *walk, struct pt_regs *ctx, __u32 image,
					__u32 unloads, struct known_space *known)
{
	walk->image = image;
	walk->unloads = unloads;
	walk__use_space(walk, known);
	arch_caller(ctx, &walk->regs);
	walk->slot = arch_entry_slot(ctx);
	walk->stack.hash = 0;
	walk->stack.first = 0;
	walk->frame_cnt = 0;
	walk->end = UNWIND_END_UNKNOWN;
	walk->exact = false;
	walk->guessed = false;
	walk->unknown = 0;
	walk->followed = false;
	walk->repaired = 0;
	walk->origin = walk->regs.sp;
	walk->expected = 0;
	walk->fp_place = FP_REGISTER_PLACE;
	stack_words__begin(&walk->depends);
	walk->interrupted = 0;
	walk->here.start = 0;
	walk->here.end = 0;
	walk->window_start = 0;
	walk->window_bytes = 0;
}

/*
 * Fills in the stack's header and completes its hash. The hash covers more than the frames: stacks
 * with equal frames may end differently, and equal addresses may stand for different code.
 */
static __always_inline void walk__describe(struct walk *walk, bool deferred)
{
	struct memleak_stack *header = (void *)&walk->stack.words[0];
	bool unresolved = walk->unresolved || walk->unknown;

	header->frame_cnt = walk->frame_cnt;
	header->end = walk->end;
	header->unresolved = unresolved;
	header->deferred = deferred;
	header->script_cnt = 0;
	header->unloads = unresolved ? walk->unloads : 0;
	header->known_unloads = unresolved ? walk->known_unloads : 0;
	walk->stack.hash = hash_mix(walk->stack.hash, walk->end);
	if (unresolved)
		walk->stack.hash = hash_mix(walk->stack.hash, walk->stack.words[0]);
	if (deferred)
		walk->stack.hash = walk->deferred;
}

/*
 * Prepares the stack for storing. Counts how its walk ended; the loader does this if the stack is
 * deferred.
 */
static __always_inline void walk__finish(struct walk *walk, bool deferred)
{
	walk__describe(walk, deferred);
	if (!walk->stack.hash)
		walk->stack.hash = 1;
	count(MEMLEAK_STAT_WALKS, 1);
	if (walk->repaired)
		count(MEMLEAK_STAT_REPAIRED, walk->repaired);
	if (deferred || walk->end < UNWIND_END_NO_CODE)
		return;
	count(MEMLEAK_LOST_UNWIND, 1);
	count(MEMLEAK_STAT_CUT_NO_CODE + walk->end - UNWIND_END_NO_CODE, 1);
}

#endif
