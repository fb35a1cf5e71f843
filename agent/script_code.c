// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds copies by a hash of the code object's address and cookie, without locks. If two threads
 * copy the same code object, both use the copy that was published first.
 */
#include "agent/script_code.h"

/* Maximum slots of the hash table that are searched. */
#define PROBES_MAX 64U

/* Bytes of the copy of a code object, without what it points to. */
#define CODE_BYTES (CODE_LINES + sizeof(uint64_t))

/* An object that a code object points to, and the bytes of its copy. */
struct object {
	uint64_t addr;
	uint64_t head;  /* bytes before the data */
	uint64_t bytes; /* bytes of the data, 0 if they cannot be copied */
	uint64_t size;
	uint32_t state;
};

static uint64_t round_up(uint64_t bytes)
{
	return (bytes + ACCOUNT_CODE_UNIT - 1) & ~(uint64_t)(ACCOUNT_CODE_UNIT - 1);
}

static struct object find_object(struct readable *readable, uint64_t pointer_at)
{
	struct object found = {.head = STRING_STATE + sizeof(uint64_t)};

	if (!readable_copy(readable, pointer_at, &found.addr, sizeof(found.addr)) ||
	    !readable_copy(readable, found.addr + OBJECT_SIZE, &found.size, sizeof(found.size)))
		found.addr = 0;
	return found;
}

static struct object find_string(struct readable *readable, const struct python_layout *layout,
				 uint64_t pointer_at)
{
	struct object found = find_object(readable, pointer_at);
	uint32_t state = 0;

	if (!found.addr || found.size > STRING_MAX ||
	    !readable_copy(readable, found.addr + STRING_STATE, &state, sizeof(state)))
		return found;
	found.state = state;
	found.head = STRING_IS_ASCII(state) ? layout->ascii : layout->other;
	found.bytes = found.size * STRING_KIND(state);
	return found;
}

static struct object find_lines(struct readable *readable, uint64_t pointer_at)
{
	struct object found = find_object(readable, pointer_at);

	found.head = BYTES_DATA;
	if (found.addr && found.size <= LINES_MAX)
		found.bytes = found.size;
	return found;
}

static uint64_t bytes_of(const struct object *object)
{
	return round_up(object->head + object->bytes);
}

/* Copies data page by page. False if not all of it can be read. */
static bool copy_data(struct readable *readable, uint64_t from, uint8_t *to, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++) {
		if ((!i || (from + i) % READABLE_PAGE == 0) &&
		    !readable_page(readable, (from + i) & ~(READABLE_PAGE - 1)))
			return false;
		to[i] = *(const uint8_t *)(from + i);
	}
	return true;
}

/* Writes an object's copy, without the parts that memleak does not need. */
static void write_object(struct readable *readable, const struct object *object, uint8_t *to)
{
	uint64_t size = object->bytes ? object->size : 0;

	if (!copy_data(readable, object->addr + object->head, to + object->head, object->bytes))
		return;
	__builtin_memcpy(to + OBJECT_SIZE, &size, sizeof(size));
	if (object->state)
		__builtin_memcpy(to + STRING_STATE, &object->state, sizeof(object->state));
}

/* Reserves bytes in ACCOUNT_CODES. Returns their offset there, UINT64_MAX if there is no room. */
static uint64_t reserve(struct account *account, uint64_t bytes)
{
	uint64_t most = region_bytes(account, ACCOUNT_CODES);
	__u64 at = __atomic_load_n(&account->code_bytes, __ATOMIC_RELAXED);

	do {
		if (bytes > most || at > most - bytes)
			return UINT64_MAX;
	} while (!__atomic_compare_exchange_n(&account->code_bytes, &at, at + bytes, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return at;
}

static void write_pointer(const struct account *account, uint8_t *to, const uint8_t *target)
{
	uint64_t offset = (uint64_t)(target - (const uint8_t *)account);

	__builtin_memcpy(to, &offset, sizeof(offset));
}

static uint32_t make_copy(struct account *account, struct readable *readable,
			  const struct python_layout *layout, uint64_t addr, uint32_t cookie)
{
	const struct object name = find_string(readable, layout, addr + CODE_NAME);
	const struct object path = find_string(readable, layout, addr + CODE_PATH);
	const struct object lines = find_lines(readable, addr + CODE_LINES);
	uint64_t bytes = sizeof(struct account_code) + round_up(CODE_BYTES);
	uint64_t at =
		reserve(account, bytes + bytes_of(&name) + bytes_of(&path) + bytes_of(&lines));
	uint8_t *head = (uint8_t *)region(account, ACCOUNT_CODES) + at;
	uint8_t *copy = head + sizeof(struct account_code), *name_to = head + bytes;
	uint8_t *path_to = name_to + bytes_of(&name), *lines_to = path_to + bytes_of(&path);

	if (at == UINT64_MAX)
		return 0;
	*(struct account_code *)head = (struct account_code){.not_addr = ~addr, .cookie = cookie};
	copy_data(readable, addr + layout->argument_cnt, copy + layout->argument_cnt,
		  MEMLEAK_SCRIPT_COOKIE_WORDS * sizeof(uint32_t));
	write_pointer(account, copy + CODE_NAME, name_to);
	write_pointer(account, copy + CODE_PATH, path_to);
	write_pointer(account, copy + CODE_LINES, lines_to);
	write_object(readable, &name, name_to);
	write_object(readable, &path, path_to);
	write_object(readable, &lines, lines_to);
	return (uint32_t)((at + sizeof(struct account_code)) / ACCOUNT_CODE_UNIT);
}

static bool is_of(const struct account *account, uint32_t copy, uint64_t addr, uint32_t cookie)
{
	const uint8_t *at = (const uint8_t *)region(account, ACCOUNT_CODES) +
			    (uint64_t)copy * ACCOUNT_CODE_UNIT;
	const struct account_code *code = (const struct account_code *)at - 1;

	return code->not_addr == ~addr && code->cookie == cookie;
}

uint32_t script_code_find(struct account *account, struct readable *readable,
			  const struct python_layout *layout, uint64_t addr, uint32_t cookie)
{
	uint32_t *table = region(account, ACCOUNT_CODE_TABLE), made = 0;
	uint64_t hash = mix(addr, cookie);
	/* The number of slots is a power of two. */
	uint64_t mask = region_bytes(account, ACCOUNT_CODE_TABLE) / sizeof(*table) - 1;

	for (uint64_t i = 0; i < PROBES_MAX; i++) {
		uint32_t *slot = &table[(hash + i) & mask];
		uint32_t copy = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

		if (!copy && !made)
			made = make_copy(account, readable, layout, addr, cookie);
		if (!copy &&
		    (!made || __atomic_compare_exchange_n(slot, &copy, made, false,
							  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)))
			return made;
		if (is_of(account, copy, addr, cookie))
			return copy;
	}
	return 0;
}
