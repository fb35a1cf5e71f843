/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks the stack of the calling thread: finds its frames, and the stack words that the walk
 * depended on. While these words are unchanged, so are the frames. A known stack shortens the walk:
 * the walk ends at a frame of the known stack if the words of that frame and of all its callers are
 * unchanged.
 */
#ifndef AGENT_WALK_H
#define AGENT_WALK_H

#include "agent/agent.h"
#include "bpf/unwind.h"

#define WALK_FRAMES_MAX 512
#define WALK_FRAMES_DEFAULT 127
#define WALK_STEPS_MAX (2 * WALK_FRAMES_MAX)
#define WALK_WORDS_MAX (3 * WALK_STEPS_MAX)

/* A word read from the stack. */
struct walk_word {
	uint64_t at;
	uint64_t value;
};

/* Position of a walk. The position and the words on the stack determine the rest of the walk. */
struct walk_registers {
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
	bool guessed; /* true if pc was found by a frame pointer, and may be wrong */
};

/* One step of a walk, from a frame to its caller. */
struct walk_step {
	struct walk_registers from;
	/* frame as in bpf/memleak.h, with a module number instead of a file number */
	uint64_t frame;
	bool is_kept; /* false for frames of the agent */
	bool uses_fp;
	uint8_t word_cnt;
	struct walk_word words[2];
	/* caller's frame pointer on the stack; `at` is 0 if it is still in the register */
	struct walk_word saved_fp;
};

/*
 * A frame of a known stack. The fields word_cnt and frame_cnt count the words and frames from the
 * outermost frame to this one.
 */
struct known_frame {
	struct walk_registers registers;
	uint32_t number; /* frame number in the account */
	uint32_t word_cnt;
	uint32_t frame_cnt; /* number of frames, without the agent's */
	bool needs_fp;      /* true if finding the callers requires this frame pointer */
	/* true if all words are on the thread's own stack, which remains readable */
	bool is_own;
};

/* The stack that was walked most recently in this thread, outermost frame first. */
struct known_stack {
	uint32_t cnt;
	enum unwind_end end;
	struct known_frame frames[WALK_STEPS_MAX];
	struct walk_word words[WALK_WORDS_MAX + 1];
};

/* A stack as found by one walk, which may stop at a frame of the known stack. */
struct walked_stack {
	uint32_t step_cnt;
	uint32_t known_cnt; /* number of frames of the known stack that call the walked frames */
	uint32_t frame_cnt;
	bool doubtful; /* must not be remembered, e.g. because of unknown code */
	enum unwind_end end;
	struct walk_step steps[WALK_STEPS_MAX + 1]; /* innermost frame first */
};

/*
 * Sets the depth, or the default depth if `frames` is 0. Deeper stacks may be truncated, but keep
 * at least this number of frames. Returns the depth in effect.
 */
uint32_t walk_set_depth(uint32_t frames);

/* Walks the caller's stack. known may be NULL. */
void walk_run(struct account *account, const struct caller *caller, const struct known_stack *known,
	      struct walked_stack *ret);

/*
 * Adds a walked stack to the account and returns its number, 0 if there is no room. remember: also
 * store the stack in `known`, unless the walk is doubtful. Wipes frame pointers from `walk`, and
 * stores them in `known` only if needed to find callers: others may point to lost blocks, which
 * would then seem reachable.
 */
uint32_t walk_keep(struct account *account, struct walked_stack *walk, struct known_stack *known,
		   bool remember);

/* Discards cached unwind rules, as some code may have been unmapped. */
void walk_forget(void);

#endif
