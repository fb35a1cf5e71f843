// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests finding the file that was mapped at an address when a stack was walked, and marking frames
 * whose file is uncertain. The history has the mappings of a process at each time they were read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "loader/stacks/code_history.h"

#define IMAGE 7
#define PROGRAM 0x400000
#define LIBRARY 0x7f0000000000
#define SIZE 0x1000
#define FRAMES_MAX 4

#define TO_FRAME(file, start)                                                                      \
	((MEMLEAK_FRAME_FILE | (uint64_t)(file) << MEMLEAK_FRAME_OFFSET_BITS) - (start))
#define PLACE(file, offset)                                                                        \
	(MEMLEAK_FRAME_FILE | (uint64_t)(file) << MEMLEAK_FRAME_OFFSET_BITS | (offset))

/*
 * Adds a list with a mapping of the program and, if `file` is not 0, one of the file with this
 * number at the library's address.
 */
static void add(struct code_history *history, uint32_t unloads, uint32_t file)
{
	const struct unwind_mapping mappings[] = {
		{.start = PROGRAM, .end = PROGRAM + SIZE, .to_frame = TO_FRAME(1, PROGRAM)},
		{.start = LIBRARY,
		 .end = LIBRARY + SIZE,
		 .to_frame = TO_FRAME(file, LIBRARY),
		 .granule_cnt = 16,
		 .arena = file},
	};

	assert_int_equal(code_history_add(history, IMAGE, unloads, mappings, file ? 2 : 1), 0);
}

/* Resolves the frames of a stack in which the program has called the library. */
static struct memleak_stack *resolve(const struct code_history *history, uint16_t unloads,
				     uint16_t known_unloads)
{
	static union {
		struct memleak_stack stack;
		uint64_t words[1 + FRAMES_MAX];
	} room;

	room.stack.frame_cnt = 2;
	room.stack.end = UNWIND_END_COMPLETE;
	room.stack.unresolved = 1;
	room.stack.unloads = unloads;
	room.stack.known_unloads = known_unloads;
	room.words[1] = LIBRARY + 0x10;
	/* return address at the end of the mapping: the program's last instruction is the call */
	room.words[2] = PROGRAM + SIZE;
	code_history_resolve(history, IMAGE, &room.stack);
	return &room.stack;
}

static void assert_frames(const struct memleak_stack *stack, uint64_t library, uint64_t program)
{
	assert_int_equal(stack->frame_cnt, 2);
	assert_int_equal(stack->end, UNWIND_END_COMPLETE);
	assert_true(stack->frames[0] == library);
	assert_true(stack->frames[1] == program);
}

static void same_time(void **state)
{
	struct code_history history = {0};

	add(&history, 0, 0);
	add(&history, 0, 2);
	assert_int_equal(history.cnt, 1);
	add(&history, 2, 3);
	assert_frames(resolve(&history, 0, 0), PLACE(2, 0x10), PLACE(1, SIZE));
	assert_frames(resolve(&history, 2, 2), PLACE(3, 0x10), PLACE(1, SIZE));
	code_history_deinit(&history);
}

/*
 * A stack is walked between two reads of the mappings. If at most one unload happened between the
 * reads, code that is in both lists can be resolved.
 */
static void between(void **state)
{
	struct code_history history = {0};

	add(&history, 0, 2);
	add(&history, 2, 2);
	assert_frames(resolve(&history, 1, 1), PLACE(2, 0x10), PLACE(1, SIZE));
	add(&history, 4, 3);
	assert_frames(resolve(&history, 3, 3), (LIBRARY + 0x10) | MEMLEAK_FRAME_UNSURE,
		      PLACE(1, SIZE));
	add(&history, 6, 0);
	assert_frames(resolve(&history, 5, 5), (LIBRARY + 0x10) | MEMLEAK_FRAME_UNSURE,
		      PLACE(1, SIZE));
	add(&history, 10, 0);
	assert_frames(resolve(&history, 8, 8), (LIBRARY + 0x10) | MEMLEAK_FRAME_UNSURE,
		      (PROGRAM + SIZE) | MEMLEAK_FRAME_UNSURE);
	code_history_deinit(&history);
}

/*
 * The first list was read during an unload, so another library may have been mapped and unmapped
 * before the second list was read: no frame is certain.
 */
static void in_the_midst(void **state)
{
	struct code_history history = {0};

	add(&history, 1, 2);
	add(&history, 4, 2);
	assert_frames(resolve(&history, 2, 2), (LIBRARY + 0x10) | MEMLEAK_FRAME_UNSURE,
		      (PROGRAM + SIZE) | MEMLEAK_FRAME_UNSURE);
	code_history_deinit(&history);
}

/*
 * The library in the stack is in neither list: it was loaded after the first list was read. The
 * second list has another file at the library's address, so the frame is uncertain.
 */
static void never_seen(void **state)
{
	struct code_history history = {0};

	add(&history, 0, 0);
	assert_frames(resolve(&history, 0, 0), LIBRARY + 0x10, PLACE(1, SIZE));
	add(&history, 2, 3);
	assert_frames(resolve(&history, 0, 0), (LIBRARY + 0x10) | MEMLEAK_FRAME_UNSURE,
		      PLACE(1, SIZE));
	code_history_deinit(&history);
}

/* Resolves stacks that were walked before the first list was read, or after the last one. */
static void one_side(void **state)
{
	struct code_history history = {0};

	assert_frames(resolve(&history, 0, 0), LIBRARY + 0x10, PROGRAM + SIZE);
	add(&history, 2, 2);
	assert_frames(resolve(&history, 0, 0), PLACE(2, 0x10), PLACE(1, SIZE));
	assert_frames(resolve(&history, 4, 4), (LIBRARY + 0x10) | MEMLEAK_FRAME_UNSURE,
		      (PROGRAM + SIZE) | MEMLEAK_FRAME_UNSURE);
	code_history_deinit(&history);
}

/*
 * The walk used the unwind table of a file that was mapped at this address earlier, so callers
 * found with it are dropped.
 */
static void mistaken(void **state)
{
	struct code_history history = {0};
	const struct memleak_stack *stack;

	add(&history, 0, 2);
	add(&history, 2, 3);
	stack = resolve(&history, 2, 0);
	assert_int_equal(stack->frame_cnt, 1);
	assert_int_equal(stack->end, UNWIND_END_NO_RULE);
	assert_true(stack->frames[0] == PLACE(3, 0x10));
	/* If the same file is loaded again at its address, the walk used the right table. */
	add(&history, 4, 3);
	assert_frames(resolve(&history, 4, 2), PLACE(3, 0x10), PLACE(1, SIZE));
	code_history_deinit(&history);
}

/*
 * A stack has only the low 16 bits of the number of unloads: it must resolve after these have
 * wrapped around.
 */
static void wrapped(void **state)
{
	struct code_history history = {0};

	add(&history, 0xfffe, 2);
	add(&history, 0x10002, 3);
	assert_frames(resolve(&history, 0x0002, 0x0002), PLACE(3, 0x10), PLACE(1, SIZE));
	assert_frames(resolve(&history, 0xffff, 0xffff), (LIBRARY + 0x10) | MEMLEAK_FRAME_UNSURE,
		      (PROGRAM + SIZE) | MEMLEAK_FRAME_UNSURE);
	code_history_deinit(&history);
}

/*
 * The address of an interrupted frame is no return address: it is looked up unchanged, and the
 * frame stays marked as exact.
 */
static void interrupted(void **state)
{
	struct code_history history = {0};
	union {
		struct memleak_stack stack;
		uint64_t words[2];
	} room = {.words = {0, PROGRAM | MEMLEAK_FRAME_EXACT}};

	add(&history, 0, 0);
	room.stack.frame_cnt = 1;
	code_history_resolve(&history, IMAGE, &room.stack);
	assert_true(room.words[1] == (PLACE(1, 0) | MEMLEAK_FRAME_EXACT));
	assert_true(MEMLEAK_FRAME_IN_FILE(room.words[1]));
	assert_true(MEMLEAK_FRAME_IS_EXACT(room.words[1]));
	assert_int_equal(MEMLEAK_FRAME_FILE_NUMBER(room.words[1]), 1);
	code_history_deinit(&history);
}

/* Old lists of mappings are dropped to limit memory use. */
static void bounded(void **state)
{
	struct code_history history = {0};

	for (uint32_t i = 0; i < 10000; i++)
		add(&history, i, 2);
	assert_true(history.cnt <= 4096);
	assert_int_equal(history.mapping_cnt, 2 * history.cnt);
	assert_true(history.lists[history.cnt - 1].unloads == 9999);
	code_history_deinit(&history);
}

/*
 * Once old lists of an image (a program since its exec) were dropped, its stacks walked before the
 * oldest remaining list cannot be resolved.
 */
static void forgotten(void **state)
{
	struct code_history history = {0};

	for (uint32_t i = 0; i < 5000; i++)
		add(&history, i, 2);
	assert_frames(resolve(&history, 10, 10), (LIBRARY + 0x10) | MEMLEAK_FRAME_UNSURE,
		      (PROGRAM + SIZE) | MEMLEAK_FRAME_UNSURE);
	assert_frames(resolve(&history, 4999, 4999), PLACE(2, 0x10), PLACE(1, SIZE));
	/*
	 * The list with the mappings that the walk used was dropped: the callers found with them
	 * are uncertain, so they are dropped as well.
	 */
	assert_int_equal(resolve(&history, 4999, 10)->frame_cnt, 1);
	code_history_drop(&history, IMAGE);
	add(&history, 2, 2);
	assert_frames(resolve(&history, 0, 0), PLACE(2, 0x10), PLACE(1, SIZE));
	code_history_deinit(&history);
}

static void forgotten_of_others(void **state)
{
	const struct unwind_mapping other = {.start = PROGRAM, .end = PROGRAM + SIZE};
	struct code_history history = {0};

	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(code_history_add(&history, IMAGE + 1, i, &other, 1), 0);
	add(&history, 2, 2);
	assert_frames(resolve(&history, 0, 0), PLACE(2, 0x10), PLACE(1, SIZE));
	code_history_deinit(&history);
}

/* Returns a stack whose innermost frame was in code unknown when the stack was walked. */
static struct memleak_stack *follow(uint64_t addr)
{
	static union {
		struct memleak_stack stack;
		uint64_t words[1 + FRAMES_MAX];
	} room;

	memset(&room, 0, sizeof(room));
	room.stack.frame_cnt = 2;
	room.stack.end = UNWIND_END_COMPLETE;
	room.stack.unresolved = 1;
	room.words[1] = addr | MEMLEAK_FRAME_UNKNOWN;
	room.words[2] = PROGRAM + SIZE;
	return &room.stack;
}

static void followed_without_table(void **state)
{
	struct code_history history = {0};
	struct memleak_stack *stack = follow(PROGRAM + 0x20);

	add(&history, 0, 2);
	assert_false(code_history_misled(&history, IMAGE, stack));
	assert_true(code_history_resolve(&history, IMAGE, stack));
	assert_frames(stack, PLACE(1, 0x20), PLACE(1, SIZE));
	code_history_deinit(&history);
}

static void assert_cut(const struct code_history *history, struct memleak_stack *stack,
		       uint64_t frame)
{
	assert_true(code_history_misled(history, IMAGE, stack));
	code_history_resolve(history, IMAGE, stack);
	assert_int_equal(stack->frame_cnt, 1);
	assert_int_equal(stack->end, UNWIND_END_NO_CODE);
	assert_true(stack->frames[0] == frame);
}

static void followed_in_spite_of_table(void **state)
{
	struct code_history history = {0};

	add(&history, 0, 2);
	assert_cut(&history, follow(LIBRARY + 0x10), PLACE(2, 0x10));
	code_history_deinit(&history);
}

static void followed_into_nothing(void **state)
{
	struct code_history history = {0};

	add(&history, 0, 0);
	assert_cut(&history, follow(LIBRARY + 0x10), LIBRARY + 0x10);
	code_history_deinit(&history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_time),
		cmocka_unit_test(between),
		cmocka_unit_test(in_the_midst),
		cmocka_unit_test(never_seen),
		cmocka_unit_test(one_side),
		cmocka_unit_test(mistaken),
		cmocka_unit_test(wrapped),
		cmocka_unit_test(interrupted),
		cmocka_unit_test(bounded),
		cmocka_unit_test(forgotten),
		cmocka_unit_test(forgotten_of_others),
		cmocka_unit_test(followed_without_table),
		cmocka_unit_test(followed_in_spite_of_table),
		cmocka_unit_test(followed_into_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
