// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds copies by a hash of what the code object contains, without locks. An address does not
 * identify a code object: Python programs that call exec() create many code objects, one after
 * another at the same address. Equal code objects share a copy, so a program that evaluates the
 * same text repeatedly does not fill the account. If two threads copy the same code object, both
 * use the copy that was published first.
 */
#include "agent/script_code.h"

/*
 * First byte and number of words of a code object that are hashed: counts, numbers and pointers,
 * which never change.
 */
#define COMPARED_FROM 56U
#define COMPARED_WORDS ((CODE_LINES + 8U - COMPARED_FROM) / 8U)

/*
 * Cache of ACCOUNT_SCRIPT_CODE() by hash_code() of the code object, shared by all threads. The low
 * bits of an entry are ACCOUNT_SCRIPT_CODE(), and the other bits are bits of the hash.
 */
#define KNOWN 4096U
#define KNOWN_COPY ((1ULL << 27) - 1)
_Static_assert(KNOWN <= KNOWN_COPY, "the index must not use hash bits that an entry stores");

static uint64_t known_codes[KNOWN];

/* Set in all stored hashes and in no address, so that a proof does not take hashes for pointers. */
#define NO_ADDRESS (1ULL << 63)

/* Offset of an ASCII string's characters, in CPython versions that do not number code objects. */
#define STRING_ASCII 48U

/* Maximum slots of ACCOUNT_CODE_TABLE that a lookup searches. */
#define PROBES_MAX 64U

/* 4-byte fields of a code object from the first argument count to the first line number. */
#define COUNTS 5U

/* Bytes of a code object's copy, without the objects that it points to. */
#define CODE_BYTES (CODE_LINES + sizeof(uint64_t))

/*
 * Number of bytes at each end of a name, path or line table that are hashed. Code objects that
 * differ only between the ends are treated as equal.
 */
#define END_BYTES 32U

/* An object that a code object points to, and the bytes of its copy. */
struct object {
	uint64_t addr;
	uint64_t head;  /* bytes before the data */
	uint64_t bytes; /* bytes to copy; 0 if the object is unreadable or too large */
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

struct code_parts {
	struct object name;
	struct object path;
	struct object lines;
};

static struct code_parts find_parts(struct readable *readable, const struct python_layout *layout,
				    uint64_t addr)
{
	return (struct code_parts){
		.name = find_string(readable, layout, addr + CODE_NAME),
		.path = find_string(readable, layout, addr + CODE_PATH),
		.lines = find_lines(readable, addr + CODE_LINES),
	};
}

static ALWAYS_INLINE uint64_t hash_end(struct readable *readable, uint64_t addr, uint64_t bytes,
				       uint64_t hash)
{
	uint64_t words[END_BYTES / sizeof(uint64_t)] = {0};

	if (bytes && !readable_copy(readable, addr, words, bytes))
		return hash;
	for (uint32_t i = 0; i < END_BYTES / sizeof(*words); i++)
		hash = mix(hash, words[i]);
	return hash;
}

static uint64_t hash_object(struct readable *readable, const struct object *object, uint64_t hash)
{
	uint64_t data = object->addr + object->head;

	hash = mix(hash, object->size << 8 ^ object->state);
	if (object->bytes < END_BYTES)
		return hash_end(readable, data, object->bytes, hash);
	hash = hash_end(readable, data, END_BYTES, hash);
	return hash_end(readable, data + object->bytes - END_BYTES, END_BYTES, hash);
}

/*
 * Returns a hash of what a code object contains. counts_at: address of the argument counts, the
 * stack size and the first line. The hash differs from all addresses.
 */
static uint64_t identity_of(struct readable *readable, const struct code_parts *parts,
			    uint64_t counts_at)
{
	uint32_t counts[COUNTS] = {0};
	uint64_t hash = 0;

	readable_copy(readable, counts_at, counts, sizeof(counts));
	for (uint32_t i = 0; i < COUNTS; i++)
		hash = mix(hash, counts[i]);
	hash = hash_object(readable, &parts->name, hash);
	hash = hash_object(readable, &parts->path, hash);
	return hash_object(readable, &parts->lines, hash) | NO_ADDRESS;
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

/* Returns the cookie of a copy, without the hash of the name, because copied strings have none. */
static uint32_t cookie_of(const uint8_t *copy)
{
	__u64 words[MEMLEAK_SCRIPT_COOKIE_WORDS];

	__builtin_memcpy(words, copy + MEMLEAK_SCRIPT_COOKIE, sizeof(words));
	return memleak_script_cookie(words, 0);
}

/*
 * Copies the code object at addr, with its name, path and line table. Returns ACCOUNT_SCRIPT_CODE()
 * of the copy, 0 if there is no room.
 */
static uint32_t make_copy(struct account *account, struct readable *readable,
			  const struct python_layout *layout, uint64_t addr,
			  const struct code_parts *parts, struct account_code code)
{
	uint64_t bytes = sizeof(struct account_code) + round_up(CODE_BYTES);
	uint64_t at = reserve(account, bytes + bytes_of(&parts->name) + bytes_of(&parts->path) +
					       bytes_of(&parts->lines));
	uint8_t *head = (uint8_t *)region(account, ACCOUNT_CODES) + at;
	uint8_t *copy = head + sizeof(struct account_code), *name_to = head + bytes;
	uint8_t *path_to = name_to + bytes_of(&parts->name);
	uint8_t *lines_to = path_to + bytes_of(&parts->path);

	if (at == UINT64_MAX)
		return 0;
	copy_data(readable, addr + CODE_FIRST_LINE(layout), copy + CODE_FIRST_LINE(layout),
		  sizeof(uint32_t));
	/*
	 * The cookie is computed from this field, so different code objects get different cookies.
	 */
	__builtin_memcpy(copy + CODE_LOCALS, &code.identity, sizeof(code.identity));
	write_pointer(account, copy + CODE_SHORT_NAME, name_to);
	write_pointer(account, copy + CODE_NAME, name_to);
	write_pointer(account, copy + CODE_PATH, path_to);
	write_pointer(account, copy + CODE_LINES, lines_to);
	write_object(readable, &parts->name, name_to);
	write_object(readable, &parts->path, path_to);
	write_object(readable, &parts->lines, lines_to);
	code.cookie = cookie_of(copy);
	*(struct account_code *)head = code;
	return (uint32_t)((at + sizeof(struct account_code)) / ACCOUNT_CODE_UNIT);
}

static bool is_of(const struct account *account, uint32_t copy, uint64_t identity)
{
	const uint8_t *at = (const uint8_t *)region(account, ACCOUNT_CODES) +
			    (uint64_t)copy * ACCOUNT_CODE_UNIT;

	return ((const struct account_code *)at - 1)->identity == identity;
}

/*
 * Returns ACCOUNT_SCRIPT_CODE() of a copy equal to the code object at addr, and makes the copy if
 * needed; 0 if there is no room.
 */
static uint32_t find_copy(struct account *account, struct readable *readable,
			  const struct python_layout *layout, uint64_t addr)
{
	const struct code_parts parts = find_parts(readable, layout, addr);
	const struct account_code code = {
		.identity = identity_of(readable, &parts, addr + layout->argument_cnt)};
	uint32_t *table = region(account, ACCOUNT_CODE_TABLE);
	/* The number of slots is a power of two. */
	uint64_t mask = region_bytes(account, ACCOUNT_CODE_TABLE) / sizeof(*table) - 1;
	uint32_t made = 0;

	for (uint64_t i = 0; i < PROBES_MAX; i++) {
		uint32_t *slot = &table[(code.identity + i) & mask];
		uint32_t copy = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

		if (!copy && !made)
			made = make_copy(account, readable, layout, addr, &parts, code);
		if (!copy &&
		    (!made || __atomic_compare_exchange_n(slot, &copy, made, false,
							  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)))
			return made;
		if (is_of(account, copy, code.identity))
			return copy;
	}
	return 0;
}

/*
 * Hashes the size, the first and last 8 bytes, and the cached hash of a string or bytes object.
 * head: offset of the data in the object. Returns 0 if the object is unreadable or too large.
 */
static ALWAYS_INLINE uint64_t glance(struct readable *readable, uint64_t addr, uint64_t head)
{
	uint64_t words[5], last, size, first = (head - OBJECT_SIZE) / sizeof(*words);

	/* Works for empty objects: their allocation includes the words at `head - 8` and `head`. */
	if (!readable_copy(readable, addr + OBJECT_SIZE, words, head + 8 - OBJECT_SIZE))
		return 0;
	size = words[0];
	if (size > LINES_MAX ||
	    !readable_copy(readable, addr + head - sizeof(last) + size, &last, sizeof(last)))
		return 0;
	return mix(size, words[first] + 3 * words[1]) + mix(~size, last);
}

/*
 * Hashes a code object, mainly its pointers. Some versions of CPython give each code object a
 * unique number. In other versions, a later code object can have the same pointers, so parts of the
 * data are hashed. False if it cannot be read.
 */
static ALWAYS_INLINE bool hash_code(struct readable *readable, const struct python_layout *layout,
				    uint64_t addr, uint64_t *ret)
{
	uint64_t words[COMPARED_WORDS], hash = addr;

	if (!readable_copy(readable, addr + COMPARED_FROM, words, sizeof(words)))
		return false;
	for (uint64_t i = 0; i < COMPARED_WORDS; i++)
		hash += mix(i, words[i]);
	if (!layout->numbers_code) {
		hash += glance(readable, words[(CODE_NAME - COMPARED_FROM) / 8], STRING_ASCII);
		hash += 3 * glance(readable, words[(CODE_PATH - COMPARED_FROM) / 8], STRING_ASCII);
		hash += 5 * glance(readable, words[(CODE_LINES - COMPARED_FROM) / 8], BYTES_DATA);
	}
	*ret = hash;
	return true;
}

bool script_code_find(struct account *account, struct readable *readable,
		      const struct python_layout *layout, uint64_t addr, uint32_t *ret)
{
	uint64_t hash, *known, entry;

	if (!hash_code(readable, layout, addr, &hash))
		return false;
	/* Forked children inherit the cache, but must not find copies of the parent's account. */
	hash = mix(hash, account->began_ns) | NO_ADDRESS;
	known = &known_codes[hash % KNOWN];
	hash &= ~KNOWN_COPY;
	entry = __atomic_load_n(known, __ATOMIC_RELAXED);
	if (unlikely((entry & ~KNOWN_COPY) != hash)) {
		entry = hash | find_copy(account, readable, layout, addr);
		__atomic_store_n(known, entry, __ATOMIC_RELAXED);
	}
	*ret = (uint32_t)(entry & KNOWN_COPY);
	return true;
}
