// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests reading the script frames of a fake CPython 3.11, whose objects are arrays of 64-bit words.
 * Unreadable memory must end a walk, but not crash the test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* No library that this test could link contains the agent's code, so include its sources. */
#include "agent/call_tree.c"
#include "agent/script_code.c"
#include "agent/scripts.c"
#include "agent/system.c"
#include "prober/server/code_object.h"

#define ACCOUNT_BYTES (64ULL << 20)
#define REGION (1ULL << 20)
#define NATIVE ACCOUNT_STACK_END(UNWIND_END_COMPLETE)
#define BAD 0x10000ULL /* address of memory that is not mapped */

struct gate gate;
__thread struct thread self;

const uint32_t Py_Version = 0x030b02f0;
static union {
	uint64_t words[128];
	uint8_t bytes[1024];
} runtime;
extern const uint8_t _PyRuntime[sizeof(runtime)] __attribute__((alias("runtime")));

/* Result of Py_IsInitialized(): 0 while CPython shuts down. */
static int initialized = 1;

int Py_IsInitialized(void);

int Py_IsInitialized(void)
{
	return initialized;
}

/* The memory of a string or bytes object of CPython. */
struct text {
	uint64_t words[64];
};

struct fake_code {
	uint64_t words[32];
	struct text name;
	struct text path;
	struct text lines;
};

static struct account *account;
/* start time of the account; different for each account that the test makes */
static uint64_t began_ns;
static uint64_t state_of_thread[20], holder[2], frames[3][10];
static struct fake_code codes[2];
static struct script_walk walk;

static void put_text(struct text *text, const char *chars, size_t len, size_t head)
{
	text->words[1] = BAD; /* pointer to the type, which the agent does not read */
	text->words[OBJECT_SIZE / 8] = len;
	if (head != BYTES_DATA)
		text->words[STRING_STATE / 8] = 1 << 2 | 1 << 5 | 1 << 6;
	memcpy((char *)text->words + head, chars, len);
}

static void put_code(struct fake_code *code, const char *name, uint32_t first_line)
{
	memset(code, 0, sizeof(*code));
	memcpy((char *)code->words + 72, &first_line, sizeof(first_line));
	code->words[CODE_PATH / 8] = (uint64_t)&code->path;
	code->words[CODE_NAME / 8] = (uint64_t)&code->name;
	code->words[CODE_LINES / 8] = (uint64_t)&code->lines;
	put_text(&code->name, name, strlen(name), 48);
	put_text(&code->path, "app.py", 6, 48);
	put_text(&code->lines, "\x80\x00\xe0\x00\x00", 5, BYTES_DATA);
}

/* Fills frames[i]. ends: true for the outermost frame of an evaluation loop. */
static void put_frame(unsigned int i, const struct fake_code *code, bool ends)
{
	frames[i][32 / 8] = (uint64_t)code;
	frames[i][48 / 8] = i < 2 ? (uint64_t)frames[i + 1] : 0;
	frames[i][56 / 8] = (uint64_t)code + 184 + 2;
	((uint8_t *)frames[i])[68] = ends;
}

/*
 * Makes an account, and Python frames for this thread: two calls of codes[0], called by codes[1].
 */
static int begin(void **ret)
{
	pthread_key_t key;
	uint64_t at = 4096;

	account = mmap(NULL, ACCOUNT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	assert_ptr_not_equal(account, MAP_FAILED);
	for (unsigned int i = 0; i < ACCOUNT_REGION_CNT; i++, at += REGION)
		account->region[i] = at;
	account->end = at;
	account->began_ns = ++began_ns;
	gate.frames = region(account, ACCOUNT_FRAMES);
	call_tree_begin(account);
	assert_int_equal(pthread_key_create(&key, NULL), 0);
	runtime.words[0x250 / 8] = 1 | (uint64_t)key << 32;
	pthread_setspecific(key, state_of_thread);
	put_code(&codes[0], "recurse", 10);
	put_code(&codes[1], "main", 30);
	put_frame(0, &codes[0], false);
	put_frame(1, &codes[0], true);
	put_frame(2, &codes[1], true);
	holder[1] = (uint64_t)frames[0];
	state_of_thread[56 / 8] = (uint64_t)holder;
	state_of_thread[152 / 8] = (uint64_t)pthread_self();
	scripts_load();
	assert_true(scripts_known);
	return 0;
}

static int end(void **ret)
{
	return munmap(account, ACCOUNT_BYTES);
}

static uint32_t find(void)
{
	return scripts_find(account, NATIVE, &walk, NULL);
}

/* Stores the script frames of a stack in `ret`, innermost first. Returns their number. */
static size_t path_of(uint32_t number, uint64_t *ret)
{
	size_t cnt = 0;

	for (; number != NATIVE; number = gate.frames[number].parent)
		ret[cnt++] = gate.frames[number].frame;
	return cnt;
}

static bool read_account(void *arg, uint64_t addr, void *buf, size_t len)
{
	if (addr > ACCOUNT_BYTES - len)
		return false;
	memcpy(buf, (const char *)account + addr, len);
	return true;
}

/* Checks the name, file and line of a frame. Reads only the account. */
static void assert_place(uint64_t frame, const char *name, uint32_t line)
{
	const struct object_memory memory = {read_account, NULL};
	const struct python_layout *python = python_layout_of(Py_Version);
	uint64_t at = account->region[ACCOUNT_CODES] + ACCOUNT_SCRIPT_CODE(frame) * 16ULL;
	const struct account_code *head = (void *)((char *)account + at - sizeof(*head));
	struct code_object code;

	assert_int_equal(code_object_read(&memory, python, at, head->cookie, &code), 0);
	assert_string_equal(code.name, name);
	assert_string_equal(code.path, "app.py");
	assert_int_equal(code_object_line(&code, python, (uint32_t)frame), line);
	code_object_deinit(&code);
}

static void test_frames(void **ret)
{
	uint32_t number = find();
	uint64_t path[8];

	assert_int_equal(path_of(number, path), 3);
	/*
	 * Each frame's instruction belongs to the second entry of the line table: its line is the
	 * function's first line + 2.
	 */
	assert_place(path[0], "recurse", 12);
	assert_place(path[2], "main", 32);
	assert_int_equal(path[1], path[0] | MEMLEAK_FRAME_EXACT);
	assert_true(path[2] & MEMLEAK_FRAME_EXACT);
	assert_false((path[0] | path[1] | path[2]) & ACCOUNT_SCRIPT_CUT);
	assert_int_equal(find(), number);
	assert_int_equal(account->stack_cnt, 1);
}

/* A stack counts as new even if only a line, or only the code object at an address, has changed. */
static void test_changes(void **ret)
{
	uint32_t first = find(), second, third;
	uint64_t bytes = account->code_bytes, path[8];

	frames[0][56 / 8] -= 2;
	second = find();
	assert_int_not_equal(second, first);
	assert_int_equal(account->code_bytes, bytes);
	path_of(second, path);
	assert_place(path[0], "recurse", 10);
	put_code(&codes[0], "other", 50);
	third = find();
	assert_int_not_equal(third, second);
	path_of(third, path);
	assert_place(path[0], "other", 50);
}

/*
 * A code object is replaced by another one at the same address, with equal counts and first line:
 * the copy of the old one must not be reused. An equal code object at another address must share
 * the copy.
 */
static void test_reused(void **ret)
{
	uint64_t first[8], path[8], bytes;

	path_of(find(), first);
	memcpy((char *)codes[0].name.words + 48, "another", 7);
	path_of(find(), path);
	assert_place(path[0], "another", 12);
	assert_place(first[0], "recurse", 12);
	((char *)codes[0].lines.words)[BYTES_DATA + 2] = (char)0xd8;
	path_of(find(), path);
	assert_place(path[0], "another", 11);
	bytes = account->code_bytes;
	codes[1] = codes[0];
	codes[1].words[CODE_PATH / 8] = (uint64_t)&codes[1].path;
	codes[1].words[CODE_NAME / 8] = (uint64_t)&codes[1].name;
	codes[1].words[CODE_LINES / 8] = (uint64_t)&codes[1].lines;
	path_of(find(), path);
	assert_int_equal(ACCOUNT_SCRIPT_CODE(path[2]), ACCOUNT_SCRIPT_CODE(path[0]));
	assert_int_equal(account->code_bytes, bytes);
	((char *)codes[1].path.words)[48] = 'A';
	path_of(find(), path);
	assert_int_not_equal(ACCOUNT_SCRIPT_CODE(path[2]), ACCOUNT_SCRIPT_CODE(path[0]));
}

/* Differences in two 64-bit words of a name must not cancel out in its hash. */
static void test_alike(void **ret)
{
	uint64_t first[8], path[8];

	put_code(&codes[0], "r5_column0", 10);
	path_of(find(), first);
	put_code(&codes[0], "r0_column3", 10);
	path_of(find(), path);
	assert_place(first[0], "r5_column0", 12);
	assert_place(path[0], "r0_column3", 12);
	put_code(&codes[0], "r0_column4", 10);
	path_of(find(), path);
	assert_place(path[0], "r0_column4", 12);
	put_code(&codes[0], "r0_column4", 20);
	path_of(find(), path);
	assert_place(path[0], "r0_column4", 22);
}

/*
 * The agent's memory (its account) must not contain addresses of Python objects: a proof would take
 * them for pointers to the objects.
 */
static void test_no_addresses(void **ret)
{
	const uint64_t *words = region(account, ACCOUNT_CODES);

	find();
	for (uint64_t i = 0; i < account->code_bytes / 8; i++)
		assert_true(words[i] < (uint64_t)codes || words[i] >= (uint64_t)&codes[2]);
	for (uint64_t i = 0; i < account->code_bytes / 8; i++)
		assert_int_not_equal(words[i], BAD);
}

/*
 * No frames are read while CPython shuts down, since it frees the thread states of running threads.
 */
static void test_ending(void **ret)
{
	initialized = 0;
	assert_int_equal(find(), NATIVE);
	initialized = 1;
	assert_int_not_equal(find(), NATIVE);
}

/*
 * Each pointer on the way to the frames is bad in turn. The frames before it are stored, and the
 * last of them is marked as the end of a truncated stack.
 */
static void test_bad_pointers(void **ret)
{
	static uint64_t *const pointers[] = {
		&frames[1][48 / 8], &frames[1][32 / 8], &frames[0][48 / 8],
		&frames[0][32 / 8], &holder[1],         &state_of_thread[56 / 8],
	};
	static const size_t kept[] = {2, 1, 1, 0, 0, 0};
	uint64_t path[8];

	for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
		static const uint64_t bad[] = {BAD, 8, UINT64_MAX - 7, 1ULL << 62};

		for (size_t j = 0; j < sizeof(bad) / sizeof(bad[0]); j++) {
			*pointers[i] = bad[j];
			assert_int_equal(path_of(find(), path), kept[i]);
			if (kept[i])
				assert_true(path[kept[i] - 1] & ACCOUNT_SCRIPT_CUT);
		}
	}
}

/* Frames of a code object that cannot be copied completely have no name. */
static void test_bad_names(void **ret)
{
	const struct object_memory memory = {read_account, NULL};
	struct code_object code;
	uint64_t path[8], at;

	codes[0].words[CODE_NAME / 8] = BAD;
	codes[0].words[CODE_LINES / 8] = BAD;
	codes[1].path.words[OBJECT_SIZE / 8] = UINT64_MAX;
	assert_int_equal(path_of(find(), path), 3);
	for (size_t i = 0; i < 3; i++) {
		at = account->region[ACCOUNT_CODES] + ACCOUNT_SCRIPT_CODE(path[i]) * 16ULL;
		assert_int_equal(
			code_object_read(&memory, python_layout_of(Py_Version), at,
					 ((struct account_code *)((char *)account + at))[-1].cookie,
					 &code),
			-EFAULT);
	}
}

/*
 * If there is no room for a copy of a code object, its frames have no name. If there is no room for
 * frames, they are left out. Each loss is counted.
 */
static void test_no_room(void **ret)
{
	uint64_t path[8];

	account->code_bytes = REGION - 64;
	assert_int_equal(path_of(find(), path), 3);
	assert_int_equal(ACCOUNT_SCRIPT_CODE(path[0]), 0);
	assert_int_equal(account->code_bytes, REGION - 64);
	assert_int_equal(account->lost[ACCOUNT_LOST_STACKS], 1);
	account->frame_cnt = REGION / sizeof(struct account_frame);
	frames[2][56 / 8] += 2;
	assert_int_equal(find(), NATIVE);
	assert_int_equal(account->lost[ACCOUNT_LOST_STACKS], 2);
}

/*
 * Frames are read neither from the state of another thread nor before CPython has created its
 * thread-local key.
 */
static void test_other_thread(void **ret)
{
	state_of_thread[152 / 8]++;
	assert_int_equal(find(), NATIVE);
	state_of_thread[152 / 8]--;
	runtime.words[0x250 / 8] &= ~1ULL;
	assert_int_equal(find(), NATIVE);
}

/* An endless chain of frames is truncated. */
static void test_deep(void **ret)
{
	static uint64_t path[MEMLEAK_SCRIPT_FRAMES_MAX + 1];

	frames[0][48 / 8] = (uint64_t)frames[0];
	assert_int_equal(path_of(find(), path), MEMLEAK_SCRIPT_FRAMES_MAX);
	assert_int_equal(path[MEMLEAK_SCRIPT_FRAMES_MAX - 1], path[0] | ACCOUNT_SCRIPT_CUT);
}

/* A page that was found readable is not checked again, until the agent is told of an unmap. */
static void test_unmapped(void **ret)
{
	struct readable readable = {0};
	uint64_t *page = mmap(NULL, READABLE_PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		 path[8];

	assert_ptr_not_equal(page, MAP_FAILED);
	memcpy(page, frames[1], sizeof(frames[1]));
	frames[0][48 / 8] = (uint64_t)page;
	assert_int_equal(path_of(scripts_find(account, NATIVE, &walk, &readable), path), 3);
	assert_int_equal(readable_set(&readable, (uint64_t)page)[0], page);
	munmap(page, READABLE_PAGE);
	scripts_unmapped();
	assert_int_equal(path_of(scripts_find(account, NATIVE, &walk, &readable), path), 1);
}

/*
 * The thread runs a second interpreter. It has a second thread state, which is not in its
 * thread-specific data.
 */
static void test_subinterpreter(void **ret)
{
	uint64_t second[20], second_holder[2] = {0, (uint64_t)frames[2]}, path[8];

	memcpy(second, state_of_thread, sizeof(second));
	second[56 / 8] = (uint64_t)second_holder;
	runtime.words[0x240 / 8] = (uint64_t)second;
	assert_int_equal(path_of(find(), path), 1);
	assert_place(path[0], "main", 32);
	/* Another thread holds the global interpreter lock. */
	second[152 / 8]++;
	assert_int_equal(path_of(find(), path), 3);
	runtime.words[0x240 / 8] = 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_frames),         TEST(test_changes),   TEST(test_no_addresses),
		TEST(test_bad_pointers),   TEST(test_bad_names), TEST(test_no_room),
		TEST(test_other_thread),   TEST(test_deep),      TEST(test_unmapped),
		TEST(test_ending),         TEST(test_reused),    TEST(test_alike),
		TEST(test_subinterpreter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
