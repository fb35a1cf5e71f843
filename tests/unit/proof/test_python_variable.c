// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests finding the names of Python variables: in fake memory laid out like CPython's, and in
 * memory that only resembles it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proof/python_names.h"
#include "proof/python_pool.h"
#include "proof/python_variable.h"
#include "tests/unit/proof/fake_memory.h"

#define BASE 0x7f0000000000ULL
#define PAGES 64
#define END (BASE + PAGES * 4096)

/*
 * Addresses of the string type and its name, of the strings, of the dictionary's pairs, and of an
 * object. There are no pairs before PAIRS.
 */
#define TYPE (BASE + 0x100)
#define TYPE_NAME (BASE + 0x180)
#define STRINGS (BASE + 0x200)
#define STRING_BYTES 128
#define PAIRS (BASE + 2 * 4096)
#define OBJECT (BASE + 0x1000)

struct python {
	struct fake_memory fake;
	size_t string_cnt;
	size_t pair_cnt;
	bool is_old; /* true for the layout of CPython 3.11 */
};

/* Adds a string whose length field is `len`. Returns its address. */
static uint64_t string_of_length(struct python *python, const char *text, uint64_t len)
{
	uint64_t addr = STRINGS + STRING_BYTES * python->string_cnt++;
	uint64_t *words = fake_memory_at(&python->fake, addr);

	words[0] = 1;
	words[1] = TYPE;
	words[2] = len;
	words[4] = 0xe4;
	strcpy((char *)(words + 5 + python->is_old), text);
	return addr;
}

static uint64_t string(struct python *python, const char *text)
{
	return string_of_length(python, text, strlen(text));
}

/* Adds a pair to the dictionary. Returns the address of its value. */
static uint64_t add_pair(struct python *python, uint64_t name, uint64_t value)
{
	uint64_t addr = PAIRS + 16 * python->pair_cnt++;

	*fake_memory_at(&python->fake, addr) = name;
	*fake_memory_at(&python->fake, addr + 8) = value;
	return addr + 8;
}

/* Makes the dictionary of a module: "__name__" has the value "__main__". */
static void begin(struct python *python, bool is_old)
{
	*python = (struct python){.is_old = is_old};
	fake_memory_init(&python->fake, BASE, PAGES * 4096 / 8);
	*fake_memory_at(&python->fake, TYPE + 24) = TYPE_NAME;
	strcpy((char *)fake_memory_at(&python->fake, TYPE_NAME), "str");
	*fake_memory_at(&python->fake, PAIRS - 8) = UINT64_MAX;
	*fake_memory_at(&python->fake, PAIRS - 16) = 0x0102030405060708;
	add_pair(python, string(python, "__name__"), string(python, "__main__"));
}

static void check(struct python *python, uint64_t slot, const char *wanted)
{
	char name[2 * PYTHON_NAME_BYTES];
	bool found = python_variable(&python->fake.memory, slot, name);

	if (wanted) {
		assert_true(found);
		assert_string_equal(name, wanted);
	} else {
		assert_false(found);
	}
}

static void test_names(void **state)
{
	for (int is_old = 0; is_old < 2; is_old++) {
		struct python python;
		uint64_t slot;

		begin(&python, is_old);
		slot = add_pair(&python, string(&python, "cache"), OBJECT);
		add_pair(&python, string(&python, "gone"), 0);
		check(&python, slot, "__main__.cache");
		check(&python, add_pair(&python, string(&python, "last_1"), OBJECT),
		      "__main__.last_1");
		/*
		 * No name is found for the address at which a pair has its name, or for an address
		 * outside the dictionary.
		 */
		check(&python, slot - 8, NULL);
		check(&python, slot + 4096, NULL);
		fake_memory_deinit(&python.fake);
	}
}

/* Makes a pool with blocks of 64 bytes. Returns the address of its first block. */
static uint64_t make_pool(struct python *python, uint64_t addr)
{
	uint64_t *words = fake_memory_at(&python->fake, addr);
	const uint32_t header[] = {10,
				   0,
				   0,
				   0,
				   0,
				   0,
				   0,
				   0,
				   0,
				   3,
				   PYTHON_POOL_HEADER_BYTES + 10 * 64,
				   PYTHON_POOL_BYTES - 64};

	memcpy(words, header, sizeof(header));
	return addr + PYTHON_POOL_HEADER_BYTES;
}

/*
 * A container is named by a variable, else by the variable of an object that has the container,
 * else by a key.
 */
static void test_containers(void **state)
{
	struct mapping mapping = {.start = BASE, .end = END, .writable = true, .path = ""};
	struct python_named named[2] = {{.addr = OBJECT}, {.addr = OBJECT + 64}};
	struct python python;
	uint64_t block, other;

	begin(&python, false);
	python.fake.memory.maps = (struct proc_maps){.mappings = &mapping, .cnt = 1};
	assert_int_equal(python_names_find(&python.fake.memory, named, 2, UINT64_MAX), 0);
	assert_string_equal(named[0].name, "");
	/* This pair is not in the dictionary of a module, so only its key is known. */
	other = BASE + 40 * 4096;
	*fake_memory_at(&python.fake, other) = string(&python, "kept");
	*fake_memory_at(&python.fake, other + 8) = OBJECT;
	assert_int_equal(python_names_find(&python.fake.memory, named, 2, UINT64_MAX), 0);
	assert_int_equal(named[0].named_by, PYTHON_KEY);
	assert_string_equal(named[0].name, "kept");
	/* A variable refers to an object in a pool, and the object to the container. */
	block = make_pool(&python, BASE + 16 * 4096) + 3 * 64;
	*fake_memory_at(&python.fake, block + 40) = OBJECT;
	add_pair(&python, string(&python, "store"), block + 16);
	assert_int_equal(python_names_find(&python.fake.memory, named, 2, UINT64_MAX), 0);
	assert_int_equal(named[0].named_by, PYTHON_HOLDER);
	assert_string_equal(named[0].name, "__main__.store");
	add_pair(&python, string(&python, "cache"), OBJECT);
	assert_int_equal(python_names_find(&python.fake.memory, named, 2, UINT64_MAX), 0);
	assert_int_equal(named[0].named_by, PYTHON_VARIABLE);
	assert_string_equal(named[0].name, "__main__.cache");
	assert_int_equal(named[1].named_by, PYTHON_UNNAMED);
	fake_memory_deinit(&python.fake);
}

/* Classes of the objects of a cached function, and their names. */
#define CLASSES (BASE + 0x1c00)
#define CLASS_NAMES (BASE + 0x1e00)

static void set_class(struct python *python, uint64_t object, uint64_t number, const char *name)
{
	uint64_t class = CLASSES + 64 * number, at = CLASS_NAMES + 64 * number;

	*fake_memory_at(&python->fake, object + 8) = class;
	*fake_memory_at(&python->fake, class + 24) = at;
	strcpy((char *)fake_memory_at(&python->fake, at), name);
}

/* The cache of a method, which no variable holds, is named after the method. */
static void test_cached_method(void **state)
{
	struct mapping mapping = {.start = BASE, .end = END, .writable = true, .path = ""};
	struct python_named named = {.addr = OBJECT};
	uint64_t function = BASE + 40 * 4096, wrapper;
	struct python python;

	begin(&python, false);
	python.fake.memory.maps = (struct proc_maps){.mappings = &mapping, .cnt = 1};
	wrapper = make_pool(&python, BASE + 16 * 4096) + 3 * 64 + 16;
	set_class(&python, wrapper, 0, "functools._lru_cache_wrapper");
	*fake_memory_at(&python.fake, wrapper + 24) = OBJECT;
	*fake_memory_at(&python.fake, wrapper + 32) = function;
	set_class(&python, function, 1, "function");
	*fake_memory_at(&python.fake, function + 40) = string(&python, "Report.rows");
	assert_int_equal(python_names_find(&python.fake.memory, &named, 1, UINT64_MAX), 0);
	assert_int_equal(named.named_by, PYTHON_HOLDER);
	assert_string_equal(named.name, "Report.rows");
	fake_memory_deinit(&python.fake);
}

/* Address of a chunk in glibc's heap, and its size with a flag. Another chunk follows. */
#define CHUNK (BASE + 0x2c00)
#define CHUNK_SIZE 0x61

/* With PYTHONMALLOC=malloc, an object that has the container is in glibc's heap. */
static void test_heap(void **state)
{
	struct mapping mapping = {.start = BASE, .end = END, .writable = true, .path = ""};
	struct python_named named = {.addr = OBJECT};
	struct python python;
	uint64_t object = CHUNK + 2 * 8 + 16;

	begin(&python, false);
	python.fake.memory.maps = (struct proc_maps){.mappings = &mapping, .cnt = 1};
	*fake_memory_at(&python.fake, CHUNK + 8) = CHUNK_SIZE;
	*fake_memory_at(&python.fake, CHUNK + 0x60 + 8) = CHUNK_SIZE;
	*fake_memory_at(&python.fake, object + 24) = OBJECT;
	/* This variable refers to an object in the chunk before. */
	add_pair(&python, string(&python, "other"), CHUNK - 64);
	assert_int_equal(python_names_find(&python.fake.memory, &named, 1, UINT64_MAX), 0);
	assert_int_equal(named.named_by, PYTHON_UNNAMED);
	add_pair(&python, string(&python, "store"), object);
	assert_int_equal(python_names_find(&python.fake.memory, &named, 1, UINT64_MAX), 0);
	assert_int_equal(named.named_by, PYTHON_HOLDER);
	assert_string_equal(named.name, "__main__.store");
	fake_memory_deinit(&python.fake);
}

#define METHOD (BASE + 0x1800)

/*
 * Many bound methods point to the container, and so does an object. The object and the variable
 * that holds it must still be found.
 */
static void test_many_methods(void **state)
{
	struct mapping mapping = {.start = BASE, .end = END, .writable = true, .path = ""};
	struct python_named named = {.addr = OBJECT};
	struct python python;
	uint64_t block;

	begin(&python, false);
	python.fake.memory.maps = (struct proc_maps){.mappings = &mapping, .cnt = 1};
	for (uint64_t i = 0; i < 10; i++) {
		uint64_t pool = make_pool(&python, BASE + (16 + 4 * i) * 4096);

		for (uint64_t method = pool; method < pool + 10 * 64; method += 64) {
			*fake_memory_at(&python.fake, method + 32) = METHOD;
			*fake_memory_at(&python.fake, method + 40) = OBJECT;
		}
		block = pool + 9 * 64;
	}
	*fake_memory_at(&python.fake, block + 32) = METHOD + 64;
	add_pair(&python, string(&python, "store"), block + 16);
	assert_int_equal(python_names_find(&python.fake.memory, &named, 1, UINT64_MAX), 0);
	assert_int_equal(named.named_by, PYTHON_HOLDER);
	assert_string_equal(named.name, "__main__.store");
	/* The dictionaries of modules may be at higher addresses than the methods. */
	named = (struct python_named){.addr = METHOD};
	assert_int_equal(python_names_find(&python.fake.memory, &named, 1, UINT64_MAX), 0);
	assert_int_equal(named.named_by, PYTHON_UNNAMED);
	*fake_memory_at(&python.fake, END - 48) = UINT64_MAX;
	memcpy(fake_memory_at(&python.fake, END - 40), fake_memory_at(&python.fake, PAIRS), 16);
	*fake_memory_at(&python.fake, END - 24) = string(&python, "pending");
	*fake_memory_at(&python.fake, END - 16) = METHOD;
	assert_int_equal(python_names_find(&python.fake.memory, &named, 1, UINT64_MAX), 0);
	assert_int_equal(named.named_by, PYTHON_VARIABLE);
	assert_string_equal(named.name, "__main__.pending");
	fake_memory_deinit(&python.fake);
}

static void test_other_dictionaries(void **state)
{
	struct python python;

	begin(&python, false);
	*fake_memory_at(&python.fake, PAIRS) = string(&python, "first");
	check(&python, add_pair(&python, string(&python, "cache"), OBJECT), NULL);
	fake_memory_deinit(&python.fake);
}

static void test_odd_strings(void **state)
{
	static const struct {
		const char *text;
		uint64_t len;
	} odd[] = {
		{"cache", 0},          {"cache", 4},
		{"cache", 6},          {"cache", PYTHON_NAME_BYTES},
		{"ca\nhe", 5},         {"cache", UINT64_MAX},
		{"cache", 1ULL << 63}, {"ca\x80he", 5},
	};
	char text[PYTHON_NAME_BYTES + 1] = {0};
	struct python python;

	begin(&python, false);
	memset(text, 'a', sizeof(text) - 1);
	check(&python, add_pair(&python, string(&python, text), OBJECT), NULL);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		check(&python,
		      add_pair(&python, string_of_length(&python, odd[i].text, odd[i].len), OBJECT),
		      NULL);
	check(&python, add_pair(&python, string(&python, "good"), OBJECT), "__main__.good");
	/*
	 * No name is found if the type of a key is not str, or if the type's name cannot be read.
	 */
	strcpy((char *)fake_memory_at(&python.fake, TYPE_NAME), "bytes");
	check(&python, PAIRS + 8, NULL);
	*fake_memory_at(&python.fake, TYPE + 24) = END - 2;
	check(&python, PAIRS + 8, NULL);
	*fake_memory_at(&python.fake, TYPE + 24) = UINT64_MAX - 1;
	check(&python, PAIRS + 8, NULL);
	fake_memory_deinit(&python.fake);
}

/*
 * Tests strings and pairs at the ends of readable memory and of the address space: no name must be
 * found.
 */
static void test_edges(void **state)
{
	static const uint64_t names[] = {BASE - 8,        END - 8, END, UINT64_MAX - 7,
					 UINT64_MAX - 39, 1,       0,   OBJECT + 1};
	static const uint64_t slots[] = {
		0,        8,         15,      16,  17,      UINT64_MAX,    BASE,
		BASE + 8, BASE + 16, END - 8, END, END + 8, UINT64_MAX - 7};
	struct python python;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		begin(&python, false);
		check(&python, add_pair(&python, names[i], OBJECT), NULL);
		fake_memory_deinit(&python.fake);
	}
	begin(&python, false);
	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
		check(&python, slots[i], NULL);
	fake_memory_deinit(&python.fake);
}

/* Tests strings right before the end of readable memory. */
static void test_short_string(void **state)
{
	struct python python;
	uint64_t *words;

	begin(&python, false);
	words = fake_memory_at(&python.fake, END - 48);
	words[1] = TYPE;
	words[2] = 5;
	memcpy(words + 5, "cache", 6);
	check(&python, add_pair(&python, END - 48, OBJECT), "__main__.cache");
	memcpy(words + 5, "caches!!", 8);
	words[2] = 8;
	check(&python, PAIRS + 24, NULL);
	fake_memory_deinit(&python.fake);
}

/*
 * Names are found in a sequence of as many pairs as a large module has, but not in one with more
 * pairs than any module has. Memory full of pairs must not make the search long.
 */
static void test_endless_row(void **state)
{
	struct python python;
	uint64_t name, slot = 0;

	begin(&python, false);
	name = string(&python, "cache");
	for (size_t i = 0; i < 2000; i++)
		slot = add_pair(&python, name, OBJECT);
	check(&python, slot, "__main__.cache");
	python.fake.reads = 0;
	for (size_t i = 0; i < 1000; i++)
		slot = add_pair(&python, name, OBJECT);
	check(&python, slot, NULL);
	assert_true(python.fake.reads < 32);
	for (uint64_t addr = BASE; addr < END; addr += 8)
		*fake_memory_at(&python.fake, addr) = OBJECT;
	check(&python, BASE + 4096 + 8, NULL);
	fake_memory_deinit(&python.fake);
}

/*
 * An object of a class, with the array of its values at VALUES. The word at HOLDER points to the
 * array, and lies before the object.
 */
#define CLASS (BASE + 0x3000)
#define CLASS_NAME (BASE + 0x3800)
#define KEYS (BASE + 0x3900)
#define VALUES (BASE + 0x4000)
#define HOLDER (BASE + 0x5000)

/*
 * Makes an object with the attributes "name" and "cache". The object begins `before` bytes after
 * HOLDER.
 */
static void begin_class(struct python *python, uint64_t before)
{
	uint8_t *sizes;

	begin(python, false);
	*fake_memory_at(&python->fake, HOLDER) = VALUES;
	*fake_memory_at(&python->fake, HOLDER + before + 8) = CLASS;
	*fake_memory_at(&python->fake, CLASS + 24) = CLASS_NAME;
	strcpy((char *)fake_memory_at(&python->fake, CLASS_NAME), "Server");
	*fake_memory_at(&python->fake, CLASS + 880) = KEYS;
	sizes = (uint8_t *)fake_memory_at(&python->fake, KEYS + 8);
	sizes[0] = sizes[1] = 3;
	sizes[2] = 2;
	*fake_memory_at(&python->fake, KEYS + 24) = 2;
	*fake_memory_at(&python->fake, KEYS + 40) = string(python, "name");
	*fake_memory_at(&python->fake, KEYS + 56) = string(python, "cache");
}

static void check_attribute(struct python *python, uint64_t slot, uint64_t values, uint64_t holder,
			    const char *wanted)
{
	char name[2 * PYTHON_NAME_BYTES];
	bool found = python_attribute(&python->fake.memory, slot, values, holder, name);

	if (wanted) {
		assert_true(found);
		assert_string_equal(name, wanted);
	} else {
		assert_false(found);
	}
}

static void test_attributes(void **state)
{
	struct python python;

	begin_class(&python, 32);
	check_attribute(&python, VALUES, VALUES, HOLDER, "Server.name");
	check_attribute(&python, VALUES + 8, VALUES, HOLDER, "Server.cache");
	check_attribute(&python, VALUES + 16, VALUES, HOLDER, NULL);
	check_attribute(&python, VALUES - 8, VALUES, HOLDER, NULL);
	check_attribute(&python, VALUES + 8, VALUES, HOLDER + 8, "Server.cache");
	check_attribute(&python, VALUES + 8, VALUES, HOLDER + 16, NULL);
	/*
	 * Memory that begins with a number is no array of values, but for instance a dictionary,
	 * which begins with its reference count.
	 */
	*fake_memory_at(&python.fake, VALUES) = 1;
	check_attribute(&python, VALUES + 8, VALUES, HOLDER, NULL);
	fake_memory_deinit(&python.fake);
	/* CPython 3.12 */
	begin_class(&python, 24);
	check_attribute(&python, VALUES + 8, VALUES - 1, HOLDER, "Server.cache");
	fake_memory_deinit(&python.fake);
}

static void test_hostile_classes(void **state)
{
	static const struct {
		uint64_t addr, word;
	} odd[] = {
		{HOLDER + 40, UINT64_MAX - 7},
		{HOLDER + 40, 8},
		{HOLDER + 40, END},
		{HOLDER + 40, END - 8},
		{CLASS + 24, END},
		{CLASS + 24, UINT64_MAX},
		{CLASS_NAME, 0},
		{CLASS_NAME, 0x0a41},
		{CLASS + 880, END - 8},
		{CLASS + 880, UINT64_MAX - 31},
		{KEYS + 8, 0x02ff03},
		{KEYS + 8, 0x010303},
		{KEYS + 24, 1},
		{KEYS + 24, UINT64_MAX},
		{KEYS + 56, KEYS},
		{KEYS + 56, UINT64_MAX - 7},
	};
	struct python python;

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		begin_class(&python, 32);
		*fake_memory_at(&python.fake, odd[i].addr) = odd[i].word;
		check_attribute(&python, VALUES + 8, VALUES, HOLDER, NULL);
		fake_memory_deinit(&python.fake);
	}
	begin_class(&python, 32);
	memset(fake_memory_at(&python.fake, CLASS_NAME), 'A', 200);
	check_attribute(&python, VALUES + 8, VALUES, HOLDER, NULL);
	check_attribute(&python, UINT64_MAX, 0, HOLDER, NULL);
	check_attribute(&python, UINT64_MAX - 7, UINT64_MAX - 7, UINT64_MAX - 7, NULL);
	check_attribute(&python, 8, UINT64_MAX, HOLDER, NULL);
	/* A class in which each word points to keys must not make the search long. */
	python.fake.reads = 0;
	for (uint64_t at = CLASS + 32; at < CLASS_NAME; at += 8)
		*fake_memory_at(&python.fake, at) = KEYS;
	*fake_memory_at(&python.fake, KEYS + 56) = 0;
	strcpy((char *)fake_memory_at(&python.fake, CLASS_NAME), "Server");
	check_attribute(&python, VALUES + 8, VALUES, HOLDER, NULL);
	assert_true(python.fake.reads < 1000);
	fake_memory_deinit(&python.fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),         cmocka_unit_test(test_other_dictionaries),
		cmocka_unit_test(test_odd_strings),   cmocka_unit_test(test_edges),
		cmocka_unit_test(test_short_string),  cmocka_unit_test(test_endless_row),
		cmocka_unit_test(test_containers),    cmocka_unit_test(test_many_methods),
		cmocka_unit_test(test_attributes),    cmocka_unit_test(test_hostile_classes),
		cmocka_unit_test(test_cached_method), cmocka_unit_test(test_heap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
