// SPDX-License-Identifier: GPL-2.0-or-later
/* Divides the used blocks of a core's heap into types, by their first words or by their sizes. */
#include "app/core_sorts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "proof/census.h"
#include "proof/census_table.h"
#include "proof/window.h"

/*
 * Maximum number of types defined by the first word of their blocks; blocks with other first words
 * are grouped by size.
 */
#define WORDS_MOST 65536
#define NAMED_AT_ONCE 1024

/*
 * Size in bytes from which on a size class covers the sizes between two powers of two. Below it,
 * each size of a chunk has its own class.
 */
#define LARGE_BYTES 1025
/*
 * Difference in bytes between successive sizes of chunks, and smallest usable size of a chunk. The
 * usable size is 8 bytes below a multiple of CHUNK_STEP_BYTES.
 */
#define CHUNK_STEP_BYTES 16
#define CHUNK_LEAST_BYTES 24

#define WINDOW_BYTES (256 << 10)

/* State while the blocks of the heap are visited. */
struct taking {
	struct core_sorts *sorts;
	const struct proc_maps *maps;
	struct window window;
	/* mapping to which the first word of the previous block points, or NULL */
	const struct mapping *last;
};

static int add_sort(struct core_sorts *sorts, const struct core_sort *sort, size_t *ret)
{
	if (array_reserve(&sorts->items, &sorts->cap, sorts->cnt + 1))
		return -ENOMEM;
	sorts->items[sorts->cnt] = *sort;
	*ret = sorts->cnt++;
	return 0;
}

/* Returns the size class of a block: the largest size in the class. */
static uint64_t class_of(uint64_t size)
{
	uint64_t largest = LARGE_BYTES - 1;

	if (size < LARGE_BYTES)
		return size < CHUNK_LEAST_BYTES ? CHUNK_LEAST_BYTES : size;
	while (largest < size && largest < UINT64_MAX / 2)
		largest *= 2;
	return largest;
}

static int find_sort(struct core_sorts *sorts, struct hash_map *map, uint64_t key,
		     const struct core_sort *fresh, size_t *ret)
{
	uintptr_t known = (uintptr_t)hash_map_get(map, key);
	int err;

	if (known) {
		*ret = known - 1;
		return 0;
	}
	err = add_sort(sorts, fresh, ret);
	return err ? err : hash_map_set(map, key, (void *)(uintptr_t)(*ret + 1));
}

static int sort_of_size(struct core_sorts *sorts, uint64_t size, size_t *ret)
{
	const struct core_sort fresh = {.size = class_of(size)};

	return find_sort(sorts, &sorts->by_size, fresh.size, &fresh, ret);
}

static int sort_of_word(struct core_sorts *sorts, uint64_t word, uint64_t size, size_t *ret)
{
	const struct core_sort fresh = {.word = word};

	if (sorts->by_word.cnt >= WORDS_MOST && !hash_map_get(&sorts->by_word, word))
		return sort_of_size(sorts, size, ret);
	return find_sort(sorts, &sorts->by_word, word, &fresh, ret);
}

/*
 * True if the word, taken as an address, is in a mapping of a file. A block that begins with such a
 * word belongs to its type.
 */
static bool is_in_file(struct taking *taking, uint64_t word)
{
	if (!taking->last || word < taking->last->start || word >= taking->last->end)
		taking->last = proc_maps_find(taking->maps, word);
	return taking->last && taking->last->path[0] == '/';
}

static void add_to(struct core_sort *sort, const struct heap_block *block)
{
	const struct block largest = {.addr = block->addr, .size = block->size};

	sort->bytes += block->size;
	sort->count++;
	block_take_larger(&sort->largest, &largest);
}

static int add_chunk(void *arg, const struct chunk *chunk)
{
	struct taking *taking = arg;
	struct core_sorts *sorts = taking->sorts;
	struct heap *heap = &sorts->heap;
	uint64_t word = 0;
	size_t len = sizeof(word), sort;
	const void *first;
	int err;

	census_table_add(&sorts->census, chunk, false);
	if (chunk->state != CHUNK_USED)
		return 0;
	if (array_reserve(&heap->blocks, &heap->block_cap, heap->block_cnt + 1))
		return -ENOMEM;
	first = window_get(&taking->window, chunk->addr, WINDOW_BYTES, &len);
	if (len >= sizeof(word))
		memcpy(&word, first, sizeof(word));
	if (is_in_file(taking, word))
		err = sort_of_word(sorts, word, chunk->size, &sort);
	else
		err = sort_of_size(sorts, chunk->size, &sort);
	if (err)
		return err;
	heap->blocks[heap->block_cnt++] = (struct heap_block){
		.addr = chunk->addr,
		.size = chunk->size < HEAP_BLOCK_BYTES_MAX ? (uint32_t)chunk->size
							   : HEAP_BLOCK_BYTES_MAX,
		.site = (uint32_t)sort,
	};
	return 0;
}

static struct reach_sum sum_of(const struct census_sum *a, const struct census_sum *b)
{
	return (struct reach_sum){a->bytes + b->bytes, a->count + b->count};
}

int core_sorts_init(const struct core_file *core, struct core_sorts *ret)
{
	struct core_sorts sorts = {0};
	struct taking taking = {.sorts = &sorts, .maps = &core->memory.maps};
	struct census census = {0};
	int err = window_init(&core->memory, WINDOW_BYTES, &taking.window);

	if (err)
		return err;
	err = census_take(&core->memory, add_chunk, &taking, &census);
	window_deinit(&taking.window);
	if (!err)
		err = census_table_finish(&sorts.census, &census, &core->memory);
	if (err) {
		census_deinit(&census);
		core_sorts_deinit(&sorts);
		return err;
	}
	sorts.used = sum_of(&census.used, &census.mapped);
	sorts.free_ = sum_of(&census.free_, &(struct census_sum){0});
	sorts.own_bytes = census.own.bytes;
	census_deinit(&census);
	*ret = sorts;
	return 0;
}

void core_sorts_deinit(struct core_sorts *sorts)
{
	free(sorts->items);
	free(sorts->heap.blocks);
	hash_map_deinit(&sorts->by_word);
	hash_map_deinit(&sorts->by_size);
	arena_deinit(&sorts->names);
	*sorts = (struct core_sorts){0};
}

static char *join(struct arena *arena, const char *before, const char *symbol, const char *after)
{
	size_t room = strlen(before) + strlen(symbol) + strlen(after) + 1;
	char *name = arena_take(arena, room);

	if (name)
		snprintf(name, room, "%s%s%s", before, symbol, after);
	return name;
}

/*
 * Names a type by the symbol to which the first word of its blocks points. If this is a vtable, and
 * the word points past its start, the name is that of the C++ class. If the word is the address of
 * a symbol NAME without blanks, the name is {&NAME,...}. Otherwise, the type gets no name.
 */
static int take_name(struct core_sorts *sorts, struct core_sort *sort,
		     const struct sym_location *location)
{
	static const char table[] = "vtable for ";
	const struct sym_frame *frame = &location->frames[0];

	if (!frame->symbol || !location->module)
		return 0;
	if (!strncmp(frame->symbol, table, sizeof(table) - 1) && frame->offset)
		sort->frame.symbol = join(&sorts->names, "", frame->symbol + sizeof(table) - 1, "");
	else if (!frame->offset && !strchr(frame->symbol, ' '))
		sort->frame.symbol = join(&sorts->names, "{&", frame->symbol, ",...}");
	else
		return 0;
	if (!sort->frame.symbol)
		return -ENOMEM;
	sort->location.module = location->module;
	return 0;
}

static int name_words(struct core_sorts *sorts, struct symspace *space, uint64_t deadline_ns)
{
	const struct sym_location *locations[NAMED_AT_ONCE];
	struct sym_query queries[NAMED_AT_ONCE];
	size_t which[NAMED_AT_ONCE], cnt = 0;
	int err = 0;

	for (size_t i = 0; !err && i < sorts->cnt; i++) {
		if (sorts->items[i].word) {
			queries[cnt] =
				(struct sym_query){.addr = sorts->items[i].word, .kind = SYM_DATA};
			which[cnt++] = i;
		}
		if (!cnt || (cnt < NAMED_AT_ONCE && i + 1 < sorts->cnt))
			continue;
		err = symspace__resolve(space, queries, cnt, deadline_ns, locations);
		for (size_t j = 0; !err && j < cnt; j++)
			err = take_name(sorts, &sorts->items[which[j]], locations[j]);
		cnt = 0;
	}
	return err;
}

/*
 * Returns a name such as "block[41..56]": the sizes that the program may have requested for blocks
 * of this class. For large blocks, these sizes lie between two powers of two.
 */
static char *name_of_size(struct arena *arena, uint64_t size)
{
	char text[80];

	if (size == CHUNK_LEAST_BYTES)
		snprintf(text, sizeof(text), "block[0..%d]", CHUNK_LEAST_BYTES);
	else if (size < LARGE_BYTES - 1)
		snprintf(text, sizeof(text), "block[%" PRIu64 "..%" PRIu64 "]",
			 size - CHUNK_STEP_BYTES + 1, size);
	else if (size >= 2 << 20)
		snprintf(text, sizeof(text), "block[%" PRIu64 "M..%" PRIu64 "M]", size >> 21,
			 size >> 20);
	else
		snprintf(text, sizeof(text), "block[%" PRIu64 "k..%" PRIu64 "k]", size >> 11,
			 size >> 10);
	return arena_copy(arena, text, strlen(text) + 1);
}

static int name_sizes(struct core_sorts *sorts)
{
	for (size_t i = 0; i < sorts->cnt; i++) {
		struct core_sort *sort = &sorts->items[i];

		if (sort->size) {
			sort->frame.symbol = name_of_size(&sorts->names, sort->size);
			if (!sort->frame.symbol)
				return -ENOMEM;
		}
		sort->location.frames = &sort->frame;
		sort->location.frame_cnt = 1;
	}
	return 0;
}

/*
 * Removes types without blocks. These are types whose first word has no name: their blocks were
 * moved to types by size.
 */
static int drop_empty(struct core_sorts *sorts)
{
	cleanup_free size_t *places = calloc(sorts->cnt + 1, sizeof(*places));
	size_t cnt = 0;

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < sorts->cnt; i++) {
		places[i] = cnt;
		if (sorts->items[i].count)
			sorts->items[cnt++] = sorts->items[i];
	}
	for (size_t i = 0; i < sorts->heap.block_cnt; i++)
		sorts->heap.blocks[i].site = (uint32_t)places[sorts->heap.blocks[i].site];
	sorts->cnt = cnt;
	/* The indices in the maps are no longer valid. */
	hash_map_deinit(&sorts->by_word);
	hash_map_deinit(&sorts->by_size);
	return 0;
}

int core_sorts_name(struct core_sorts *sorts, struct symspace *space, uint64_t deadline_ns)
{
	int err = name_words(sorts, space, deadline_ns);

	for (size_t i = 0; !err && i < sorts->heap.block_cnt; i++) {
		struct heap_block *block = &sorts->heap.blocks[i];
		size_t sort = block->site;

		if (sorts->items[sort].word && !sorts->items[sort].frame.symbol)
			err = sort_of_size(sorts, block->size, &sort);
		block->site = (uint32_t)sort;
		if (!err)
			add_to(&sorts->items[sort], block);
	}
	if (!err)
		err = drop_empty(sorts);
	return err ? err : name_sizes(sorts);
}

static uint64_t id_of(const struct core_sort *sort)
{
	return hash_word(hash_text(hash_word(0, sort->size), sort->frame.symbol), sort->word);
}

int core_sorts_sites(const struct core_sorts *sorts, const struct process *process,
		     struct snapshot *snap)
{
	uint64_t *frames = arena_take(&snap->arena, (sorts->cnt + 1) * sizeof(*frames));

	snap->sites = calloc(sorts->cnt + 1, sizeof(*snap->sites));
	if (!snap->sites || !frames)
		return -ENOMEM;
	for (size_t i = 0; i < sorts->cnt; i++) {
		const struct core_sort *sort = &sorts->items[i];

		frames[i] = i + 1;
		snap->sites[i] = (struct site){
			.id = id_of(sort),
			.space = SPACE_USER,
			.kind = KIND_HEAP,
			.process = process,
			.bytes = sort->bytes,
			.count = sort->count,
			.oldest_ns = AGE_UNKNOWN,
			.newest_ns = AGE_UNKNOWN,
			.frames = &frames[i],
			.frame_cnt = 1,
			.largest = sort->largest,
		};
	}
	snap->site_cnt = sorts->cnt;
	return 0;
}

const struct core_sort *core_sorts_of(const struct core_sorts *sorts, uint64_t frame)
{
	return frame && frame <= sorts->cnt ? &sorts->items[frame - 1] : NULL;
}
