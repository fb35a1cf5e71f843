// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests that script frames are taken out of stacks, put back, and hashed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loader/tables/script_frames.h"

#define DEPTH 8

/* A stack with room for DEPTH frames. */
union room {
	struct memleak_stack stack;
	uint64_t words[1 + DEPTH];
};

/* Makes a stack with the given numbers of native frames and script frames. */
static void make(union room *room, uint16_t native, uint8_t scripts)
{
	*room = (union room){0};
	room->stack.frame_cnt = native;
	room->stack.script_cnt = scripts & MEMLEAK_SCRIPT_FRAMES_BITS;
	for (size_t i = 0; i < DEPTH; i++)
		room->words[1 + i] = 100 + i;
}

static void test_take_and_put(void **state)
{
	struct script_frames frames;
	union room room;

	make(&room, 4, 2);
	script_frames_take(&room.stack, DEPTH, &frames);
	assert_int_equal(room.stack.script_cnt, 0);
	assert_int_equal(frames.cnt, 2);
	assert_int_equal(frames.items[0].code, 104);
	assert_int_equal(frames.items[0].instr, 105);
	assert_int_equal(frames.items[1].code, 106);
	/* Puts the script frames back after the stack has lost one of its native frames. */
	room.stack.frame_cnt = 3;
	script_frames_put(&frames, DEPTH, &room.stack);
	assert_int_equal(room.stack.script_cnt, 2);
	assert_int_equal(room.stack.frames[3], 104);
	assert_int_equal(room.stack.frames[6], 107);
	/* Only one of the script frames fits behind the native frames. */
	room.stack.frame_cnt = 5;
	script_frames_put(&frames, DEPTH, &room.stack);
	assert_int_equal(room.stack.script_cnt, 1);
	assert_int_equal(room.stack.frames[5], 104);
	room.stack.frame_cnt = DEPTH;
	script_frames_put(&frames, DEPTH, &room.stack);
	assert_int_equal(room.stack.script_cnt, 0);
}

static void test_no_room(void **state)
{
	struct script_frames frames;
	union room room;

	make(&room, 5, 2);
	script_frames_take(&room.stack, DEPTH, &frames);
	assert_int_equal(frames.cnt, 0);
	assert_int_equal(room.stack.script_cnt, 0);
}

/*
 * Stacks have different hashes if they differ in a field of a script frame or in one of its flags.
 */
static void test_hash(void **state)
{
	struct script_frames frames = {.items = {{.code = 16, .instr = 4}}, .cnt = 1};
	uint64_t plain = script_frames_hash(&frames, 7);

	assert_true(plain != 7);
	frames.items[0].code |= MEMLEAK_SCRIPT_BORDER;
	assert_true(script_frames_hash(&frames, 7) != plain);
	frames.items[0].code = 16 | MEMLEAK_SCRIPT_CUT;
	assert_true(script_frames_hash(&frames, 7) != plain);
	frames.items[0] = (struct memleak_script_frame){.code = 16, .instr = 4, .cookie = 1};
	assert_true(script_frames_hash(&frames, 7) != plain);
	frames.cnt = 0;
	assert_true(script_frames_hash(&frames, 7) == 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_take_and_put),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
