// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads string objects of CPython 3. Searches backwards from a pair of name and value to the first
 * pair of the dictionary.
 */
#include "proof/python_variable.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "proof/python_dict.h"

#define WORD sizeof(uint64_t)
#define PAIR (2 * WORD)

/* Maximum pairs of name and value to search backwards. */
#define PAIRS_MOST 2048

/* Offset of tp_name in PyTypeObject. */
#define TYPE_NAME_AT 24

/* 8-byte words to read from a PyHeapTypeObject, which begins with a PyTypeObject. */
#define TYPE_WORDS 160

#define SHARED_KEYS_MOST 30

/*
 * Bytes between the start of an object and the pointer, before the object, to its attribute values:
 * in Python 3.11, and in Python 3.12.
 */
static const uint64_t values_before[] = {32, 24};

/* A PyASCIIObject. Up to Python 3.11, one more word precedes the characters. */
struct string {
	uint64_t references;
	uint64_t type;
	uint64_t length;
	uint64_t hash;
	uint64_t state;
	char bytes[WORD + PYTHON_NAME_BYTES];
};

static bool read_all(const struct memory *memory, uint64_t addr, void *ret, size_t len)
{
	return memory->ops->read(memory, addr, ret, len) == (ssize_t)len;
}

static bool is_address(uint64_t word)
{
	return word > UINT16_MAX && word < 1ULL << 48 && word % WORD == 0;
}

static bool is_string_type(const struct memory *memory, uint64_t type)
{
	uint64_t name;
	char text[4];

	return is_address(type) && read_all(memory, type + TYPE_NAME_AT, &name, sizeof(name)) &&
	       read_all(memory, name, text, sizeof(text)) && !memcmp(text, "str", sizeof(text));
}

/* Reads the string object at addr. False if it cannot be a name. */
static bool read_name(const struct memory *memory, uint64_t addr, char ret[PYTHON_NAME_BYTES])
{
	struct string string = {0};
	const char *text = string.bytes;
	size_t len;

	if (!is_address(addr) ||
	    memory->ops->read(memory, addr, &string, sizeof(string)) <
		    (ssize_t)offsetof(struct string, bytes) ||
	    !string.length || string.length >= PYTHON_NAME_BYTES)
		return false;
	len = string.length;
	if (!*text)
		text += WORD;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '.')
			return false;
	if (text[len] || !is_string_type(memory, string.type))
		return false;
	memcpy(ret, text, len + 1);
	return true;
}

/* Reads the name of a type, a C string. */
static bool read_type_name(const struct memory *memory, uint64_t type, char ret[PYTHON_NAME_BYTES])
{
	uint64_t name;
	size_t len;

	if (!is_address(type) || !read_all(memory, type + TYPE_NAME_AT, &name, sizeof(name)) ||
	    memory->ops->read(memory, name, ret, PYTHON_NAME_BYTES) <= 0)
		return false;
	ret[PYTHON_NAME_BYTES - 1] = '\0';
	len = strlen(ret);
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)ret[i]) && ret[i] != '_' && ret[i] != '.')
			return false;
	return len && len < PYTHON_NAME_BYTES - 1;
}

bool python_is(const struct memory *memory, uint64_t object, const char *class)
{
	char name[PYTHON_NAME_BYTES];
	uint64_t type;

	return read_all(memory, object + WORD, &type, sizeof(type)) &&
	       read_type_name(memory, type, name) && !strcmp(name, class);
}

/* 8-byte words in the header of the garbage collector, and to read from a wrapper of a cache. */
#define COLLECTOR_WORDS 2
#define WRAPPER_WORDS 20
/* Offset of the qualified name in a function; the same in CPython 3.11 to 3.14. */
#define FUNCTION_QUALIFIED_NAME 40

bool python_cached_function(const struct memory *memory, uint64_t block,
			    char ret[PYTHON_NAME_BYTES])
{
	uint64_t wrapper = block + COLLECTOR_WORDS * WORD, words[WRAPPER_WORDS], name;

	if (!python_is(memory, wrapper, "functools._lru_cache_wrapper") ||
	    !read_all(memory, wrapper, words, sizeof(words)))
		return false;
	/* The offset of the pointer to the function depends on the version. */
	for (size_t i = 2; i < WRAPPER_WORDS; i++)
		if (is_address(words[i]) && python_is(memory, words[i], "function") &&
		    read_all(memory, words[i] + FUNCTION_QUALIFIED_NAME, &name, sizeof(name)) &&
		    read_name(memory, name, ret))
			return true;
	return false;
}

/* Reads one name from the keys that all objects of a class share. */
static bool read_shared_key(const struct memory *memory, uint64_t addr, uint64_t index,
			    char ret[PYTHON_NAME_BYTES])
{
	struct python_keys keys;
	uint64_t key;

	return is_address(addr) && python_keys_read(memory, addr, &keys) &&
	       keys.kind == PYTHON_KEYS_SHARED && keys.cnt <= SHARED_KEYS_MOST &&
	       index < keys.cnt &&
	       read_all(memory, keys.first + index * keys.key_bytes, &key, sizeof(key)) &&
	       read_name(memory, key, ret);
}

/*
 * Writes "CLASS.ATTRIBUTE" for the attribute value number `index` of an object. The offset at which
 * a type object has the pointer to its shared keys depends on the Python version, so the keys are
 * recognised by their content.
 */
static bool read_attribute(const struct memory *memory, uint64_t object, uint64_t index,
			   char ret[2 * PYTHON_NAME_BYTES])
{
	char class[PYTHON_NAME_BYTES], name[PYTHON_NAME_BYTES];
	uint64_t type, words[TYPE_WORDS];
	ssize_t got;

	if (!read_all(memory, object + WORD, &type, sizeof(type)) ||
	    !read_type_name(memory, type, class))
		return false;
	got = memory->ops->read(memory, type, words, sizeof(words));
	for (ssize_t i = 0; i < got / (ssize_t)WORD; i++) {
		if (!read_shared_key(memory, words[i], index, name))
			continue;
		snprintf(ret, 2 * PYTHON_NAME_BYTES, "%s.%s", class, name);
		return true;
	}
	return false;
}

/* True if all of the first `cnt` values are NULL or plausible addresses of objects. */
static bool are_values(const struct memory *memory, uint64_t values, uint64_t cnt)
{
	uint64_t words[SHARED_KEYS_MOST];

	if (!read_all(memory, values, words, cnt * WORD))
		return false;
	for (uint64_t i = 0; i < cnt; i++)
		if (words[i] && !is_address(words[i]))
			return false;
	return true;
}

bool python_attribute(const struct memory *memory, uint64_t slot, uint64_t values, uint64_t holder,
		      char ret[2 * PYTHON_NAME_BYTES])
{
	uint64_t index;

	/* Python 3.12 stores the address of the values minus 1, as a tag. */
	values = (values + WORD - 1) & ~(uint64_t)(WORD - 1);
	index = (slot - values) / WORD;
	if (slot < values || index >= SHARED_KEYS_MOST || !are_values(memory, values, index + 1))
		return false;
	for (size_t i = 0; i < sizeof(values_before) / sizeof(*values_before); i++)
		if (read_attribute(memory, holder + values_before[i], index, ret))
			return true;
	return false;
}

/* Returns the start of the adjacent pairs of name and value that end at addr. */
static uint64_t first_pair(const struct memory *memory, uint64_t addr)
{
	uint64_t pairs[128][2];
	size_t cnt = sizeof(pairs) / PAIR;

	for (size_t all = 0; all < PAIRS_MOST; all += cnt) {
		uint64_t start = addr - sizeof(pairs);

		if (!read_all(memory, start, pairs, sizeof(pairs)))
			return addr;
		for (size_t i = cnt; i; i--)
			if (!is_address(pairs[i - 1][0]) ||
			    (pairs[i - 1][1] && !is_address(pairs[i - 1][1])))
				return start + i * PAIR;
		addr = start;
	}
	return addr;
}

bool python_key(const struct memory *memory, uint64_t slot, char ret[PYTHON_NAME_BYTES])
{
	uint64_t key;

	return slot >= WORD && read_all(memory, slot - WORD, &key, sizeof(key)) &&
	       read_name(memory, key, ret);
}

bool python_variable(const struct memory *memory, uint64_t slot, char ret[2 * PYTHON_NAME_BYTES])
{
	char name[PYTHON_NAME_BYTES], first[PYTHON_NAME_BYTES], module[PYTHON_NAME_BYTES];
	uint64_t pair[2];

	if (slot < PAIR || !read_all(memory, slot - WORD, pair, sizeof(pair)) ||
	    !read_name(memory, pair[0], name) ||
	    !read_all(memory, first_pair(memory, slot - WORD), pair, sizeof(pair)) ||
	    !read_name(memory, pair[0], first) || strcmp(first, "__name__") != 0 ||
	    !read_name(memory, pair[1], module))
		return false;
	snprintf(ret, 2 * PYTHON_NAME_BYTES, "%s.%s", module, name);
	return true;
}
