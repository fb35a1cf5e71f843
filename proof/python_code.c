// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads functions, frames of generators and dictionaries of classes from the memory of a process.
 */
#include "proof/python_code.h"

#include <string.h>

#include "prober/server/code_object.h"
#include "proof/python_dict.h"
#include "proof/python_variable.h"
#include "report/own.h"

#define WORD sizeof(uint64_t)

/* Offset of the pointer to the code object in a function; the same in CPython 3.11 to 3.14. */
#define FUNCTION_CODE 48
/* Offset of the frame in a generator, coroutine or asynchronous generator, in bytes. */
#define GENERATOR_FRAME(layout) ((layout)->version == 0x030b ? 80U : 72U)

/*
 * TYPE_DICT: offset, in a type object, of the pointer to the class's dictionary. DICT_KEYS: offset,
 * in a dictionary, of the pointer to its keys.
 */
#define TYPE_DICT 264
#define DICT_KEYS 32

/* Maximum entries of a class's dictionary to search. */
#define ENTRIES_MAX 64U

static bool read_all(const struct memory *memory, uint64_t addr, void *ret, size_t len)
{
	return memory->ops->read(memory, addr, ret, len) == (ssize_t)len;
}

static bool read_object(void *arg, uint64_t addr, void *buf, size_t len)
{
	return read_all(arg, addr, buf, len);
}

enum python_code_kind python_code_kind_of(const char *class)
{
	static const char *const suspended[] = {"generator", "coroutine", "async_generator"};

	for (size_t i = 0; i < sizeof(suspended) / sizeof(*suspended); i++)
		if (!strcmp(class, suspended[i]))
			return PYTHON_SUSPENDED;
	return strcmp(class, "function") != 0 ? PYTHON_WITHOUT_CODE : PYTHON_FUNCTION;
}

bool python_code_find(const struct python_layout *layout, enum python_code_kind kind,
		      const uint64_t *object, size_t word_cnt, struct python_code *ret)
{
	size_t code = FUNCTION_CODE / WORD, instr = 0;

	if (!layout || kind == PYTHON_WITHOUT_CODE)
		return false;
	if (kind == PYTHON_SUSPENDED) {
		code = (GENERATOR_FRAME(layout) + layout->code) / WORD;
		instr = (GENERATOR_FRAME(layout) + layout->instr) / WORD;
	}
	if (code >= word_cnt || instr >= word_cnt)
		return false;
	ret->addr = object[code] & ~MEMLEAK_SCRIPT_CODE_TAGS;
	ret->distance = kind == PYTHON_SUSPENDED ? (uint32_t)(object[instr] - ret->addr) : 0;
	return ret->addr > UINT16_MAX && ret->addr < 1ULL << 48;
}

static bool is_own(const struct options *opts, const struct code_object *object)
{
	const struct script_function function = {.name = object->name,
						 .name_len = strlen(object->name),
						 .path = object->path,
						 .path_len = strlen(object->path)};

	return script_is_of_program(opts, &function);
}

bool python_code_cookie(const struct memory *memory, const struct python_layout *layout,
			uint64_t addr, uint32_t *ret)
{
	const struct object_memory objects = {.read = read_object, .arg = (void *)memory};

	return code_object_cookie(&objects, layout, addr, ret);
}

static bool read_code(const struct memory *memory, const struct python_layout *layout,
		      uint64_t addr, struct code_object *ret)
{
	const struct object_memory objects = {.read = read_object, .arg = (void *)memory};
	uint32_t cookie;

	return python_is(memory, addr, "code") &&
	       python_code_cookie(memory, layout, addr, &cookie) &&
	       !code_object_read(&objects, layout, addr, cookie, ret);
}

bool python_code_place(const struct memory *memory, const struct options *opts,
		       const struct python_layout *layout, const struct python_code *code,
		       struct python_place *ret)
{
	struct code_object object;
	bool own;

	if (!read_code(memory, layout, code->addr, &object))
		return false;
	own = is_own(opts, &object);
	if (own) {
		python_text_copy(ret->function, object.name, strlen(object.name));
		python_text_copy(ret->file, object.path, strlen(object.path));
		ret->line = code_object_line(&object, layout, code->distance);
	}
	code_object_deinit(&object);
	return own;
}

static bool is_constructor(const struct python_place *place)
{
	const char *end = strrchr(place->function, '.');

	return end && !strcmp(end, ".__init__");
}

/*
 * Reads the function name, file and line of a method. False if the object at `value` is not a
 * method of the program.
 */
static bool method_place(const struct memory *memory, const struct options *opts,
			 const struct python_layout *layout, uint64_t value,
			 struct python_place *ret)
{
	struct python_code code = {.distance = 0};

	return value && python_is(memory, value, "function") &&
	       read_all(memory, value + FUNCTION_CODE, &code.addr, sizeof(code.addr)) &&
	       python_code_place(memory, opts, layout, &code, ret);
}

bool python_class_place(const struct memory *memory, const struct options *opts,
			const struct python_layout *layout, uint64_t type, struct python_place *ret)
{
	struct python_place place;
	uint64_t dict, at, value;
	struct python_keys keys;
	bool found = false;

	if (!read_all(memory, type + TYPE_DICT, &dict, sizeof(dict)) ||
	    !read_all(memory, dict + DICT_KEYS, &at, sizeof(at)) ||
	    !python_keys_read(memory, at, &keys))
		return false;
	for (uint64_t i = 0; i < keys.cnt && i < ENTRIES_MAX; i++) {
		at = keys.first + i * keys.key_bytes + WORD;
		if (!read_all(memory, at, &value, sizeof(value)) ||
		    !method_place(memory, opts, layout, value, &place))
			continue;
		if (!found || is_constructor(&place))
			*ret = place;
		found = true;
		if (is_constructor(&place))
			break;
	}
	return found;
}
