// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds pools in anonymous memory, classes by the type pointers of objects, and containers by their
 * class. Keeps the numbers of the first reading to compare with.
 */
#include "proof/python_heap.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash_map.h"
#include "base/path.h"
#include "proof/python_names.h"
#include "proof/python_pool.h"

#define WINDOW_BYTES (16U * PYTHON_POOL_BYTES)
#define WORD sizeof(uint64_t)

/* Bounds on what a hostile process can make this table grow to. */
#define CLASSES_MAX 65536U
#define CONTAINERS_MAX 65536U

/* Smaller containers, and fewer new objects, are not worth mentioning. */
#define ITEMS_MIN 32U
#define MORE_MIN 16U

/* A container must have grown this often, and never shrunk. */
#define RISES_MIN 2U

/* Parts of PyTypeObject, in words; they are the same in CPython 3.8 to 3.14. */
enum { TYPE_NAME = 3, TYPE_BASIC_SIZE = 4, TYPE_ITEM_SIZE = 5, TYPE_FLAGS = 21, TYPE_WORDS = 22 };
#define BASIC_SIZE_MAX 65536U
#define ITEM_SIZE_MAX 1024U
#define FLAG_READY (1ULL << 12)
#define FLAG_LIST (1ULL << 25)
#define FLAG_DICT (1ULL << 29)

struct class
{
	char name[PYTHON_TEXT_BYTES]; /* "" if this is no class */
	size_t items_at; /* word of the object with the number of its items; 0 if it has none */
	uint64_t count, bytes;
	uint64_t first_count, first_bytes; /* of the first reading */
	uint64_t before;                   /* count of the previous reading */
};

struct container {
	uint64_t addr;
	const struct class *class;
	uint64_t items, first_items;
	uint64_t first_ns;
	unsigned int rises;
	bool has_shrunk;
	bool is_named; /* `name` was searched for */
	char name[PYTHON_TEXT_BYTES];
};

struct python_heap {
	struct hash_map classes;    /* struct class, keyed by the address of the type */
	struct hash_map containers; /* struct container, keyed by address */
	uint64_t first_ns;          /* time of the first reading, 0 if there was none */
	unsigned int readings;
};

/* A reading in progress. */
struct reading {
	struct python_heap *heap;
	const struct memory *memory;
	uint64_t now_ns;
	struct hash_map containers; /* those that were found in this reading */
	unsigned char *window;
	uint64_t next; /* end of the memory that was searched for pools */
};

static void free_values(struct hash_map *map)
{
	const struct hash_map_slot *slot = NULL;

	while ((slot = hash_map_next(map, slot)))
		free(slot->value);
	hash_map_deinit(map);
	*map = (struct hash_map){0};
}

struct python_heap *python_heap__new(void)
{
	return calloc(1, sizeof(struct python_heap));
}

void python_heap__free(struct python_heap *heap)
{
	if (!heap)
		return;
	free_values(&heap->classes);
	free_values(&heap->containers);
	free(heap);
}

bool python_heap_is_in(const struct proc_maps *maps)
{
	for_each_mapping (mapping, maps) {
		const char *name = path_name(mapping->path);

		if (mapping->executable &&
		    (!strncmp(name, "python3", 7) || !strncmp(name, "libpython3", 10)))
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

/* Returns the word of an object that has the number of its items. */
static size_t items_at(const char *name, uint64_t flags)
{
	if ((flags & (FLAG_LIST | FLAG_DICT)) || !strcmp(name, "collections.deque"))
		return 2;
	return strcmp(name, "set") != 0 ? 0 : 3;
}

/* Reads a class. Sets no name if the address is not that of a class. */
static void read_class(const struct memory *memory, uint64_t addr, struct class *ret)
{
	uint64_t words[TYPE_WORDS];

	if (memory->ops->read(memory, addr, words, sizeof(words)) != (ssize_t)sizeof(words) ||
	    !is_address(words[1]) || words[TYPE_NAME] <= UINT16_MAX ||
	    words[TYPE_BASIC_SIZE] < 2 * WORD || words[TYPE_BASIC_SIZE] > BASIC_SIZE_MAX ||
	    words[TYPE_ITEM_SIZE] > ITEM_SIZE_MAX || !(words[TYPE_FLAGS] & FLAG_READY) ||
	    !read_class_name(memory, words[TYPE_NAME], ret->name)) {
		ret->name[0] = '\0';
		return;
	}
	ret->items_at = items_at(ret->name, words[TYPE_FLAGS]);
}

/* Returns the class with its type at addr; NULL if there is none, or if there are too many. */
static struct class *class_at(struct reading *reading, uint64_t addr)
{
	struct python_heap *heap = reading->heap;
	struct class *class = hash_map_get(&heap->classes, addr);

	if (!class && heap->classes.cnt < CLASSES_MAX) {
		class = calloc(1, sizeof(*class));
		if (class)
			read_class(reading->memory, addr, class);
		if (class && hash_map_set(&heap->classes, addr, class)) {
			free(class);
			return NULL;
		}
	}
	return class && class->name[0] ? class : NULL;
}

/*
 * Returns the class of the object in a block, and sets *ret_object to the object's first word.
 * Objects that the garbage collector tracks follow its header of two words. From CPython 3.12 on,
 * two more words precede the header of objects with attributes. NULL if there is no object.
 */
static struct class *find_class(struct reading *reading, const uint64_t *block, size_t word_cnt,
				const uint64_t **ret_object)
{
	static const size_t places[] = {2, 4, 0};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		const uint64_t *object = block + places[i];
		struct class *class;

		/* Count references in the lower half; the upper half has flags since 3.14. */
		if (places[i] + 2 > word_cnt || !(uint32_t)object[0] || !is_address(object[1]))
			continue;
		class = class_at(reading, object[1]);
		if (class) {
			*ret_object = object;
			return class;
		}
	}
	return NULL;
}

static int add_container(struct reading *reading, const struct class *class, uint64_t addr,
			 uint64_t items)
{
	struct container *container = hash_map_remove(&reading->heap->containers, addr);

	if (container && container->class != class) {
		free(container);
		container = NULL;
	}
	if (!container) {
		container = calloc(1, sizeof(*container));
		if (!container)
			return -ENOMEM;
		*container = (struct container){.addr = addr,
						.class = class,
						.items = items,
						.first_items = items,
						.first_ns = reading->now_ns};
	}
	container->rises += items > container->items;
	container->has_shrunk |= items < container->items;
	container->items = items;
	if (!hash_map_set(&reading->containers, addr, container))
		return 0;
	free(container);
	return -ENOMEM;
}

static int add_object(struct reading *reading, const uint64_t *block, size_t bytes, uint64_t addr)
{
	const uint64_t *object;
	struct class *class = find_class(reading, block, bytes / WORD, &object);
	uint64_t items;

	if (!class)
		return 0;
	class->count++;
	class->bytes += bytes;
	if (!class->items_at || (size_t)(object - block) + class->items_at >= bytes / WORD)
		return 0;
	items = object[class->items_at];
	if (items < ITEMS_MIN || items > UINT32_MAX || reading->containers.cnt >= CONTAINERS_MAX)
		return 0;
	return add_container(reading, class, addr + (uint64_t)(object - block) * WORD, items);
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
			err = add_object(reading, (const void *)(bytes + at), pool.block_bytes,
					 addr + at);
	}
	return err;
}

/* Searches a run of pages for pools. A pool may begin in this run and end in the next. */
static int visit_run(void *arg, uint64_t start, uint64_t end)
{
	struct reading *reading = arg;
	uint64_t at = start & ~(uint64_t)(PYTHON_POOL_BYTES - 1);
	int err = 0;

	if (at < reading->next)
		at = reading->next;
	for (; !err && at < end; at += WINDOW_BYTES) {
		ssize_t got = reading->memory->ops->read(reading->memory, at, reading->window,
							 WINDOW_BYTES);

		for (ssize_t i = 0; !err && i + PYTHON_POOL_BYTES <= got && at + (size_t)i < end;
		     i += PYTHON_POOL_BYTES) {
			err = add_pool(reading, reading->window + i, at + (size_t)i);
			reading->next = at + (size_t)i + PYTHON_POOL_BYTES;
		}
	}
	return err;
}

static int read_pools(struct reading *reading)
{
	const struct memory *memory = reading->memory;
	int err = 0;

	for_each_mapping (mapping, &memory->maps) {
		if (mapping->shared || mapping->file.ino || !mapping->writable)
			continue;
		err = memory->ops->visit_written(memory, mapping, mapping->start, mapping->end,
						 visit_run, reading);
		if (err)
			break;
	}
	return err;
}

static void begin_reading(struct python_heap *heap, uint64_t now_ns)
{
	const struct hash_map_slot *slot = NULL;

	if (!heap->readings)
		heap->first_ns = now_ns;
	while ((slot = hash_map_next(&heap->classes, slot))) {
		struct class *class = slot->value;

		class->before = class->count;
		class->count = class->bytes = 0;
	}
}

static void end_first_reading(struct python_heap *heap)
{
	const struct hash_map_slot *slot = NULL;

	while ((slot = hash_map_next(&heap->classes, slot))) {
		struct class *class = slot->value;

		class->first_count = class->count;
		class->first_bytes = class->bytes;
	}
}

static uint64_t more_bytes(const struct class *class)
{
	return class->bytes > class->first_bytes ? class->bytes - class->first_bytes : 0;
}

/* Lists the classes that grew since the first reading, and did not shrink since the previous. */
static void list_classes(const struct python_heap *heap, uint64_t now_ns, struct python_growth *ret)
{
	const struct hash_map_slot *slot = NULL;

	while ((slot = hash_map_next(&heap->classes, slot))) {
		const struct class *class = slot->value;
		size_t at = ret->class_cnt;

		if (class->count < class->first_count + MORE_MIN || class->count < class->before)
			continue;
		while (at && ret->classes[at - 1].more_bytes < more_bytes(class))
			at--;
		if (at == PYTHON_CLASSES_MAX)
			continue;
		ret->class_cnt += ret->class_cnt < PYTHON_CLASSES_MAX;
		memmove(&ret->classes[at + 1], &ret->classes[at],
			(ret->class_cnt - 1 - at) * sizeof(*ret->classes));
		ret->classes[at] = (struct python_class){
			.count = class->count,
			.more = class->count - class->first_count,
			.more_bytes = more_bytes(class),
			.for_ns = now_ns - heap->first_ns,
		};
		memcpy(ret->classes[at].name, class->name, sizeof(class->name));
	}
}

static uint64_t more_items(const struct container *container)
{
	return container->items - container->first_items;
}

/* Finds the containers that gained most. Returns their number. */
static size_t find_growing(const struct python_heap *heap,
			   struct container *ret[PYTHON_CONTAINERS_MAX])
{
	const struct hash_map_slot *slot = NULL;
	size_t cnt = 0;

	while ((slot = hash_map_next(&heap->containers, slot))) {
		struct container *container = slot->value;
		size_t at = cnt;

		if (container->has_shrunk || container->rises < RISES_MIN ||
		    more_items(container) < MORE_MIN)
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

/* Searches for the names of containers that have not been searched for yet. */
static int name_containers(const struct memory *memory, struct container *const *containers,
			   size_t cnt)
{
	struct python_named named[PYTHON_CONTAINERS_MAX];
	size_t named_cnt = 0;
	int err;

	for (size_t i = 0; i < cnt; i++)
		if (!containers[i]->is_named)
			named[named_cnt++].addr = containers[i]->addr;
	if (!named_cnt)
		return 0;
	err = python_names_find(memory, named, named_cnt);
	for (size_t i = 0, at = 0; !err && i < cnt; i++) {
		if (containers[i]->is_named)
			continue;
		memcpy(containers[i]->name, named[at++].name, sizeof(containers[i]->name));
		containers[i]->is_named = true;
	}
	return err;
}

static int list_containers(const struct python_heap *heap, const struct memory *memory,
			   uint64_t now_ns, struct python_growth *ret)
{
	struct container *found[PYTHON_CONTAINERS_MAX];
	size_t cnt = find_growing(heap, found);
	int err = name_containers(memory, found, cnt);

	for (size_t i = 0; i < cnt; i++) {
		struct python_container *shown = &ret->containers[i];

		shown->items = found[i]->items;
		shown->more = more_items(found[i]);
		shown->for_ns = now_ns - found[i]->first_ns;
		memcpy(shown->name, found[i]->name, sizeof(shown->name));
		memcpy(shown->class, found[i]->class->name, sizeof(shown->class));
	}
	ret->container_cnt = cnt;
	return err;
}

int python_heap__read(struct python_heap *heap, const struct memory *memory, uint64_t now_ns,
		      struct python_growth *ret)
{
	cleanup_free unsigned char *window = malloc(WINDOW_BYTES);
	struct reading reading = {
		.heap = heap, .memory = memory, .now_ns = now_ns, .window = window};
	int err;

	memset(ret, 0, sizeof(*ret));
	if (!window)
		return -ENOMEM;
	begin_reading(heap, now_ns);
	err = read_pools(&reading);
	/* The containers left in the old table were not found again. */
	free_values(&heap->containers);
	heap->containers = reading.containers;
	if (err)
		return err;
	if (!heap->readings++)
		end_first_reading(heap);
	list_classes(heap, now_ns, ret);
	return list_containers(heap, memory, now_ns, ret);
}
