// SPDX-License-Identifier: GPL-2.0-or-later
/* Walks frame by frame with the rules of bpf/unwind.h, like bpf/user_probes/unwind.bpf.h. */
#include "agent/walk.h"

#include "agent/call_tree.h"
#include "agent/modules.h"
#include "agent/system.h"
#include "bpf/memleak.h"

#define PAGE 4096ULL

/* Maximum number of stack pages that one call of grow_down() checks: 16 MiB. */
#define OWN_PAGES 4096U

/* Maximum distance in bytes from the stack pointer to a valid frame pointer. */
#define FRAME_BYTES_MAX (1ULL << 20)

/*
 * Cache of unwind rules by address, shared by all threads. The field `check` is a combination of
 * the address and the other words, so that an entry written by two threads at the same time
 * matches no address.
 */
#define RULES 16384U

struct known_rule {
	uint64_t check;
	uint64_t rule;
	uint64_t to_frame; /* to_frame of struct code, or NO_FRAME */
	uint64_t reserved;
} __attribute__((aligned(32)));

#define NO_FRAME UINT64_MAX /* marks frames of the agent's own code */

static struct known_rule known_rules[RULES];
static uint32_t depth = WALK_FRAMES_DEFAULT;
/* rules cached in earlier generations are ignored */
static uint64_t generation = 1;

struct state {
	struct account *account;
	struct walked_stack *walk;
	struct walk_step *step; /* current step; step[1].from receives the start of the next step */
	uint64_t lr; /* aarch64: return address of a function that has not saved it, 0 if unknown */
	bool exact;  /* true if pc is the next instruction to run, not a return address */
};

/*
 * Extends the range known to be on the thread's own stack down to `page`. False if the page belongs
 * to another stack.
 */
static bool grow_down(uint64_t page)
{
	uint64_t at = page;

	if (page >= self.foreign_low && page < self.foreign_high)
		return false;
	while (at < self.low && at - page < OWN_PAGES * PAGE && system_is_readable(at))
		at += PAGE;
	if (at == self.low) {
		self.low = page;
		return true;
	}
	self.foreign_low = page;
	self.foreign_high = at + PAGE;
	return false;
}

static inline bool is_own(uint64_t addr)
{
	return addr >= self.low && addr < self.high;
}

static bool page_can_read(uint64_t page)
{
	/*
	 * Memory above the thread's own stack may be unmapped at any time, so its pages are checked
	 * at each read.
	 */
	return is_own(page) || (page < self.low && grow_down(page)) || system_is_readable(page);
}

/* Not sanitized, as it reads other functions' frames, which contain ASan's red zones. */
static NOT_SANITIZED uint64_t word_at(uint64_t addr)
{
	return *(const uint64_t *)addr;
}

static inline bool read_word(uint64_t addr, uint64_t *ret)
{
	if (addr & 7 || (unlikely(!is_own(addr)) && !page_can_read(addr & ~(PAGE - 1))))
		return false;
	*ret = word_at(addr);
	return true;
}

static bool ends(struct state *state, enum unwind_end end)
{
	state->walk->end = end;
	return true;
}

static inline void depend(struct state *state, uint64_t addr, uint64_t value)
{
	struct walk_word *word = &state->step->words[state->step->word_cnt++];

	word->at = addr;
	word->value = value;
}

/* Returns the maximum number of frames of a stack; a deeper stack is truncated. */
static uint32_t frames_most(void)
{
	return depth + depth / 2;
}

/*
 * Adds the current frame to the walk's result, unless it is the agent's. False if there is no room.
 */
static bool keep_frame(struct state *state, uint64_t to_frame)
{
	if (to_frame == NO_FRAME)
		return true;
	if (state->walk->frame_cnt >= frames_most())
		return false;
	state->walk->frame_cnt++;
	state->step->frame =
		(state->step->from.pc + to_frame) | (state->exact ? MEMLEAK_FRAME_EXACT : 0);
	state->step->is_kept = true;
	return true;
}

union rule_word {
	uint64_t bits;
	struct unwind_rule rule;
};

static struct known_rule *known_rule(uint64_t pc)
{
	return &known_rules[(pc * 0x9e3779b97f4a7c15ULL) >> 50];
}

static uint64_t rule_key(uint64_t pc)
{
	return pc ^ __atomic_load_n(&generation, __ATOMIC_RELAXED) << 48;
}

static inline bool find_known(uint64_t pc, union rule_word *ret, uint64_t *ret_to_frame)
{
	const struct known_rule *known = known_rule(pc);

	ret->bits = __atomic_load_n(&known->rule, __ATOMIC_RELAXED);
	*ret_to_frame = __atomic_load_n(&known->to_frame, __ATOMIC_RELAXED);
	return (__atomic_load_n(&known->check, __ATOMIC_RELAXED) ^ ret->bits ^ *ret_to_frame) ==
	       rule_key(pc);
}

/* Finds the unwind rule at pc. False if there is no code. */
static bool find_rule(struct state *state, uint64_t pc, union rule_word *ret,
		      uint64_t *ret_to_frame)
{
	struct known_rule *known = known_rule(pc);
	struct code code;
	bool unsure, is_code;

	if (find_known(pc, ret, ret_to_frame))
		return true;
	is_code = modules_find(state->account, pc, &code, &unsure);
	state->walk->doubtful |= unsure;
	if (!is_code)
		return false;
	*ret_to_frame = code.is_own ? NO_FRAME : code.to_frame;
	ret->rule = code.is_trampoline ? (struct unwind_rule){.cfa = UNWIND_CFA_CNT}
				       : modules_rule(&code, pc);
	__atomic_store_n(&known->rule, ret->bits, __ATOMIC_RELAXED);
	__atomic_store_n(&known->to_frame, *ret_to_frame, __ATOMIC_RELAXED);
	__atomic_store_n(&known->check, rule_key(pc) ^ ret->bits ^ *ret_to_frame, __ATOMIC_RELAXED);
	return true;
}

#if defined(__x86_64__)
#define SIGNAL_FP 120
#define SIGNAL_SP 160
#define SIGNAL_PC 168
#define SIGNAL_LR 0
#define CODE_ADDRESS(addr) (addr)

static bool step_saved(struct state *state, const struct unwind_rule *rule, uint64_t cfa,
		       uint64_t *ra_at, uint64_t *fp_at)
{
	*ra_at = cfa - 8;
	if (rule->saved == UNWIND_SAVED_FP)
		*fp_at = cfa + (uint64_t)(int64_t)rule->saved_off;
	if (rule->saved == UNWIND_SAVED_FP_REL)
		*fp_at = state->step->from.fp + (uint64_t)(int64_t)rule->saved_off;
	return true;
}
#elif defined(__aarch64__)
/* struct rt_sigframe: 128 bytes of siginfo, then the context, with x0 at 184. */
#define SIGNAL_FP (128 + 184 + 29 * 8)
#define SIGNAL_LR (128 + 184 + 30 * 8)
#define SIGNAL_SP (128 + 184 + 31 * 8)
#define SIGNAL_PC (128 + 184 + 32 * 8)
/* Removes the pointer authentication code. */
#define CODE_ADDRESS(addr) ((addr) & ((1ULL << 48) - 1))

static bool step_saved(struct state *state, const struct unwind_rule *rule, uint64_t cfa,
		       uint64_t *ra_at, uint64_t *fp_at)
{
	uint64_t at = cfa + (uint64_t)(int64_t)rule->saved_off;

	if (rule->saved == UNWIND_SAVED_PAIR) {
		*fp_at = at;
		*ra_at = at + 8;
	} else if (rule->saved == UNWIND_SAVED_RA) {
		*ra_at = at;
	} else {
		return state->lr != 0;
	}
	return true;
}
#endif

static bool step_signal(struct state *state)
{
	uint64_t base = state->step->from.sp;
	struct walk_registers *next = &state->step[1].from;

	/* Signal frames are rare, so stacks with them are not remembered. */
	state->walk->doubtful = true;
	if (!read_word(base + SIGNAL_FP, &next->fp) || !read_word(base + SIGNAL_PC, &next->pc) ||
	    (SIGNAL_LR && !read_word(base + SIGNAL_LR, &state->lr)) ||
	    !read_word(base + SIGNAL_SP, &next->sp))
		return ends(state, UNWIND_END_READ);
	state->exact = true;
	next->guessed = false;
	return false;
}

static inline bool step_to(struct state *state, uint64_t ra, uint64_t sp, uint64_t fp, bool guessed)
{
	struct walk_registers *next = &state->step[1].from;

	next->pc = CODE_ADDRESS(ra);
	next->sp = sp;
	next->fp = fp;
	next->guessed = guessed;
	state->lr = 0;
	state->exact = false;
	return next->pc ? false : ends(state, UNWIND_END_COMPLETE);
}

/*
 * Follows the frame pointer, which points to the caller's saved frame pointer. The return address
 * is in the next higher word.
 */
static bool step_fp(struct state *state)
{
	uint64_t fp = state->step->from.fp, ra, saved;

	state->step->uses_fp = true;
	if (!fp)
		return ends(state, UNWIND_END_COMPLETE);
	if (fp < state->step->from.sp || fp - state->step->from.sp > FRAME_BYTES_MAX)
		return ends(state, UNWIND_END_NO_RULE);
	if (!read_word(fp + 8, &ra) || !read_word(fp, &saved))
		return ends(state, UNWIND_END_READ);
	depend(state, fp + 8, ra);
	state->step->saved_fp = (struct walk_word){fp, saved};
	return step_to(state, ra, fp + 16, saved, true);
}

static inline bool find_cfa(struct state *state, const struct unwind_rule *rule, uint64_t *ret)
{
	uint64_t base = state->step->from.sp, word;

	switch (rule->cfa) {
	case UNWIND_CFA_FP:
		state->step->uses_fp = true;
		base = state->step->from.fp;
		__attribute__((fallthrough));
	case UNWIND_CFA_SP:
		*ret = base + (uint64_t)(int64_t)rule->cfa_off;
		return true;
	case UNWIND_CFA_PLT:
		*ret = base + ((state->step->from.pc & 15) >= (uint64_t)rule->cfa_off ? 16 : 8);
		return true;
	case UNWIND_CFA_FP_DEREF:
		state->step->uses_fp = true;
		base = state->step->from.fp;
		__attribute__((fallthrough));
	case UNWIND_CFA_SP_DEREF:
		base += (uint64_t)(int64_t)UNWIND_DEREF_OUTER(rule->cfa_off);
		if (!read_word(base, &word))
			return false;
		depend(state, base, word);
		*ret = word + (uint64_t)UNWIND_DEREF_INNER(rule->cfa_off);
		return true;
	default:
		return false;
	}
}

static inline bool step_rule(struct state *state, const struct unwind_rule *rule)
{
	uint64_t cfa, ra_at = 0, fp_at = 0, ra = state->lr, fp = state->step->from.fp;

	if (!find_cfa(state, rule, &cfa))
		return ends(state, UNWIND_END_READ);
	/*
	 * Stacks grow down, so cfa must be above sp. It may be equal to sp only in an interrupted
	 * function, which may have no frame yet.
	 */
	if (cfa < state->step->from.sp || (cfa == state->step->from.sp && !state->exact) ||
	    !step_saved(state, rule, cfa, &ra_at, &fp_at))
		return ends(state, UNWIND_END_NO_RULE);
	if (ra_at) {
		if (!read_word(ra_at, &ra))
			return ends(state, UNWIND_END_READ);
		depend(state, ra_at, ra);
	}
	state->step->uses_fp |= rule->saved == UNWIND_SAVED_FP_REL;
	if (fp_at) {
		if (!read_word(fp_at, &fp))
			return ends(state, UNWIND_END_READ);
		state->step->saved_fp.at = fp_at;
		state->step->saved_fp.value = fp;
	}
	return step_to(state, ra, cfa, fp, false);
}

/*
 * Makes an unwind rule for code that has none, if the code just pops a fixed number of bytes after
 * the call and returns, as trampolines of python -X perf do.
 */
static void take_rule_by_code(const struct state *state, struct unwind_rule *rule)
{
#if defined(__x86_64__)
	uint64_t code;

	if (state->exact || !rule->saved_off)
		return;
	__builtin_memcpy(&code, (const void *)state->step->from.pc, sizeof(code));
	if (unwind_returns(code))
		*rule = (struct unwind_rule){.cfa = UNWIND_CFA_SP,
					     .saved = UNWIND_SAVED_NONE,
					     .cfa_off = unwind_given_back(code) + 8};
#else
	(void)state;
	(void)rule;
#endif
}

/*
 * Handles a pc that is in no known executable mapping. If pc was only guessed from a frame pointer,
 * the guess was wrong.
 */
static bool step_unknown(struct state *state)
{
	if (state->step->from.guessed)
		return ends(state, UNWIND_END_NO_CODE);
	if (!keep_frame(state, MEMLEAK_FRAME_UNKNOWN))
		return ends(state, UNWIND_END_TRUNCATED);
	state->step->uses_fp = true;
	if (!state->step->from.fp || step_fp(state))
		return ends(state, UNWIND_END_NO_CODE);
	return false;
}

/*
 * Adds the frame to the walk's result and continues with the frame's caller. True if the walk has
 * ended.
 */
static inline bool step(struct state *state)
{
	uint64_t at = state->step->from.pc - !state->exact, to_frame, other_frame;
	union rule_word found, other;
	bool made = false;

	if (!find_known(at, &found, &to_frame) && !find_rule(state, at, &found, &to_frame))
		return step_unknown(state);
	if (found.rule.cfa == UNWIND_CFA_CNT)
		return ends(state, UNWIND_END_NO_CODE);
	/*
	 * If a function begins at pc, and there is no code before pc that could be a call, pc is
	 * the start of a coroutine and not a return address.
	 */
	if (unlikely(found.rule.cfa == UNWIND_CFA_NO_ROW && !state->exact))
		made = find_rule(state, state->step->from.pc, &other, &other_frame) &&
		       other.rule.cfa != UNWIND_CFA_NO_ROW;
	state->exact |= made;
	if (!keep_frame(state, to_frame))
		return ends(state, UNWIND_END_TRUNCATED);
	if (made)
		return ends(state, UNWIND_END_COMPLETE);
	if (unlikely(found.rule.cfa == UNWIND_CFA_NO_ROW))
		take_rule_by_code(state, &found.rule);
	switch (found.rule.cfa) {
	case UNWIND_CFA_NO_ROW:
		return step_fp(state);
	case UNWIND_CFA_UNKNOWN:
		return ends(state, UNWIND_END_NO_RULE);
	case UNWIND_CFA_OUTERMOST:
		return ends(state, UNWIND_END_COMPLETE);
	case UNWIND_CFA_SIGNAL:
		return step_signal(state);
	default:
		return step_rule(state, &found.rule);
	}
}

uint32_t walk_set_depth(uint32_t frames)
{
	depth = !frames ? WALK_FRAMES_DEFAULT : frames < WALK_FRAMES_MAX ? frames : WALK_FRAMES_MAX;
	return depth;
}

/*
 * Returns the number of words of the known stack that are unchanged, counted from the outermost
 * one.
 */
static uint32_t count_unchanged(const struct known_stack *known)
{
	const struct known_frame *top = &known->frames[known->cnt - 1];
	uint32_t i = 0;
	uint64_t value;

	if (top->is_own)
		while (i < top->word_cnt && word_at(known->words[i].at) == known->words[i].value)
			i++;
	else
		while (i < top->word_cnt && read_word(known->words[i].at, &value) &&
		       value == known->words[i].value)
			i++;
	return i;
}

/*
 * Returns the number of frames of the known stack that are unchanged, counted from the outermost
 * one.
 */
static uint32_t find_unchanged(const struct known_stack *known)
{
	uint32_t cnt = known ? known->cnt : 0, words = cnt ? count_unchanged(known) : 0;

	while (cnt && known->frames[cnt - 1].word_cnt > words)
		cnt--;
	return cnt;
}

/*
 * True if the walk has reached a frame of the known stack. *cnt: number of frames of the known
 * stack that the walk has not passed yet.
 */
static inline bool meets(const struct state *state, const struct known_stack *known, uint32_t *cnt)
{
	const struct walk_registers *at = &state->step->from;
	const struct known_frame *frame;

	while (*cnt && known->frames[*cnt - 1].registers.sp < at->sp)
		--*cnt;
	if (!*cnt)
		return false;
	frame = &known->frames[*cnt - 1];
	return frame->registers.sp == at->sp && frame->registers.pc == at->pc &&
	       (!frame->needs_fp || frame->registers.fp == at->fp) && !state->exact &&
	       frame->registers.guessed == at->guessed;
}

static void run(struct account *account, const struct caller *caller,
		const struct known_stack *known, struct walked_stack *ret)
{
	struct state state = {.account = account, .walk = ret, .step = ret->steps};
	struct walk_step *end = ret->steps + WALK_STEPS_MAX;
	uint32_t cnt = find_unchanged(known);
	bool is_over = false;

	ret->known_cnt = ret->frame_cnt = 0;
	ret->doubtful = false;
	ret->end = UNWIND_END_UNKNOWN;
	state.step->from.pc = CODE_ADDRESS(caller->ra);
	state.step->from.sp = caller->sp;
	state.step->from.fp = caller->fp;
	state.step->from.guessed = false;
	for (; !is_over && state.step < end; state.step++) {
		if (cnt && meets(&state, known, &cnt)) {
			ret->known_cnt = cnt;
			ret->end = known->end;
			break;
		}
		state.step->is_kept = state.step->uses_fp = false;
		state.step->word_cnt = 0;
		state.step->saved_fp.at = 0;
		is_over = step(&state);
	}
	ret->step_cnt = (uint32_t)(state.step - ret->steps);
	ret->doubtful |= state.step == end;
}

/*
 * False if the walk has to be repeated without the known stack: the resulting stack has more frames
 * than a full walk would find, or is truncated at fewer than `depth` or more than 2 * `depth`
 * frames.
 */
static bool is_long_enough(const struct walked_stack *walk, const struct known_stack *known)
{
	uint32_t cnt = walk->frame_cnt;

	if (!walk->known_cnt)
		return true;
	cnt += known->frames[walk->known_cnt - 1].frame_cnt;
	return walk->end == UNWIND_END_TRUNCATED ? cnt >= depth && cnt <= 2 * depth
						 : cnt <= frames_most();
}

void walk_run(struct account *account, const struct caller *caller, const struct known_stack *known,
	      struct walked_stack *ret)
{
	/*
	 * Check the innermost page first: this extends the known range of the thread's own stack.
	 */
	page_can_read(caller->sp & ~(PAGE - 1));
	run(account, caller, known, ret);
	if (!is_long_enough(ret, known))
		run(account, caller, NULL, ret);
}

/* State while frames are added to the known stack, outermost first. */
struct keeper {
	struct known_stack *known;
	uint32_t word_cnt;
	uint32_t frame_cnt;
	bool needs_fp;
	bool is_own;
};

static struct keeper keeper_behind(struct known_stack *known, uint32_t cnt)
{
	const struct known_frame *frame = cnt ? &known->frames[cnt - 1] : NULL;

	known->cnt = cnt;
	return (struct keeper){
		.known = known,
		.word_cnt = frame ? frame->word_cnt : 0,
		.frame_cnt = frame ? frame->frame_cnt : 0,
		.needs_fp = frame && frame->needs_fp,
		.is_own = !frame || frame->is_own,
	};
}

static inline void keep_word(struct keeper *keeper, const struct walk_word *word, bool is_needed)
{
	struct walk_word *kept = &keeper->known->words[keeper->word_cnt];

	kept->at = word->at;
	kept->value = word->value & -(uint64_t)is_needed;
	keeper->word_cnt += is_needed;
	keeper->is_own &= !is_needed | is_own(word->at);
}

static inline void keep_known(struct keeper *keeper, const struct walk_step *step, uint32_t number)
{
	struct known_frame *frame = &keeper->known->frames[keeper->known->cnt++];
	bool saves_fp = step->saved_fp.at != 0;

	for (uint32_t i = 0; i < step->word_cnt; i++)
		keep_word(keeper, &step->words[i], true);
	keep_word(keeper, &step->saved_fp, saves_fp & keeper->needs_fp);
	keeper->needs_fp = (keeper->needs_fp & !saves_fp) | step->uses_fp;
	keeper->frame_cnt += step->is_kept;
	frame->registers.pc = step->from.pc;
	frame->registers.sp = step->from.sp;
	frame->registers.fp = step->from.fp & -(uint64_t)keeper->needs_fp;
	frame->registers.guessed = step->from.guessed;
	frame->number = number;
	frame->word_cnt = keeper->word_cnt;
	frame->frame_cnt = keeper->frame_cnt;
	frame->needs_fp = keeper->needs_fp;
	frame->is_own = keeper->is_own;
}

static void wipe(struct walked_stack *walk)
{
	for (uint32_t i = 0; i <= walk->step_cnt; i++)
		walk->steps[i].from.fp = walk->steps[i].saved_fp.value = 0;
}

uint32_t walk_keep(struct account *account, struct walked_stack *walk, struct known_stack *known,
		   bool remember)
{
	uint32_t number = walk->known_cnt ? known->frames[walk->known_cnt - 1].number
					  : ACCOUNT_STACK_END(walk->end);
	struct keeper keeper;
	bool made = false;

	walk->doubtful |= walk->known_cnt + walk->step_cnt > WALK_STEPS_MAX;
	remember &= !walk->doubtful;
	if (remember) {
		keeper = keeper_behind(known, walk->known_cnt);
		known->end = walk->end;
	}
	for (uint32_t i = walk->step_cnt; number && i-- > 0;) {
		const struct walk_step *step = &walk->steps[i];

		if (step->is_kept)
			number = call_tree_child(account, number, step->frame, &made);
		if (remember && number)
			keep_known(&keeper, step, number);
	}
	if (made) {
		__atomic_fetch_add(&account->stack_cnt, 1, __ATOMIC_RELAXED);
		if (walk->end >= UNWIND_END_NO_CODE)
			lose(account, ACCOUNT_LOST_UNWIND);
	}
	wipe(walk);
	return number;
}

void walk_forget(void)
{
	__atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
	modules_forget();
}
