// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds objects in CPython's pools and in glibc's heap, and recognises their classes by their type
 * pointers. Keeps the numbers of the first reading for comparison.
 */
#include "proof/python_heap.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_map.h"
#include "base/path.h"
#include "proof/census.h"
#include "proof/heap_reader.h"
#include "proof/python_code.h"
#include "proof/python_dict.h"
#include "proof/python_names.h"
#include "proof/python_pool.h"
#include "proof/python_variable.h"

#define WORD sizeof(uint64_t)

/* Chunks to count between two checks of the clock. */
#define CHUNKS_PER_LOOK 1024U

/*
 * Bytes to read from each chunk: enough for the fields of a generator that say where it is
 * suspended.
 */
#define CHUNK_BYTES 192U

/*
 * Maximum entries of each table, so that a hostile process cannot make the tables grow without
 * limit.
 */
#define CLASSES_MAX 65536U
#define REJECTED_MAX 65536U
#define CONTAINERS_MAX 65536U

/* Maximum time to count objects, in nanoseconds of processor time. */
#define COUNT_CLOCK CLOCK_PROCESS_CPUTIME_ID
#define COUNT_NS 3000000000ULL
/* Maximum time to find names, in nanoseconds. */
#define NAME_NS 5000000000ULL

/*
 * ITEMS_MIN: minimum number of items for a container to be watched. MORE_MIN: minimum growth, in
 * objects or items, of a class or container to report.
 */
#define ITEMS_MIN 32U
#define MORE_MIN 16U

/*
 * Limits of the search for the one class whose place in the program's source the report shows.
 * OBJECTS_PER_PLACE: this class must have grown by at least 1/OBJECTS_PER_PLACE of the growth, in
 * objects, of the class that grew most. PLACES_MAX: maximum number of classes whose places are
 * read.
 */
#define OBJECTS_PER_PLACE 8U
#define PLACES_MAX 32U

/*
 * A container is reported if it grew in at least RISES_MIN readings and in at least half of the
 * readings that found it, last grew at most LATELY readings ago, and never shrank. With less
 * growth, it may be several temporary containers that had the same address one after another.
 */
#define RISES_MIN 3U
#define LATELY 2U

/*
 * Offsets of fields of PyTypeObject, and its minimum size, in 8-byte words; they are the same in
 * CPython 3.8 to 3.14.
 */
enum { TYPE_NAME = 3, TYPE_BASIC_SIZE = 4, TYPE_ITEM_SIZE = 5, TYPE_FLAGS = 21, TYPE_WORDS = 22 };
#define BASIC_SIZE_MAX 65536U
#define ITEM_SIZE_MAX 1024U
#define FLAG_HEAP_TYPE (1ULL << 9) /* set for all classes that scripts define */
#define FLAG_READY (1ULL << 12)
#define FLAG_LIST (1ULL << 25)
#define FLAG_DICT (1ULL << 29)

/*
 * Offsets of the number and the address of a container's items, in 8-byte words. Both are 0 if
 * objects of the class are no containers.
 */
struct places {
	size_t cnt;
	size_t items;
};

/* Counts the objects of one class, or those of the class that have the same code. */
struct counted_class {
	char name[PYTHON_TEXT_BYTES];
	struct places places;
	enum python_code_kind code_kind;
	uint32_t cookie; /* python_code_cookie() of the objects' common code */
	bool may_have_methods;
	uint32_t distance; /* where most of the objects are suspended: see struct python_code */
	uint64_t votes;    /* lead of `distance` in this reading (Boyer-Moore majority vote) */
	uint64_t count, bytes;
	uint64_t first_count, first_bytes; /* `count` and `bytes` of the first reading */
	uint64_t before;                   /* `count` of the previous reading */
};

struct container {
	uint64_t type; /* address of the class */
	uint64_t items, first_items;
	uint64_t first_ns;
	unsigned int readings, rises;
	unsigned int since_rise; /* readings since the container last grew */
	bool has_shrunk;
	bool is_searched; /* true if its name was searched for */
	struct python_named named;
};

struct python_heap {
	struct hash_map classes;    /* struct counted_class, keyed by the address of the type */
	struct hash_map codes;      /* struct counted_class, keyed by key_of_code() */
	struct hash_map rejected;   /* addresses at which there is no class; values are unused */
	struct hash_map containers; /* struct container, keyed by the object's address */
	uint64_t first_ns;          /* time of the first reading, 0 if there was none */
	unsigned int readings;
	enum python_allocator allocator; /* allocator of most objects in the latest reading */
	const struct options *opts;      /* may be NULL */
};

/* A reading in progress. */
struct reading {
	struct python_heap *heap;
	const struct memory *memory;
	const struct python_layout *layout; /* NULL if lines cannot be read */
	uint64_t now_ns;
	struct hash_map containers; /* struct container, keyed by the object's address */
	unsigned char *pool;
	uint64_t next; /* end of the memory already searched for pools */
	struct heap_reader chunks;
	uint64_t chunk_cnt;
	/* objects found in pools and in chunks of glibc's heap */
	uint64_t pool_objects, chunk_objects;
	uint64_t deadline_ns;     /* CLOCK_MONOTONIC */
	uint64_t cpu_deadline_ns; /* COUNT_CLOCK */
};

static void free_values(struct hash_map *map)
{
	const struct hash_map_slot *slot = NULL;

	while ((slot = hash_map_next(map, slot)))
		free(slot->value);
	hash_map_deinit(map);
	*map = (struct hash_map){0};
}

struct python_heap *python_heap__new(const struct options *opts)
{
	struct python_heap *heap = calloc(1, sizeof(*heap));

	if (heap)
		heap->opts = opts;
	return heap;
}

void python_heap__free(struct python_heap *heap)
{
	if (!heap)
		return;
	free_values(&heap->classes);
	free_values(&heap->codes);
	free_values(&heap->containers);
	hash_map_deinit(&heap->rejected);
	free(heap);
}

bool python_heap_is_in(const struct proc_maps *maps)
{
	for_each_mapping (mapping, maps) {
		const char *name = path_name(mapping->path);

		if (mapping->executable &&
		    (!strcmp(name, "python") || !strncmp(name, "python3", 7) ||
		     !strncmp(name, "libpython3", 10)))
			return true;
	}
	return false;
}

static bool is_address(uint64_t word)
{
	return word > UINT16_MAX && word < 1ULL << 48 && word % WORD == 0;
}

static bool read_class_name(const struct memory *memory, uint64_t addr, char ret[PYTHON_TEXT_BYTES])
{
	ssize_t got = memory->ops->read(memory, addr, ret, PYTHON_TEXT_BYTES);
	size_t len = got > 0 ? strnlen(ret, (size_t)got) : 0;

	if (!len || (ssize_t)len == got)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)ret[i]) && !strchr("_.- <>", ret[i]))
			return false;
	return true;
}

/*
 * Returns the offsets of the number and the address of a container's items. The items of a deque
 * are in several blocks; the address is that of the last block.
 */
static struct places places_of(const char *name, uint64_t flags)
{
	if (flags & FLAG_LIST)
		return (struct places){.cnt = 2, .items = 3};
	if ((flags & FLAG_DICT) || !strcmp(name, "collections.deque"))
		return (struct places){.cnt = 2, .items = 4};
	return strcmp(name, "set") != 0 ? (struct places){0}
					: (struct places){.cnt = 3, .items = 5};
}

/* Reads the class whose type object is at addr. False if there is none. */
static bool read_class(const struct memory *memory, uint64_t addr, struct counted_class *ret)
{
	uint64_t words[TYPE_WORDS];

	if (memory->ops->read(memory, addr, words, sizeof(words)) != (ssize_t)sizeof(words) ||
	    !is_address(words[1]) || words[TYPE_NAME] <= UINT16_MAX ||
	    words[TYPE_BASIC_SIZE] < 2 * WORD || words[TYPE_BASIC_SIZE] > BASIC_SIZE_MAX ||
	    words[TYPE_ITEM_SIZE] > ITEM_SIZE_MAX || !(words[TYPE_FLAGS] & FLAG_READY) ||
	    !read_class_name(memory, words[TYPE_NAME], ret->name))
		return false;
	ret->places = places_of(ret->name, words[TYPE_FLAGS]);
	ret->code_kind = python_code_kind_of(ret->name);
	ret->may_have_methods = words[TYPE_FLAGS] & FLAG_HEAP_TYPE;
	return true;
}

/*
 * Adds and returns the class whose type object is at addr. NULL if there is no type object, if a
 * table is full, or if memory runs out.
 */
static struct counted_class *new_class(struct reading *reading, uint64_t addr)
{
	struct python_heap *heap = reading->heap;
	struct counted_class *class, found = {.count = 0};

	if (hash_map_get(&heap->rejected, addr) || heap->rejected.cnt >= REJECTED_MAX ||
	    heap->classes.cnt >= CLASSES_MAX)
		return NULL;
	if (!read_class(reading->memory, addr, &found)) {
		/* If hash_map_set() fails, the address is read again later, which is harmless. */
		hash_map_set(&heap->rejected, addr, heap);
		return NULL;
	}
	class = malloc(sizeof(*class));
	if (!class)
		return NULL;
	*class = found;
	if (!hash_map_set(&heap->classes, addr, class))
		return class;
	free(class);
	return NULL;
}

/*
 * True if an object may begin here: the lower half of its first word, the reference count, is not
 * 0, and its second word may be an address. Since CPython 3.14, the upper half of the first word
 * has flags.
 */
static bool may_be_object(const uint64_t *object)
{
	return (uint32_t)object[0] && is_address(object[1]);
}

/*
 * Returns the class of the object in a block, NULL if there is none. *ret_object: first word of the
 * object. If the garbage collector tracks the object, a header of two words precedes it; two more
 * words precede this header if the object has attributes.
 */
static struct counted_class *find_class(struct reading *reading, const uint64_t *block,
					size_t word_cnt, const uint64_t **ret_object)
{
	static const size_t places[] = {2, 4, 0};
	const size_t cnt = sizeof(places) / sizeof(*places);
	struct counted_class *class = NULL;

	/*
	 * Most classes are known. First try only known classes at each place, so that few addresses
	 * must be read.
	 */
	for (size_t i = 0; !class && i < 2 * cnt; i++) {
		const uint64_t *object = block + places[i % cnt];

		if (places[i % cnt] + 2 > word_cnt || !may_be_object(object))
			continue;
		class = i < cnt ? hash_map_get(&reading->heap->classes, object[1])
				: new_class(reading, object[1]);
		*ret_object = object;
	}
	return class;
}

/*
 * Returns the key in python_heap.codes for objects with this code. The key includes the kind,
 * because a function and the coroutines that it returned have the same code.
 */
static uint64_t key_of_code(uint64_t code, enum python_code_kind kind)
{
	return code | kind;
}

static uint64_t code_of_key(uint64_t key)
{
	return key & ~(uint64_t)(WORD - 1);
}

/*
 * Returns the element of python_heap.codes for a class's objects with this code, and adds it if
 * needed. NULL if the table is full or memory runs out.
 */
static struct counted_class *class_of_code(struct python_heap *heap,
					   const struct counted_class *class, uint64_t code)
{
	uint64_t key = key_of_code(code, class->code_kind);
	struct counted_class *found = hash_map_get(&heap->codes, key);

	if (found || heap->codes.cnt >= CLASSES_MAX)
		return found;
	found = calloc(1, sizeof(*found));
	if (!found || hash_map_set(&heap->codes, key, found)) {
		free(found);
		return NULL;
	}
	found->code_kind = class->code_kind;
	memcpy(found->name, class->name, sizeof(found->name));
	return found;
}

static void vote(struct counted_class *class, uint32_t distance)
{
	if (!class->votes)
		class->distance = distance;
	class->votes += class->distance == distance ? 1 : UINT64_MAX;
}

/*
 * Returns the element that counts an object: that of its code for functions, generators and
 * coroutines, else that of its class.
 */
static struct counted_class *by_code(struct reading *reading, struct counted_class *class,
				     const uint64_t *object, size_t word_cnt)
{
	struct counted_class *found;
	struct python_code code;

	if (!python_code_find(reading->layout, class->code_kind, object, word_cnt, &code))
		return class;
	found = class_of_code(reading->heap, class, code.addr);
	if (found)
		vote(found, code.distance);
	return found ?: class;
}

static int add_container(struct reading *reading, uint64_t type, uint64_t addr, uint64_t items)
{
	struct container *container = hash_map_remove(&reading->heap->containers, addr);

	if (container && container->type != type) {
		free(container);
		container = NULL;
	}
	if (!container) {
		container = calloc(1, sizeof(*container));
		if (!container)
			return -ENOMEM;
		*container = (struct container){.named.addr = addr,
						.type = type,
						.items = items,
						.first_items = items,
						.first_ns = reading->now_ns};
	}
	container->readings++;
	container->since_rise = items > container->items ? 0 : container->since_rise + 1;
	container->rises += items > container->items;
	container->has_shrunk |= items < container->items;
	container->items = items;
	if (!hash_map_set(&reading->containers, addr, container))
		return 0;
	free(container);
	return -ENOMEM;
}

/*
 * Counts the object in a block, if there is one. block: first word_cnt words of the block; addr,
 * bytes: its address and size; sum: a counter of objects to increment.
 */
static int add_object(struct reading *reading, const uint64_t *block, size_t word_cnt, size_t bytes,
		      uint64_t addr, uint64_t *sum)
{
	const uint64_t *object = block;
	struct counted_class *class = find_class(reading, block, word_cnt, &object);
	uint64_t items;

	if (!class)
		return 0;
	class = by_code(reading, class, object, word_cnt - (size_t)(object - block));
	class->count++;
	class->bytes += bytes;
	*sum += 1;
	if (!class->places.cnt || (size_t)(object - block) + class->places.cnt >= word_cnt)
		return 0;
	items = object[class->places.cnt];
	addr += (uint64_t)(object - block) * WORD;
	/* A damaged heap may have the same block twice: add its container only once. */
	if (hash_map_get(&reading->containers, addr) ||
	    reading->containers.cnt >= 2 * CONTAINERS_MAX)
		return 0;
	/*
	 * Ignore containers with few or impossibly many items, unless the previous reading found
	 * them: otherwise their recorded growth would be lost.
	 */
	if (!hash_map_get(&reading->heap->containers, addr) &&
	    (items < ITEMS_MIN || items > UINT32_MAX || reading->containers.cnt >= CONTAINERS_MAX))
		return 0;
	return add_container(reading, object[1], addr, items);
}

static int add_pool(struct reading *reading, const unsigned char *bytes, uint64_t addr)
{
	struct python_pool pool;
	int err = 0;

	if (!python_pool_parse(bytes, addr, &pool))
		return 0;
	for (uint32_t i = 0; !err && i < pool.block_cnt; i++) {
		uint32_t at = PYTHON_POOL_HEADER_BYTES + i * pool.block_bytes;

		if (!(pool.free[i / 64] >> i % 64 & 1))
			err = add_object(reading, (const void *)(bytes + at),
					 pool.block_bytes / WORD, pool.block_bytes, addr + at,
					 &reading->pool_objects);
	}
	return err;
}

/*
 * Reads the pool at addr. False if there is none. Reads the header first, because most addresses
 * may have no pool.
 */
static bool read_pool(struct reading *reading, uint64_t addr)
{
	const struct memory *memory = reading->memory;
	struct python_pool pool;

	return memory->ops->read(memory, addr, reading->pool, PYTHON_POOL_HEADER_BYTES) ==
		       PYTHON_POOL_HEADER_BYTES &&
	       python_pool_parse_header(reading->pool, addr, &pool) &&
	       memory->ops->read(memory, addr, reading->pool, PYTHON_POOL_BYTES) ==
		       PYTHON_POOL_BYTES;
}

static bool is_late(const struct reading *reading)
{
	return clock_ns(COUNT_CLOCK) >= reading->cpu_deadline_ns ||
	       clock_ns(CLOCK_MONOTONIC) >= reading->deadline_ns;
}

/* Searches a run of pages for pools. A pool that begins in this run may end in the next run. */
static int visit_run(void *arg, uint64_t start, uint64_t end)
{
	struct reading *reading = arg;
	uint64_t at = start & ~(uint64_t)(PYTHON_POOL_BYTES - 1);
	int err = 0;

	if (at < reading->next)
		at = reading->next;
	for (; !err && at < end; at += PYTHON_POOL_BYTES) {
		if (is_late(reading))
			return -ETIMEDOUT;
		if (read_pool(reading, at))
			err = add_pool(reading, reading->pool, at);
		reading->next = at + PYTHON_POOL_BYTES;
	}
	return err;
}

/* Counts a block of glibc's heap as an object if its first words look like those of an object. */
static int visit_chunk(void *arg, const struct chunk *chunk)
{
	struct reading *reading = arg;
	const uint64_t *words;
	size_t len = chunk->size < CHUNK_BYTES ? chunk->size : CHUNK_BYTES;

	if (chunk->state != CHUNK_USED)
		return 0;
	if (++reading->chunk_cnt % CHUNKS_PER_LOOK == 0 && is_late(reading))
		return -ETIMEDOUT;
	words = heap_reader_window(&reading->chunks, chunk->addr, len);
	return words ? add_object(reading, words, len / WORD, chunk->size, chunk->addr,
				  &reading->chunk_objects)
		     : 0;
}

/*
 * Counts the objects in glibc's heap: all objects with PYTHONMALLOC=malloc, otherwise only large
 * ones. Returns 0, -ETIMEDOUT, -ENOMEM, or -EAGAIN if an arena was skipped.
 */
static int read_chunks(struct reading *reading)
{
	struct census census = {0};
	int err = heap_reader_init(&reading->chunks, reading->memory);

	if (!err)
		err = census_take(reading->memory, visit_chunk, reading, &census);
	if (!err && census.skipped_cnt)
		err = -EAGAIN;
	census_deinit(&census);
	heap_reader_deinit(&reading->chunks);
	return err;
}

static int read_pools(struct reading *reading)
{
	const struct memory *memory = reading->memory;
	int err = 0;

	for_each_mapping (mapping, &memory->maps) {
		if (mapping->shared || mapping->file.ino || !mapping->writable ||
		    mapping->end - mapping->start > PYTHON_MAPPING_BYTES_MAX)
			continue;
		if (is_late(reading))
			return -ETIMEDOUT;
		err = memory->ops->visit_written(memory, mapping, mapping->start, mapping->end,
						 visit_run, reading);
		if (err)
			break;
	}
	return err;
}

/* True if the memory at addr reads as zeros, which is so for all memory that is not resident. */
static bool is_absent(const struct memory *memory, uint64_t addr)
{
	uint64_t words[2];

	return memory->ops->read(memory, addr, words, sizeof(words)) == (ssize_t)sizeof(words) &&
	       !words[0] && !words[1];
}

/* True if the type object at addr is still that of the class, or is not resident. */
static bool is_same_class(const struct reading *reading, uint64_t addr, struct counted_class *class)
{
	struct counted_class now = {.count = 0};

	return is_absent(reading->memory, addr) ||
	       (read_class(reading->memory, addr, &now) && !strcmp(now.name, class->name));
}

/*
 * True if the code had objects in the previous or the first reading. Other code is dropped from the
 * table: otherwise programs that make code at run time would fill it.
 */
static bool has_objects(const struct reading *reading, uint64_t key, struct counted_class *class)
{
	return class->count || class->first_count;
}

/* Removes from a table the classes for which is_kept() returns false. Returns 0 or -ENOMEM. */
static int drop_classes(struct hash_map *classes, const struct reading *reading,
			bool (*is_kept)(const struct reading *reading, uint64_t key,
					struct counted_class *class))
{
	const struct hash_map_slot *slot = NULL;
	struct hash_map kept = {0};
	int err = 0;

	while (!err && (slot = hash_map_next(classes, slot)))
		if (is_kept(reading, slot->key, slot->value))
			err = hash_map_set(&kept, slot->key, slot->value);
	slot = NULL;
	while ((slot = hash_map_next(classes, slot)))
		if (!hash_map_get(&kept, slot->key))
			free(slot->value);
	hash_map_deinit(classes);
	*classes = kept;
	return err;
}

static void begin_counts(struct hash_map *classes)
{
	const struct hash_map_slot *slot = NULL;

	while ((slot = hash_map_next(classes, slot))) {
		struct counted_class *class = slot->value;

		class->before = class->count;
		class->count = class->bytes = class->votes = 0;
	}
}

static int begin_reading(const struct reading *reading)
{
	struct python_heap *heap = reading->heap;
	int err = drop_classes(&heap->classes, reading, is_same_class)
			  ?: drop_classes(&heap->codes, reading, has_objects);

	if (!heap->readings)
		heap->first_ns = reading->now_ns;
	begin_counts(&heap->classes);
	begin_counts(&heap->codes);
	/* Check the rejected addresses again: the memory there may be resident now. */
	hash_map_deinit(&heap->rejected);
	heap->rejected = (struct hash_map){0};
	return err;
}

static void end_first_reading(struct hash_map *classes)
{
	const struct hash_map_slot *slot = NULL;

	while ((slot = hash_map_next(classes, slot))) {
		struct counted_class *class = slot->value;

		class->first_count = class->count;
		class->first_bytes = class->bytes;
	}
}

static uint64_t more_bytes(const struct counted_class *class)
{
	return class->bytes > class->first_bytes ? class->bytes - class->first_bytes : 0;
}

static uint64_t more_objects(const struct counted_class *class)
{
	return class->count - class->first_count;
}

/*
 * A class that grows. key: its key in python_heap.classes (the address of its type object) or in
 * python_heap.codes (from key_of_code()).
 */
struct grown {
	const struct counted_class *class;
	uint64_t key;
};

/* The growing classes with the highest results of rank(), in descending order. */
struct ranking {
	uint64_t (*rank)(const struct counted_class *class);
	bool (*is_wanted)(const struct counted_class *class);
	struct grown items[PLACES_MAX];
	size_t cnt, max;
};

static void rank_class(struct ranking *ranking, struct grown grown)
{
	size_t at = ranking->cnt;

	while (at && ranking->rank(ranking->items[at - 1].class) < ranking->rank(grown.class))
		at--;
	if (at == ranking->max)
		return;
	ranking->cnt += ranking->cnt < ranking->max;
	memmove(&ranking->items[at + 1], &ranking->items[at],
		(ranking->cnt - 1 - at) * sizeof(*ranking->items));
	ranking->items[at] = grown;
}

/*
 * Adds to a ranking the classes that grew since the first reading and did not shrink since the
 * previous reading.
 */
static void rank_classes(const struct hash_map *classes, struct ranking *ranking)
{
	const struct hash_map_slot *slot = NULL;

	while ((slot = hash_map_next(classes, slot))) {
		const struct counted_class *class = slot->value;

		if (class->count >= class->first_count + MORE_MIN &&
		    class->count >= class->before && ranking->is_wanted(class))
			rank_class(ranking, (struct grown){class, slot->key});
	}
}

static void rank_all(const struct python_heap *heap, struct ranking *ranking)
{
	rank_classes(&heap->classes, ranking);
	rank_classes(&heap->codes, ranking);
}

static bool is_any(const struct counted_class *class)
{
	return class;
}

static bool may_have_place(const struct counted_class *class)
{
	return class->code_kind != PYTHON_WITHOUT_CODE || class->may_have_methods;
}

static bool read_place(const struct reading *reading, const struct grown *grown,
		       struct python_place *ret)
{
	const struct python_code code = {.addr = code_of_key(grown->key),
					 .distance = grown->class->distance};

	return grown->class->code_kind == PYTHON_WITHOUT_CODE
		       ? python_class_place(reading->memory, reading->heap->opts, reading->layout,
					    grown->key, ret)
		       : python_code_place(reading->memory, reading->heap->opts, reading->layout,
					   &code, ret);
}

/*
 * Finds the class that grew by the most objects among the classes whose place is in the program's
 * own scripts, and reads its place; NULL if there is none. most: growth, in objects, of the class
 * that grew most. Considers only classes that grew by at least 1/OBJECTS_PER_PLACE of `most`.
 */
static const struct counted_class *find_place(const struct reading *reading, uint64_t most,
					      struct python_place *ret)
{
	struct ranking places = {
		.rank = more_objects, .is_wanted = may_have_place, .max = PLACES_MAX};

	if (!reading->layout)
		return NULL;
	rank_all(reading->heap, &places);
	for (size_t i = 0; i < places.cnt && !is_late(reading); i++)
		if (more_objects(places.items[i].class) >= most / OBJECTS_PER_PLACE &&
		    read_place(reading, &places.items[i], ret))
			return places.items[i].class;
	return NULL;
}

static void list_class(const struct reading *reading, const struct counted_class *class,
		       struct python_class *ret)
{
	*ret = (struct python_class){
		.count = class->count,
		.more = more_objects(class),
		.more_bytes = more_bytes(class),
		.for_ns = reading->now_ns - reading->heap->first_ns,
	};
	memcpy(ret->name, class->name, sizeof(ret->name));
}

/*
 * Lists the classes that grew by the most bytes, and the class that find_place() finds, with its
 * place. If this class is not among those that grew most, it replaces the last class of the list.
 */
static void list_classes(const struct reading *reading, struct python_growth *ret)
{
	struct ranking first = {.rank = more_objects, .is_wanted = is_any, .max = 1};
	struct ranking top = {.rank = more_bytes, .is_wanted = is_any, .max = PYTHON_CLASSES_MAX};
	struct python_place place;
	const struct counted_class *placed;
	size_t at = 0;

	rank_all(reading->heap, &first);
	rank_all(reading->heap, &top);
	for (size_t i = 0; i < top.cnt; i++)
		list_class(reading, top.items[i].class, &ret->classes[i]);
	ret->class_cnt = top.cnt;
	placed = first.cnt ? find_place(reading, more_objects(first.items[0].class), &place) : NULL;
	if (!placed)
		return;
	while (at < top.cnt - 1 && top.items[at].class != placed)
		at++;
	list_class(reading, placed, &ret->classes[at]);
	ret->classes[at].place = place;
}

static uint64_t more_items(const struct container *container)
{
	return container->items - container->first_items;
}

static bool keeps_growing(const struct container *container)
{
	return !container->has_shrunk && container->rises >= RISES_MIN &&
	       2 * container->rises >= container->readings && container->since_rise <= LATELY &&
	       more_items(container) >= MORE_MIN;
}

/*
 * Finds the containers that keep growing, sorted by added items, most first. Returns their number.
 */
static size_t find_growing(const struct python_heap *heap,
			   struct container *ret[PYTHON_CONTAINERS_MAX])
{
	const struct hash_map_slot *slot = NULL;
	size_t cnt = 0;

	while ((slot = hash_map_next(&heap->containers, slot))) {
		struct container *container = slot->value;
		size_t at = cnt;

		if (!keeps_growing(container) || !hash_map_get(&heap->classes, container->type))
			continue;
		while (at && more_items(ret[at - 1]) < more_items(container))
			at--;
		if (at == PYTHON_CONTAINERS_MAX)
			continue;
		cnt += cnt < PYTHON_CONTAINERS_MAX;
		memmove(&ret[at + 1], &ret[at], (cnt - 1 - at) * sizeof(*ret));
		ret[at] = container;
	}
	return cnt;
}

static uint64_t name_deadline_ns(const struct reading *reading)
{
	uint64_t deadline_ns = clock_deadline_ns(NAME_NS);

	return deadline_ns < reading->deadline_ns ? deadline_ns : reading->deadline_ns;
}

/* Searches for the names of the containers whose names were not searched for before. */
static int name_containers(const struct reading *reading, struct container *const *containers,
			   size_t cnt)
{
	struct python_named named[PYTHON_CONTAINERS_MAX];
	size_t named_cnt = 0;
	int err;

	for (size_t i = 0; i < cnt; i++)
		if (!containers[i]->is_searched)
			named[named_cnt++].addr = containers[i]->named.addr;
	if (!named_cnt || clock_ns(CLOCK_MONOTONIC) >= reading->deadline_ns)
		return 0;
	err = python_names_find(reading->memory, named, named_cnt, name_deadline_ns(reading));
	for (size_t i = 0, at = 0; !err && i < cnt; i++) {
		if (containers[i]->is_searched)
			continue;
		containers[i]->named = named[at++];
		containers[i]->is_searched = true;
	}
	return err;
}

/* Returns the address of a container's items; 0 if it cannot be read. */
static uint64_t items_of(const struct memory *memory, const struct container *container,
			 const struct counted_class *class)
{
	uint64_t addr = container->named.addr + class->places.items * WORD, items;

	return memory->ops->read(memory, addr, &items, sizeof(items)) == (ssize_t)sizeof(items)
		       ? items
		       : 0;
}

static bool is_weak_reference(const struct memory *memory, uint64_t object)
{
	return object && (python_is(memory, object, "weakref.ReferenceType") ||
			  python_is(memory, object, "KeyedRef"));
}

/*
 * 8-byte words to read from the table of a set or dictionary. In a set, each item takes two, of
 * which the first is its address.
 */
#define TABLE_WORDS 128U

/*
 * True if a container is a set or dictionary of weak references, such as in a WeakSet or a
 * WeakValueDictionary. These keep no object alive. Checks only the first items.
 */
static bool is_weak(const struct reading *reading, const struct container *container)
{
	const struct memory *memory = reading->memory;
	const struct counted_class *class = hash_map_get(&reading->heap->classes, container->type);
	uint64_t at = items_of(memory, container, class), words[TABLE_WORDS];
	struct python_keys keys = {.first = at, .key_bytes = 2 * WORD};
	bool is_dict = !strcmp(class->name, "dict");
	ssize_t got;

	if (is_dict ? !python_keys_read(memory, at, &keys) : strcmp(class->name, "set") != 0)
		return false;
	got = memory->ops->read(memory, keys.first, words, sizeof(words)) / (ssize_t)WORD;
	for (ssize_t i = 0; i + 1 < got; i += (ssize_t)(keys.key_bytes / WORD))
		if (is_weak_reference(memory, words[i]) ||
		    (is_dict && is_weak_reference(memory, words[i + 1])))
			return true;
	return false;
}

/*
 * Moves containers of weak references to the end, after containers that keep their items alive. One
 * pass suffices for two containers (PYTHON_CONTAINERS_MAX).
 */
static void put_weak_last(const struct reading *reading, struct container *containers[], size_t cnt)
{
	for (size_t i = 1; i < cnt; i++)
		if (is_weak(reading, containers[i - 1]) && !is_weak(reading, containers[i])) {
			struct container *weak = containers[i - 1];

			containers[i - 1] = containers[i];
			containers[i] = weak;
		}
}

static int list_containers(const struct reading *reading, struct python_growth *ret,
			   uint64_t ret_items[PYTHON_CONTAINERS_MAX])
{
	struct container *found[PYTHON_CONTAINERS_MAX];
	size_t cnt = find_growing(reading->heap, found);
	int err = name_containers(reading, found, cnt);

	put_weak_last(reading, found, cnt);
	for (size_t i = 0; i < cnt; i++) {
		struct python_container *shown = &ret->containers[i];
		const struct counted_class *class =
			hash_map_get(&reading->heap->classes, found[i]->type);

		shown->addr = found[i]->named.addr + class->places.cnt * WORD;
		shown->items = found[i]->items;
		shown->more = more_items(found[i]);
		shown->for_ns = reading->now_ns - found[i]->first_ns;
		shown->named_by = found[i]->named.named_by;
		memcpy(shown->name, found[i]->named.name, sizeof(shown->name));
		memcpy(shown->class, class->name, sizeof(shown->class));
		ret_items[i] = items_of(reading->memory, found[i], class);
	}
	ret->container_cnt = cnt;
	return err;
}

/* Moves all containers of `old`, which this incomplete reading did not find, to `found`. */
static void keep_containers(struct hash_map *old, struct hash_map *found)
{
	const struct hash_map_slot *slot = NULL;

	while ((slot = hash_map_next(old, slot)))
		if (hash_map_set(found, slot->key, slot->value))
			free(slot->value);
	hash_map_deinit(old);
	*old = (struct hash_map){0};
}

/* Restores the counts of the previous reading. Returns their sum. */
static uint64_t drop_counts(struct hash_map *classes)
{
	const struct hash_map_slot *slot = NULL;
	uint64_t sum = 0;

	while ((slot = hash_map_next(classes, slot))) {
		struct counted_class *class = slot->value;

		class->count = class->before;
		sum += class->count;
	}
	return sum;
}

/*
 * Ends a reading that did not count all objects. Returns how many fewer objects it counted than the
 * previous reading; PYTHON_UNCOUNTED_UNKNOWN if it counted no fewer.
 */
static uint64_t end_cut_reading(const struct reading *reading)
{
	struct python_heap *heap = reading->heap;
	uint64_t earlier = drop_counts(&heap->classes) + drop_counts(&heap->codes);
	uint64_t seen = reading->pool_objects + reading->chunk_objects;

	return earlier > seen ? earlier - seen : PYTHON_UNCOUNTED_UNKNOWN;
}

/* True if a reading that ended with this error counted only some of the objects. */
static bool is_cut(int err)
{
	return err == -ETIMEDOUT || err == -EAGAIN;
}

static int count_objects(struct reading *reading)
{
	struct python_heap *heap = reading->heap;
	int err = begin_reading(reading);

	if (!err)
		err = read_pools(reading);
	if (!err)
		err = read_chunks(reading);
	if (is_cut(err))
		keep_containers(&heap->containers, &reading->containers);
	/* Free the containers that are still in the old table: this reading did not find them. */
	free_values(&heap->containers);
	heap->containers = reading->containers;
	heap->allocator = reading->pool_objects > reading->chunk_objects ? PYTHON_ALLOCATOR_POOLS
									 : PYTHON_ALLOCATOR_HEAP;
	return err;
}

/*
 * Looks for code objects that were replaced by another one at the same address. All objects with
 * the new code count as added since the first reading. Checks only code with enough objects to be
 * reported.
 */
static void check_codes(const struct reading *reading)
{
	const struct hash_map_slot *slot = NULL;

	while (reading->layout && (slot = hash_map_next(&reading->heap->codes, slot))) {
		struct counted_class *class = slot->value;
		uint32_t cookie;

		if (class->count < MORE_MIN || !python_code_cookie(reading->memory, reading->layout,
								   code_of_key(slot->key), &cookie))
			continue;
		if (class->cookie && class->cookie != cookie)
			class->first_count = class->first_bytes = class->before = 0;
		class->cookie = cookie;
	}
}

static int compare(const struct reading *reading, struct python_growth *ret,
		   uint64_t ret_items[PYTHON_CONTAINERS_MAX])
{
	struct python_heap *heap = reading->heap;

	check_codes(reading);
	if (!heap->readings++) {
		end_first_reading(&heap->classes);
		end_first_reading(&heap->codes);
	}
	list_classes(reading, ret);
	return list_containers(reading, ret, ret_items);
}

int python_heap__read(struct python_heap *heap, const struct memory *memory,
		      const struct python_layout *layout, uint64_t now_ns, uint64_t deadline_ns,
		      struct python_growth *ret, uint64_t ret_items[PYTHON_CONTAINERS_MAX])
{
	cleanup_free unsigned char *pool = malloc(PYTHON_POOL_BYTES);
	struct reading reading = {.heap = heap,
				  .memory = memory,
				  .layout = layout,
				  .now_ns = now_ns,
				  .pool = pool,
				  .deadline_ns = deadline_ns,
				  .cpu_deadline_ns = clock_ns(COUNT_CLOCK) + COUNT_NS};
	int err = pool ? count_objects(&reading) : -ENOMEM;

	memset(ret, 0, sizeof(*ret));
	ret->allocator = heap->allocator;
	if (is_cut(err)) {
		ret->uncounted = end_cut_reading(&reading);
		return list_containers(&reading, ret, ret_items);
	}
	return err ?: compare(&reading, ret, ret_items);
}
