// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests stack walks that stop at frames known from the previous stack: each walk is compared with a
 * complete walk. Functions call each other at random; some stacks are deep enough to be truncated.
 */
#include <alloca.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/agent/here.h"
#include "tests/unit/lib/random.h"

#define DEPTH 24U
#define ROUNDS 400

static struct known_stack known;
static uint64_t seed = 1;
static uint64_t cut_cnt, whole_cnt, met_cnt;

/*
 * Checks that the stored stack `number` has the frames of a complete walk. If it is truncated, it
 * has at least DEPTH frames.
 */
static void compare(uint32_t number, const struct walked_stack *whole)
{
	uint32_t cnt = 0, i = 0;

	for (; i < whole->step_cnt && number >= ACCOUNT_STACK_ENDS; i++) {
		if (!whole->steps[i].is_kept)
			continue;
		assert_int_equal(gate.frames[number].frame, whole->steps[i].frame);
		number = gate.frames[number].parent;
		cnt++;
	}
	if (number == ACCOUNT_STACK_END(UNWIND_END_TRUNCATED) ||
	    whole->end == UNWIND_END_TRUNCATED) {
		assert_true(cnt >= DEPTH);
		cut_cnt++;
		return;
	}
	assert_int_equal(number, ACCOUNT_STACK_END(whole->end));
	for (; i < whole->step_cnt; i++)
		assert_false(whole->steps[i].is_kept);
	whole_cnt++;
}

static NOIPA void look(void)
{
	static struct walked_stack walk, whole;
	struct caller caller;
	ucontext_t here;
	uint32_t number;

	getcontext(&here);
	caller = caller_here(&here);
	walk_run(account, &caller, &known, &walk);
	assert_false(walk.doubtful);
	met_cnt += walk.known_cnt > 0;
	number = walk_keep(account, &walk, &known, true);
	assert_int_not_equal(number, 0);
	walk_run(account, &caller, NULL, &whole);
	compare(number, &whole);
}

static NOIPA int descend(int left);

static NOIPA int plainly(int left)
{
	volatile char place[40];

	place[0] = (char)left;
	if (random_next(&seed) % 3 == 0)
		look();
	return descend(left - 1) + place[0];
}

/* Recurses. Uses alloca(), so that its frame has to be found by the frame pointer. */
static NOIPA int by_frame_pointer(int left)
{
	volatile char *place = alloca(16 + random_next(&seed) % 64);

	place[0] = (char)left;
	look();
	return descend(left - 1) + place[0];
}

static NOIPA int descend(int left)
{
	int ret = 0;

	if (left <= 0) {
		look();
		return 0;
	}
	switch (random_next(&seed) % 4) {
	case 0:
		ret = plainly(left) + 1;
		break;
	case 1:
		ret = by_frame_pointer(left) + 2;
		break;
	case 2:
		ret = descend(left - 1) + 3;
		break;
	case 3:
		ret = descend(left - 1) + 4;
		look();
		break;
	}
	if (random_next(&seed) % 4 == 0)
		look();
	return ret;
}

static void test_walks(void **state)
{
	for (int i = 0; i < ROUNDS; i++)
		descend((int)(random_next(&seed) % (3 * DEPTH)));
	assert_true(cut_cnt > ROUNDS);
	assert_true(whole_cnt > ROUNDS);
	assert_true(met_cnt > (cut_cnt + whole_cnt) / 2);
	assert_int_equal(account->lost[ACCOUNT_LOST_STACKS], 0);
}

/*
 * A stack with more frames than `known` can hold is stored, but must not be remembered as the
 * previous stack.
 */
static void test_too_long(void **state)
{
	static struct walked_stack walk = {.known_cnt = WALK_STEPS_MAX, .step_cnt = 1};

	walk.steps[0].is_kept = true;
	walk.steps[0].frame = 1;
	known.cnt = WALK_STEPS_MAX;
	for (uint32_t i = 0; i < known.cnt; i++)
		known.frames[i].number = ACCOUNT_STACK_END(UNWIND_END_TRUNCATED);
	assert_true(walk_keep(account, &walk, &known, true) >= ACCOUNT_STACK_ENDS);
	assert_true(walk.doubtful);
	walk.known_cnt--;
	walk.doubtful = false;
	assert_true(walk_keep(account, &walk, &known, true) >= ACCOUNT_STACK_ENDS);
	assert_false(walk.doubtful);
}

/* Common part of frame information with the augmentation "zR" and one more letter. */
static bool knows_augmentation(char letter)
{
	const struct {
		uint32_t len, id;
		uint8_t version;
		char augmentation[4];
		uint8_t code_alignment, data_alignment, return_register, data_len, encoding;
		uint8_t instructions[2];
	} __attribute__((packed)) entry = {.len = sizeof(entry) - sizeof(entry.len),
					   .version = 1,
					   .augmentation = {'z', 'R', letter},
					   .code_alignment = 1,
					   .data_alignment = 0x78,
					   .return_register = 16,
					   .data_len = 1,
					   .encoding = DW_EH_PE_sdata4};
	struct common common;

	return read_common((struct reader){.at = (uint64_t)&entry, .end = (uint64_t)(&entry + 1)},
			   &common) &&
	       common.has_data && common.encoding == DW_EH_PE_sdata4;
}

/* Letters for signal frames, pointer authentication and memory tagging need no data. */
static void test_augmentations(void **state)
{
	for (const char *letter = "SBG"; *letter; letter++)
		assert_true(knows_augmentation(*letter));
	assert_false(knows_augmentation('X'));
}

/* As after dlclose(): discards the list of mappings, and reads it again. False if that fails. */
static bool read_again(void)
{
	struct code code;
	bool unsure;

	__atomic_store_n(&read_ns, 0, __ATOMIC_RELAXED); /* spend none of the time budget */
	modules_forget();
	return modules_find(account, (uint64_t)become_caller, &code, &unsure) &&
	       code.start <= (uint64_t)become_caller && code.end > (uint64_t)become_caller;
}

/* A program that reloads a plugin again and again must not grow by lists of its mappings. */
static void test_lists_are_freed(void **state)
{
	static void *lists[1000];
	unsigned char resident;
	int kept = 0;

	for (int i = 0; i < 1000; i++) {
		assert_true(read_again());
		lists[i] = list;
	}
	for (int i = 0; i < 1000; i++)
		kept += lists[i] != list && !mincore(lists[i], 1, &resident);
	assert_int_equal(kept, 0);
}

/*
 * Another thread may unload a file while the list is read, so files without the address must not be
 * read. Reading a hole of this file would allocate a page.
 */
static void test_other_files_are_not_read(void **state)
{
	int fd = memfd_create("file", MFD_CLOEXEC);
	struct stat st;
	void *code;

	assert_int_equal(ftruncate(fd, PAGE), 0);
	code = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(code, MAP_FAILED);
	assert_true(read_again());
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_blocks, 0);
	munmap(code, PAGE);
	close(fd);
}

static void *read_often(void *arg)
{
	struct code code;
	int *found = arg;
	bool unsure;

	for (int i = 0; i < 200; i++) {
		read_again();
		__atomic_store_n(&read_ns, 0, __ATOMIC_RELAXED);
		/* There is no code, so this reads another list, and compares it with the current
		 * one. */
		modules_find(account, (uint64_t)&readers, &code, &unsure);
		*found += modules_find(account, (uint64_t)become_caller, &code, &unsure) || unsure;
	}
	return NULL;
}

/* A list is not freed while another thread reads it. */
static void test_lists_in_threads(void **state)
{
	pthread_t threads[4];
	int found[4] = {0};

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_often, &found[i]), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(found[i], 200);
	assert_int_equal(readers, 0);
}

static int begin(void **state)
{
	make_account(DEPTH);
	become_caller();
	return 0;
}

static int end(void **state)
{
	munmap(account, ACCOUNT_BYTES);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walks),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_augmentations),
		cmocka_unit_test(test_lists_are_freed),
		cmocka_unit_test(test_other_files_are_not_read),
		cmocka_unit_test(test_lists_in_threads),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
