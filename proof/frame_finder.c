// SPDX-License-Identifier: GPL-2.0-or-later
/* Copies stacks and unwinds them with libdwfl. */
#include "proof/frame_finder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "proof/arch.h"

#define WORD sizeof(uint64_t)

/* Maximum slots (addresses on stacks) to look up per picture, and maximum unwinds per slot. */
#define SLOTS_MOST 8
#define TRIES_MOST 4

void frame_finder_deinit(struct frame_finder *finder)
{
	walker_spaces_deinit(&finder->walker);
	user_budgets_deinit(&finder->budgets);
	*finder = (struct frame_finder){0};
}

void frame_finder_begin(struct frame_finder *finder)
{
	finder->generation++;
	finder->cnt = 0;
}

static int read_maps(const void *arg, struct proc_maps *ret)
{
	const struct heap_picture *picture = arg;

	return proc_maps_read(picture->pid, ret);
}

/*
 * Returns the process's code for the stack walker. Passes the mappings to the walker at the first
 * call for a picture. NULL if too many slots were looked up in this picture, or if the mappings are
 * unknown.
 */
static const struct walker_code_space *space_of(struct frame_finder *finder,
						const struct heap_picture *picture)
{
	struct walker_subject subject = {
		.pid = picture->pid,
		.read_maps = read_maps,
		.arg = picture,
	};
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)picture->pid);
	if (finder->cnt++ >= SLOTS_MOST || stat(path, &st))
		return NULL;
	subject.uid = st.st_uid;
	subject.generation = finder->generation;
	finder->walker.budgets = &finder->budgets;
	if (walker_spaces_add(&finder->walker, &subject))
		return NULL;
	return walker_spaces_find(&finder->walker, finder->generation);
}

/*
 * Copies the stack upwards from the stack pointer, rounded down to a multiple of UNWIND_COPY_PIECE.
 * False if the copy does not include the slot.
 */
static bool copy_stack(const struct memory *memory, uint64_t sp, uint64_t slot,
		       struct unwind_copy *ret)
{
	uint64_t start = sp & ~(uint64_t)(UNWIND_COPY_PIECE - 1);
	ssize_t got = memory->ops->read(memory, start, ret->stack_bytes, sizeof(ret->stack_bytes));

	if (got < (ssize_t)WORD || (slot >= start && slot - start + WORD > (uint64_t)got))
		return false;
	ret->stack.start = start;
	ret->stack.bytes = (uint64_t)got & ~(WORD - 1);
	for (size_t i = 0; i * UNWIND_COPY_PIECE < ret->stack.bytes; i++)
		ret->stack.present[i / 64] |= 1ULL << i % 64;
	return true;
}

static uint64_t word_at(const struct unwind_copy *copy, size_t at)
{
	uint64_t word;

	memcpy(&word, copy->stack_bytes + at, sizeof(word));
	return word;
}

/*
 * Returns a return address in the function whose frame contains the first word above the copy; 0 if
 * this function is not found, e.g. because the word is above all frames.
 */
static uint64_t walk(struct frame_finder *finder, const struct walker_code_space *space,
		     const struct unwind_copy *copy)
{
	struct walker_stack stack = {0};

	if (walker_spaces_walk(&finder->walker, space, copy, &stack) || !stack.cnt ||
	    stack.end != WALKER_BEYOND)
		return 0;
	return stack.frames[stack.cnt - 1];
}

/*
 * Looks for the outermost frame that contains a copy of the pointer: the frames of called functions
 * may contain further copies, some of them stale.
 */
uint64_t frame_finder_find(struct frame_finder *finder, const struct heap_picture *picture,
			   const struct thread_state *thread, uint64_t slot)
{
	cleanup_free struct unwind_copy *copy = calloc(1, sizeof(*copy));
	const struct walker_code_space *space;
	uint64_t word, code = 0;
	size_t first;

	if (!copy || !thread->has_registers ||
	    picture->memory->ops->read(picture->memory, slot, &word, WORD) != WORD ||
	    !copy_stack(picture->memory, thread->sp, slot, copy))
		return 0;
	registers_to_dwarf(thread->words, copy);
	if (picture->lasts && !picture->lasts(picture->arg))
		return 0;
	space = space_of(finder, picture);
	first = thread->sp - copy->stack.start;
	for (size_t at = copy->stack.bytes - WORD, tries = 0;
	     space && !code && at > first && tries < TRIES_MOST; at -= WORD) {
		if (word_at(copy, at) != word)
			continue;
		copy->stack.bytes = at;
		code = walk(finder, space, copy);
		tries++;
	}
	return code;
}
