// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests counting the objects of a Python program, in fake memory with pools as CPython lays them
 * out, and with damaged pools.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "options/options.h"
#include "prober/server/python_layout.h"
#include "proof/heap_arena.h"
#include "proof/python_free.h"
#include "proof/python_heap.h"
#include "proof/python_pool.h"
#include "tests/unit/lib/random.h"
#include "tests/unit/proof/fake_memory.h"

#define SECOND_NS 1000000000ULL
#define BASE 0x7f0000000000ULL
#define TYPES BASE
#define POOLS (BASE + PYTHON_POOL_BYTES)
#define POOL_CNT 16
#define END (POOLS + POOL_CNT * PYTHON_POOL_BYTES)

/* Number of bytes for each type. The second half has the type's name. */
#define TYPE_BYTES 512
enum {
	TYPE_LIST,
	TYPE_ENTRY,
	TYPE_CODE,
	TYPE_COROUTINE,
	TYPE_FUNCTION,
	TYPE_SET,
	TYPE_WEAK,
	TYPE_DICT,
	TYPE_CNT
};

/* Addresses of the objects of a script, after those of the types. */
#define CODE (BASE + 8192)
#define CODE_BYTES 1024
#define FUNCTION (CODE + CODE_BYTES)
#define DICTIONARY (FUNCTION + 512)
#define TEXTS (DICTIONARY + 1024)
#define TEXT_BYTES 256
enum { TEXT_NAME, TEXT_PATH, TEXT_LINES, TEXT_LIBRARY };

/* Address of the C library's data, which takes the last page before the pools. */
#define LIBRARY (POOLS - 4096)
/* Words of an arena of the C library: see proof/heap_arena.c. */
enum { ARENA_TOP = 16, ARENA_HEADS = 18, ARENA_TAIL = 500 };

#define FLAG_READY (1U << 12)
#define FLAG_LIST (1U << 25)
#define FLAG_DICT (1U << 29)
#define FLAG_HEAP_TYPE (1U << 9)

struct python {
	struct fake_memory fake;
	struct mapping library, mapping;
	struct python_heap *heap;
	const struct python_layout *layout;
	uint64_t now_ns;
	struct python_growth growth;
	uint64_t items[PYTHON_CONTAINERS_MAX];
};

static void add_type(struct python *python, size_t type, const char *name, uint64_t flags)
{
	uint64_t addr = TYPES + type * TYPE_BYTES, *words = fake_memory_at(&python->fake, addr);

	words[0] = 1;
	words[1] = TYPES;
	words[3] = addr + TYPE_BYTES / 2;
	words[4] = 40;
	words[21] = FLAG_READY | flags;
	strcpy((char *)(words + TYPE_BYTES / 16), name);
}

static int set_up(void **state)
{
	static struct python python;

	memset(&python, 0, sizeof(python));
	fake_memory_init(&python.fake, BASE, (END - BASE) / sizeof(uint64_t));
	python.mapping = (struct mapping){
		.start = POOLS, .end = END, .readable = true, .writable = true, .path = ""};
	python.library = (struct mapping){.start = LIBRARY,
					  .end = POOLS,
					  .readable = true,
					  .writable = true,
					  .path = "/lib/libc.so.6"};
	python.fake.memory.maps = (struct proc_maps){.mappings = &python.library, .cnt = 2};
	python.heap = python_heap__new(NULL);
	add_type(&python, TYPE_LIST, "list", FLAG_LIST);
	add_type(&python, TYPE_ENTRY, "Entry", 0);
	*state = &python;
	return python.heap ? 0 : -1;
}

static int tear_down(void **state)
{
	struct python *python = *state;

	python_heap__free(python->heap);
	fake_memory_deinit(&python->fake);
	return 0;
}

/* Makes a pool of `used` blocks, of which the first `freed` are free again. */
static void make_pool(struct python *python, size_t pool, uint32_t size, uint32_t used,
		      uint32_t freed)
{
	uint64_t addr = POOLS + pool * PYTHON_POOL_BYTES, *words;
	uint32_t *numbers;

	words = fake_memory_at(&python->fake, addr);
	numbers = (uint32_t *)words;
	numbers[0] = used - freed;
	words[1] = freed ? addr + PYTHON_POOL_HEADER_BYTES : 0;
	numbers[9] = size / 16 - 1;
	numbers[10] = PYTHON_POOL_HEADER_BYTES + used * size;
	numbers[11] = PYTHON_POOL_BYTES - size;
	for (uint32_t i = 0; i < freed; i++)
		words[(PYTHON_POOL_HEADER_BYTES + i * size) / 8] =
			i + 1 < freed ? addr + PYTHON_POOL_HEADER_BYTES + (i + 1) * size : 0;
}

/* Writes an object, `before` words after a block's start. Returns its address. */
static uint64_t add_object(struct python *python, size_t pool, uint32_t size, uint32_t block,
			   size_t before, size_t type)
{
	uint64_t addr = POOLS + pool * PYTHON_POOL_BYTES + PYTHON_POOL_HEADER_BYTES + block * size +
			before * sizeof(uint64_t);
	uint64_t *words = fake_memory_at(&python->fake, addr);

	words[0] = 1;
	words[1] = TYPES + type * TYPE_BYTES;
	return addr;
}

static void read_until(struct python *python, uint64_t deadline_ns)
{
	python->now_ns += SECOND_NS;
	assert_int_equal(python_heap__read(python->heap, &python->fake.memory, python->layout,
					   python->now_ns, deadline_ns, &python->growth,
					   python->items),
			 0);
}

static void read_heap(struct python *python)
{
	read_until(python, UINT64_MAX);
}

/* Like make_pool(), with objects of the class Entry. */
static void make_entries(struct python *python, size_t pool, uint32_t used, uint32_t freed)
{
	make_pool(python, pool, 48, used, freed);
	for (uint32_t i = freed; i < used; i++)
		add_object(python, pool, 48, i, 0, TYPE_ENTRY);
}

static void classes_grow(void **state)
{
	struct python *python = *state;
	const struct python_class *class = &python->growth.classes[0];

	make_entries(python, 0, 100, 0);
	read_heap(python);
	assert_int_equal(python->growth.class_cnt, 0);
	make_entries(python, 1, 200, 50);
	read_heap(python);
	assert_int_equal(python->growth.class_cnt, 1);
	assert_string_equal(class->name, "Entry");
	assert_int_equal(class->count, 250);
	assert_int_equal(class->more, 150);
	assert_int_equal(class->more_bytes, 150 * 48);
	assert_int_equal(class->for_ns, SECOND_NS);
	/* A class that has shrunk since the previous count is not listed. */
	make_entries(python, 1, 200, 60);
	read_heap(python);
	assert_int_equal(python->growth.class_cnt, 0);
}

/*
 * Counting ends at its deadline. The objects that it did not reach must not count as growth or as a
 * loss, neither now nor in the next count.
 */
static void cut_reading(void **state)
{
	struct python *python = *state;

	make_entries(python, 0, 100, 0);
	read_heap(python);
	assert_int_equal(python->growth.uncounted, 0);
	make_entries(python, 1, 40, 0);
	read_until(python, 0);
	assert_int_equal(python->growth.uncounted, 100);
	assert_int_equal(python->growth.class_cnt, 0);
	read_heap(python);
	assert_int_equal(python->growth.uncounted, 0);
	assert_int_equal(python->growth.class_cnt, 1);
	assert_int_equal(python->growth.classes[0].more, 40);
}

/* Makes an arena of the C library that cannot be read: the list of arenas does not lead back. */
static void break_arena(struct python *python)
{
	uint64_t *words = fake_memory_at(&python->fake, LIBRARY);

	words[ARENA_TOP] = LIBRARY + ARENA_TAIL * sizeof(*words);
	words[ARENA_TAIL + 1] = (POOLS - words[ARENA_TOP]) | 1;
	for (uint64_t i = 0; i < ARENA_BINS; i++)
		words[ARENA_HEADS + 2 * i] = words[ARENA_HEADS + 2 * i + 1] =
			LIBRARY + (ARENA_TOP + 2 * i) * sizeof(*words);
}

/*
 * While an arena cannot be read, its objects are not counted. In the next count, they must not seem
 * to be new.
 */
static void arena_skipped(void **state)
{
	struct python *python = *state;

	make_entries(python, 0, 100, 0);
	read_heap(python);
	make_entries(python, 0, 200, 0);
	read_heap(python);
	break_arena(python);
	make_entries(python, 0, 50, 0);
	read_heap(python);
	assert_int_equal(python->growth.uncounted, 150);
	assert_int_equal(python->growth.class_cnt, 0);
	memset(fake_memory_at(&python->fake, LIBRARY), 0, POOLS - LIBRARY);
	make_entries(python, 0, 150, 0);
	read_heap(python);
	assert_int_equal(python->growth.uncounted, 0);
	assert_int_equal(python->growth.class_cnt, 0);
}

/* If the first count ends at its deadline, the number of uncounted objects is unknown. */
static void cut_first_reading(void **state)
{
	struct python *python = *state;

	make_entries(python, 0, 100, 0);
	read_until(python, 0);
	assert_true(python->growth.uncounted == PYTHON_UNCOUNTED_UNKNOWN);
}

/*
 * Makes a string or a bytes object. `at` is the offset of its characters: 48 in a string, 32 in
 * bytes.
 */
static uint64_t add_text(struct python *python, size_t text, const char *data, size_t at)
{
	uint64_t addr = TEXTS + text * TEXT_BYTES, *words = fake_memory_at(&python->fake, addr);

	memset(words, 0, TEXT_BYTES);
	words[2] = strlen(data);
	words[3] = 1; /* hash */
	words[4] = 1 << 2 | 1 << 5 | 1 << 6;
	memcpy((char *)words + at, data, strlen(data));
	return addr;
}

/*
 * Makes a code object of CPython 3.11. Its first 8 instructions are on line 12, and all others on
 * line 13.
 */
static void add_code(struct python *python, const char *name, const char *path)
{
	uint64_t *words = fake_memory_at(&python->fake, CODE);

	memset(words, 0, CODE_BYTES);

	words[0] = 1;
	words[1] = TYPES + TYPE_CODE * TYPE_BYTES;
	words[9] = 12;
	words[14] = add_text(python, TEXT_PATH, path, 48);
	words[15] = words[16] = add_text(python, TEXT_NAME, name, 48);
	words[17] = add_text(python, TEXT_LINES, "\xd7\x01\x01\xdf\x01\x01", 32);
}

/* Makes a pool of function objects that refer to the code object. */
static void make_functions(struct python *python, size_t pool, uint32_t cnt)
{
	make_pool(python, pool, 64, cnt, 0);
	for (uint32_t i = 0; i < cnt; i++)
		fake_memory_at(&python->fake,
			       add_object(python, pool, 64, i, 0, TYPE_FUNCTION))[6] = CODE;
}

/* Makes a pool of coroutines that wait at the given instruction of a code object. */
static void fill_with_coroutines(struct python *python, size_t pool, uint32_t cnt, uint64_t code,
				 uint64_t instruction)
{
	make_pool(python, pool, 208, cnt, 0);
	for (uint32_t i = 0; i < cnt; i++) {
		uint64_t *words = fake_memory_at(
			&python->fake, add_object(python, pool, 208, i, 2, TYPE_COROUTINE));

		words[14] = code;
		words[17] = code + 184 + 2 * instruction;
	}
}

static void make_coroutines(struct python *python, uint32_t cnt, uint64_t instruction)
{
	fill_with_coroutines(python, 0, cnt, CODE, instruction);
}

static void run_script(struct python *python)
{
	python->layout = python_layout_of(0x030b0000);
	add_type(python, TYPE_CODE, "code", 0);
	add_type(python, TYPE_COROUTINE, "coroutine", 0);
	add_type(python, TYPE_FUNCTION, "function", 0);
}

static void expect_place(struct python *python, const char *class, const char *function,
			 uint32_t line)
{
	assert_int_equal(python->growth.class_cnt, 1);
	assert_string_equal(python->growth.classes[0].name, class);
	assert_int_equal(python->growth.classes[0].more, 40);
	assert_string_equal(python->growth.classes[0].place.function, function);
	assert_string_equal(python->growth.classes[0].place.file, *function ? "/srv/app.py" : "");
	assert_int_equal(python->growth.classes[0].place.line, line);
}

static void more_coroutines(struct python *python, const char *path)
{
	run_script(python);
	add_code(python, "serve", path);
	make_coroutines(python, 10, 10);
	read_heap(python);
	make_coroutines(python, 50, 10);
}

/* Coroutines are shown with the line on which most of them wait. */
static void coroutines_wait(void **state)
{
	struct python *python = *state;

	more_coroutines(python, "/srv/app.py");
	*fake_memory_at(&python->fake, POOLS + PYTHON_POOL_HEADER_BYTES + 152) = CODE + 184;
	read_heap(python);
	expect_place(python, "coroutine", "serve", 13);
}

/* Coroutines of a library's code are shown without a line: the library does not leak by itself. */
static void coroutines_of_library(void **state)
{
	struct python *python = *state;

	more_coroutines(python, "/usr/lib/python3.11/asyncio/locks.py");
	read_heap(python);
	expect_place(python, "coroutine", "", 0);
}

/* As on stacks, code of packages of the system does not belong to the program. */
static void coroutines_of_package(void **state)
{
	struct python *python = *state;

	more_coroutines(python, "/usr/lib/hg/wait.py");
	read_heap(python);
	expect_place(python, "coroutine", "", 0);
}

/* With --own, the coroutine belongs to the program although its code is in a folder of packages. */
static void coroutines_of_own_package(void **state)
{
	static char path[] = "shop";
	static char *paths[] = {path};
	static const struct options opts = {.own = paths, .own_cnt = 1};
	struct python *python = *state;

	python_heap__free(python->heap);
	python->heap = python_heap__new(&opts);
	more_coroutines(python, "/srv/site-packages/shop/app.py");
	read_heap(python);
	assert_string_equal(python->growth.classes[0].place.function, "serve");
	python_heap__free(python->heap);
	python->heap = python_heap__new(&opts);
	more_coroutines(python, "/srv/app.py");
	read_heap(python);
	expect_place(python, "coroutine", "", 0);
}

/* As on stacks, code without a file belongs to the program. */
static void coroutines_of_string(void **state)
{
	struct python *python = *state;

	more_coroutines(python, "<string>");
	read_heap(python);
	assert_string_equal(python->growth.classes[0].place.function, "serve");
	assert_int_equal(python->growth.classes[0].place.line, 13);
}

/* Number of coroutines through which each task waits. All but one are those of a library. */
#define WAITING_CODES (POOL_CNT - 1)

/* Makes coroutines of WAITING_CODES code objects, of which only number `own` is the program's. */
static void make_tasks(struct python *python, size_t own)
{
	uint64_t path = add_text(python, TEXT_LIBRARY, "/usr/lib/python3.11/queue.py", 48);

	add_code(python, "serve", "/srv/app.py");
	for (size_t i = 0; i < WAITING_CODES; i++) {
		uint64_t code = POOLS + WAITING_CODES * PYTHON_POOL_BYTES + i * CODE_BYTES;
		uint64_t *words = fake_memory_at(&python->fake, code);

		memcpy(words, fake_memory_at(&python->fake, CODE), CODE_BYTES);
		if (i != own)
			words[14] = path;
		fill_with_coroutines(python, i, 40, code, 10);
	}
}

/* Returns the number of classes that are shown with the line of `serve`. */
static size_t placed_cnt(const struct python_growth *growth)
{
	size_t cnt = 0;

	for (size_t i = 0; i < growth->class_cnt; i++)
		cnt += !strcmp(growth->classes[i].place.function, "serve");
	return cnt;
}

/*
 * Tasks wait in a library, through many coroutines of which there are as many. The coroutine of the
 * program is shown.
 */
static void tasks_wait_in_library(void **state)
{
	struct python *python = *state;

	run_script(python);
	for (size_t own = 0; own < WAITING_CODES; own++) {
		memset(fake_memory_at(&python->fake, POOLS), 0, END - POOLS);
		python_heap__free(python->heap);
		python->heap = python_heap__new(NULL);
		read_heap(python);
		make_tasks(python, own);
		read_heap(python);
		assert_int_equal(placed_cnt(&python->growth), 1);
	}
}

/*
 * A new code object is at the address of one that is gone. It counts as new, even if it has fewer
 * coroutines.
 */
static void code_replaced(void **state)
{
	struct python *python = *state;

	run_script(python);
	add_code(python, "serve", "/srv/app.py");
	make_coroutines(python, 60, 10);
	read_heap(python);
	add_code(python, "poll", "/srv/app.py");
	fake_memory_at(&python->fake, CODE)[9] = 50;
	make_coroutines(python, 40, 10);
	read_heap(python);
	expect_place(python, "coroutine", "poll", 51);
}

/*
 * A code object that is partly not resident reads as zeros there. It must not be taken for a new
 * one.
 */
static void code_not_resident(void **state)
{
	struct python *python = *state;
	uint64_t *words = fake_memory_at(&python->fake, CODE);

	run_script(python);
	add_code(python, "serve", "/srv/app.py");
	make_coroutines(python, 40, 10);
	read_heap(python);
	words[17] = 0;
	read_heap(python);
	assert_int_equal(python->growth.class_cnt, 0);
	add_code(python, "serve", "/srv/app.py");
	read_heap(python);
	assert_int_equal(python->growth.class_cnt, 0);
}

/* Coroutines do not count as function objects, although both refer to the same code object. */
static void coroutines_and_functions(void **state)
{
	struct python *python = *state;

	run_script(python);
	add_code(python, "serve", "/srv/app.py");
	make_coroutines(python, 30, 10);
	make_functions(python, 1, 40);
	read_heap(python);
	make_functions(python, 1, 80);
	read_heap(python);
	expect_place(python, "function", "serve", 12);
	assert_int_equal(python->growth.classes[0].count, 80);
}

/* Gives the class Entry a dictionary whose only entry is a method. */
static void add_method(struct python *python)
{
	uint64_t *words = fake_memory_at(&python->fake, FUNCTION);

	words[1] = TYPES + TYPE_FUNCTION * TYPE_BYTES;
	words[6] = CODE;
	/* a dictionary and its keys: 8 bytes of indexes, and one pair of name and method */
	words = fake_memory_at(&python->fake, DICTIONARY);
	words[4] = DICTIONARY + 64;
	words[9] = 3 | 3 << 8 | 1 << 16;
	words[11] = 1;
	words[14] = FUNCTION;
	*fake_memory_at(&python->fake, TYPES + TYPE_ENTRY * TYPE_BYTES + 264) = DICTIONARY;
}

/* Objects of a class are shown with the first line of its constructor. */
static void class_has_constructor(void **state)
{
	struct python *python = *state;

	run_script(python);
	add_type(python, TYPE_ENTRY, "Entry", FLAG_HEAP_TYPE);
	add_code(python, "Entry.__init__", "/srv/app.py");
	add_method(python);
	make_entries(python, 0, 100, 0);
	read_heap(python);
	make_entries(python, 0, 140, 0);
	read_heap(python);
	expect_place(python, "Entry", "Entry.__init__", 12);
}

/* The garbage collector's header of two words precedes each container. */
static void containers_grow(void **state)
{
	struct python *python = *state;
	uint64_t grows, shrinks;

	make_pool(python, 0, 64, 10, 0);
	grows = add_object(python, 0, 64, 3, 2, TYPE_LIST);
	shrinks = add_object(python, 0, 64, 4, 2, TYPE_LIST);
	*fake_memory_at(&python->fake, grows + 24) = END + 4096;
	for (uint64_t i = 0; i < 5; i++) {
		*fake_memory_at(&python->fake, grows + 16) = 100 + 50 * i;
		*fake_memory_at(&python->fake, shrinks + 16) = i == 2 ? 9 : 100 + 500 * i;
		read_heap(python);
		assert_int_equal(python->growth.container_cnt, i >= 3);
	}
	assert_int_equal(python->growth.containers[0].items, 300);
	assert_int_equal(python->growth.containers[0].more, 200);
	assert_int_equal(python->growth.containers[0].for_ns, 4 * SECOND_NS);
	assert_string_equal(python->growth.containers[0].class, "list");
	assert_string_equal(python->growth.containers[0].name, "");
	assert_int_equal(python->items[0], END + 4096);
	assert_int_equal(python->growth.allocator, PYTHON_ALLOCATOR_POOLS);
	/* A container that has stopped growing is no longer listed after a few more readings. */
	for (int i = 0; i < 3; i++)
		read_heap(python);
	assert_int_equal(python->growth.container_cnt, 0);
}

#define TABLES (POOLS + 4 * PYTHON_POOL_BYTES)

/*
 * A set of weak references keeps no objects alive, so it is listed last, although it grows faster.
 */
static void weak_sets(void **state)
{
	static const uint64_t rates[] = {51, 50}, item_types[] = {TYPE_WEAK, TYPE_ENTRY};
	struct python *python = *state;
	uint64_t sets[2];

	add_type(python, TYPE_SET, "set", 0);
	add_type(python, TYPE_WEAK, "weakref.ReferenceType", 0);
	make_pool(python, 0, 224, 2, 0);
	make_pool(python, 1, 48, 2, 0);
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t table = TABLES + i * 2048;

		sets[i] = add_object(python, 0, 224, i, 2, TYPE_SET);
		*fake_memory_at(&python->fake, sets[i] + 40) = table;
		/* Slot 0 of the set's table is free. */
		*fake_memory_at(&python->fake, table + 16) =
			add_object(python, 1, 48, i, 0, item_types[i]);
	}
	for (uint64_t reading = 0; reading < 4; reading++) {
		for (size_t i = 0; i < 2; i++)
			*fake_memory_at(&python->fake, sets[i] + 24) = 100 + rates[i] * reading;
		read_heap(python);
	}
	assert_int_equal(python->growth.container_cnt, 2);
	assert_int_equal(python->growth.containers[0].addr, sets[1] + 24);
	assert_int_equal(python->growth.containers[1].addr, sets[0] + 24);
}

/*
 * A dictionary whose values are weak references, as in a WeakValueDictionary, is listed last,
 * although it grows faster.
 */
static void weak_dictionaries(void **state)
{
	static const uint64_t rates[] = {51, 50}, item_types[] = {TYPE_WEAK, TYPE_ENTRY};
	struct python *python = *state;
	uint64_t dicts[2];

	add_type(python, TYPE_DICT, "dict", FLAG_DICT);
	add_type(python, TYPE_WEAK, "KeyedRef", 0);
	make_pool(python, 0, 224, 2, 0);
	make_pool(python, 1, 48, 2, 0);
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t table = TABLES + i * 2048;
		uint64_t *words = fake_memory_at(&python->fake, table);

		dicts[i] = add_object(python, 0, 224, i, 2, TYPE_DICT);
		*fake_memory_at(&python->fake, dicts[i] + 32) = table;
		/* the head, 8 bytes of indexes, and one item: hash, key and value */
		words[1] = 3 | 3 << 8;
		words[3] = 1;
		words[7] = add_object(python, 1, 48, i, 0, item_types[i]);
	}
	for (uint64_t reading = 0; reading < 4; reading++) {
		for (size_t i = 0; i < 2; i++)
			*fake_memory_at(&python->fake, dicts[i] + 16) = 100 + rates[i] * reading;
		read_heap(python);
	}
	assert_int_equal(python->growth.container_cnt, 2);
	assert_int_equal(python->growth.containers[0].addr, dicts[1] + 16);
}

/*
 * A growing container whose class is gone is no longer listed, even if counting ends before it
 * reaches the container again.
 */
static void container_class_gone(void **state)
{
	struct python *python = *state;
	uint64_t list;

	make_pool(python, 0, 64, 10, 0);
	list = add_object(python, 0, 64, 3, 2, TYPE_LIST);
	for (uint64_t i = 0; i < 4; i++) {
		*fake_memory_at(&python->fake, list + 16) = 100 + 50 * i;
		read_heap(python);
	}
	assert_int_equal(python->growth.container_cnt, 1);
	add_type(python, TYPE_LIST, "Queue", FLAG_LIST);
	read_until(python, 0);
	assert_int_equal(python->growth.container_cnt, 0);
}

/* Objects are counted even if the mapping does not start at a multiple of the pool size. */
static void unaligned_mapping(void **state)
{
	struct python *python = *state;

	python->mapping.start += 4096;
	make_entries(python, 0, 100, 0);
	read_heap(python);
	make_entries(python, 0, 140, 0);
	read_heap(python);
	assert_int_equal(python->growth.class_cnt, 1);
	assert_int_equal(python->growth.classes[0].more, 40);
}

/* A class at the address of a class that is gone counts as a new class. */
static void class_replaced(void **state)
{
	struct python *python = *state;

	make_entries(python, 0, 100, 0);
	read_heap(python);
	add_type(python, TYPE_ENTRY, "Other", 0);
	read_heap(python);
	assert_int_equal(python->growth.class_cnt, 1);
	assert_string_equal(python->growth.classes[0].name, "Other");
	assert_int_equal(python->growth.classes[0].count, 100);
}

/*
 * The name of an interpreter's file need not have a version, and the interpreter need not be a
 * library.
 */
static void interpreters(void **state)
{
	static const char *const names[] = {"/usr/bin/python3.11", "/usr/lib/libpython3.11.so.1.0",
					    "/opt/app/bin/python", "/usr/bin/pythonic",
					    "/usr/bin/python2.7"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct mapping mapping = {.executable = true, .path = (char *)names[i]};
		const struct proc_maps maps = {.mappings = &mapping, .cnt = 1};

		assert_int_equal(python_heap_is_in(&maps), i < 3);
		mapping.executable = false;
		assert_false(python_heap_is_in(&maps));
	}
}

static const struct memory_ops *fake_ops;

/* The first read takes longer than counting may take. */
static ssize_t read_late(const struct memory *memory, uint64_t addr, void *ret, size_t len)
{
	static bool is_late;

	if (!is_late)
		sleep(4);
	is_late = true;
	return fake_ops->read(memory, addr, ret, len);
}

/* Counting is limited by the CPU time that it uses: on a busy machine it may take long. */
static void busy_machine(void **state)
{
	struct python *python = *state;
	struct memory_ops ops;

	fake_ops = python->fake.memory.ops;
	ops = *fake_ops;
	ops.read = read_late;
	python->fake.memory.ops = &ops;
	make_entries(python, 0, 100, 0);
	read_heap(python);
	make_entries(python, 0, 140, 0);
	read_heap(python);
	assert_int_equal(python->growth.class_cnt, 1);
}

/*
 * Free memory is what is not in used blocks, up to the end of the memory that was written to. A
 * pool without used blocks is free as a whole. Memory without a header of a pool does not count.
 */
static void free_memory(void **state)
{
	const uint64_t partly = PYTHON_POOL_BYTES - PYTHON_POOL_HEADER_BYTES - 8 * 64;
	const uint64_t cut = 8192 - PYTHON_POOL_HEADER_BYTES - 10 * 64;
	struct python *python = *state;

	assert_int_equal(python_free_bytes(&python->fake.memory), 0);
	make_pool(python, 0, 64, 10, 2);
	assert_int_equal(python_free_bytes(&python->fake.memory), partly);
	make_pool(python, 2, 32, 5, 5);
	assert_int_equal(python_free_bytes(&python->fake.memory), partly + PYTHON_POOL_BYTES);
	make_pool(python, POOL_CNT - 1, 64, 10, 0);
	python->mapping.end -= 8192;
	assert_int_equal(python_free_bytes(&python->fake.memory), partly + PYTHON_POOL_BYTES + cut);
	/* The first pool begins before the mapping, so it is not a pool of this mapping. */
	python->mapping.start += 4096;
	assert_int_equal(python_free_bytes(&python->fake.memory), PYTHON_POOL_BYTES + cut);
	python->mapping.shared = true;
	assert_int_equal(python_free_bytes(&python->fake.memory), 0);
}

static void is_no_pool(const struct python *python, size_t word, uint64_t value)
{
	unsigned char header[PYTHON_POOL_HEADER_BYTES];
	struct python_pool pool;

	memcpy(header, python->fake.words + (POOLS - BASE) / 8, sizeof(header));
	assert_true(python_pool_parse_header(header, POOLS, &pool));
	memcpy(header + 8 * word, &value, sizeof(value));
	assert_false(python_pool_parse_header(header, POOLS, &pool));
}

static void damaged_headers(void **state)
{
	struct python *python = *state;

	make_pool(python, 0, 64, 10, 0);
	is_no_pool(python, 0, 0);                           /* no used blocks */
	is_no_pool(python, 0, 11);                          /* more used blocks than handed out */
	is_no_pool(python, 4, 32ULL << 32);                 /* no such block size */
	is_no_pool(python, 5, (48 + 650) | 16320ULL << 32); /* free space begins inside a block */
	is_no_pool(python, 5, (48 + 640) | 16336ULL << 32); /* last block has a different size */
	is_no_pool(python, 5, 16400 | 16320ULL << 32);      /* free space begins beyond the end */
}

/*
 * Lists of free blocks may be circular, lead out of the pool, or point between blocks: the list is
 * ignored from there on.
 */
static void damaged_free_lists(void **state)
{
	struct python *python = *state;
	uint64_t first = POOLS + PYTHON_POOL_HEADER_BYTES;
	const uint64_t next[] = {first, first + 64, first + 8, POOLS,
				 END,   UINT64_MAX, 1,         first - 64};
	unsigned char *bytes = (unsigned char *)fake_memory_at(&python->fake, POOLS);
	struct python_pool pool;

	make_pool(python, 0, 64, 10, 2);
	for (size_t i = 0; i < sizeof(next) / sizeof(*next); i++) {
		*fake_memory_at(&python->fake, first + 64) = next[i];
		assert_true(python_pool_parse(bytes, POOLS, &pool));
		assert_int_equal(pool.free[0], 3);
	}
}

/* Counting must end, whatever the memory contains. */
static void random_memory(void **state)
{
	struct python *python = *state;
	uint64_t seed = 1;

	for (int round = 0; round < 300; round++) {
		for (size_t pool = 0; pool < POOL_CNT; pool++)
			make_pool(python, pool, 64, 200, (uint32_t)(random_next(&seed) % 100));
		for (size_t i = 0; i < 3000; i++) {
			uint64_t at = BASE + random_next(&seed) % (END - BASE) / 8 * 8;

			*fake_memory_at(&python->fake, at) =
				random_next(&seed) % 3 ? BASE + random_next(&seed) % (END - BASE)
						       : random_next(&seed) % 5000;
		}
		read_heap(python);
		assert_in_range(python->growth.class_cnt, 0, PYTHON_CLASSES_MAX);
		assert_in_range(python->growth.container_cnt, 0, PYTHON_CONTAINERS_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(classes_grow, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cut_reading, set_up, tear_down),
		cmocka_unit_test_setup_teardown(arena_skipped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cut_first_reading, set_up, tear_down),
		cmocka_unit_test_setup_teardown(coroutines_wait, set_up, tear_down),
		cmocka_unit_test_setup_teardown(coroutines_of_library, set_up, tear_down),
		cmocka_unit_test_setup_teardown(coroutines_of_package, set_up, tear_down),
		cmocka_unit_test_setup_teardown(coroutines_of_own_package, set_up, tear_down),
		cmocka_unit_test_setup_teardown(coroutines_of_string, set_up, tear_down),
		cmocka_unit_test_setup_teardown(tasks_wait_in_library, set_up, tear_down),
		cmocka_unit_test_setup_teardown(code_replaced, set_up, tear_down),
		cmocka_unit_test_setup_teardown(code_not_resident, set_up, tear_down),
		cmocka_unit_test_setup_teardown(coroutines_and_functions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(class_has_constructor, set_up, tear_down),
		cmocka_unit_test_setup_teardown(containers_grow, set_up, tear_down),
		cmocka_unit_test_setup_teardown(container_class_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(unaligned_mapping, set_up, tear_down),
		cmocka_unit_test_setup_teardown(class_replaced, set_up, tear_down),
		cmocka_unit_test_setup_teardown(busy_machine, set_up, tear_down),
		cmocka_unit_test_setup_teardown(free_memory, set_up, tear_down),
		cmocka_unit_test(interpreters),
		cmocka_unit_test_setup_teardown(damaged_headers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(damaged_free_lists, set_up, tear_down),
		cmocka_unit_test_setup_teardown(weak_sets, set_up, tear_down),
		cmocka_unit_test_setup_teardown(weak_dictionaries, set_up, tear_down),
		cmocka_unit_test_setup_teardown(random_memory, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
