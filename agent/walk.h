/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks the stack of the calling thread: finds the frames, and the words of the stack by which they
 * were found. As long as these are what they are, the frames are the same. A walk is over where it
 * comes to a frame of a stack that is known, all of whose words from there on are what they were.
 */
#ifndef AGENT_WALK_H
#define AGENT_WALK_H

#include "agent/agent.h"
#include "bpf/unwind.h"

#define WALK_FRAMES_MAX 512
#define WALK_FRAMES_DEFAULT 127
#define WALK_STEPS_MAX (2 * WALK_FRAMES_MAX)
#define WALK_WORDS_MAX (3 * WALK_STEPS_MAX)

/* What was read of the stack. */
struct walk_word {
	uint64_t at;
	uint64_t value;
};

/* All by which the rest of a walk is determined, but the words that it reads. */
struct walk_place {
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
	bool guessed; /* pc was found by a frame pointer where nothing else was known */
};

/* From a frame to its caller. */
struct walk_step {
	struct walk_place from;
	uint64_t frame; /* as in bpf/memleak.h; file numbers are modules' */
	bool is_kept;   /* the agent itself is no caller */
	bool uses_fp;
	uint8_t word_cnt;
	struct walk_word words[2];
	struct walk_word saved_fp; /* at 0: the frame pointer is the caller's */
};

/* A frame of a known stack. Numbers are of the frames from the outermost on up to this one. */
struct known_frame {
	struct walk_place place;
	uint32_t number; /* in the account */
	uint32_t word_cnt;
	uint32_t frame_cnt; /* that are kept */
	bool needs_fp;      /* the frame pointer leads to callers */
	bool is_own;        /* all words are of the thread's own stack, which stays readable */
};

/* A stack of the thread, the outermost first. */
struct known_stack {
	uint32_t cnt;
	enum unwind_end end;
	struct known_frame frames[WALK_STEPS_MAX];
	struct walk_word words[WALK_WORDS_MAX + 1];
};

struct walk {
	uint32_t step_cnt;
	uint32_t known_cnt; /* so many frames of the known stack are callers of these */
	uint32_t frame_cnt;
	bool doubtful; /* code was met that was not looked up: nothing to remember */
	enum unwind_end end;
	struct walk_step steps[WALK_STEPS_MAX + 1]; /* innermost first */
};

/* Stacks with more frames may be cut; 0: as usual. At least so many are kept. */
uint32_t walk_set_depth(uint32_t frames);

/* known: NULL: none is. */
void walk_run(struct account *account, const struct caller *caller, const struct known_stack *known,
	      struct walk *ret);

/*
 * The number in the account of the stack that was walked; 0: there is no room. remember: makes it
 * the known one, if it is not doubtful. What the walk has seen in the frame pointer is gone then,
 * and kept only where it leads to callers: it may be anything, and is not to hold a block that is
 * lost.
 */
uint32_t walk_keep(struct account *account, struct walk *walk, struct known_stack *known,
		   bool remember);

/* Rules that were found are void: some code may be gone. */
void walk_forget(void);

#endif
