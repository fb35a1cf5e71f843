// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks the first words of a block to recognise interior pointers. */
#include "proof/interior.h"

#include <string.h>

#define WORD sizeof(uint64_t)
#define WINDOW_BYTES 4096

/* Number of values of a tag in the low three bits of a pointer to an aligned block. */
#define TAGS 8

/*
 * Offset of a new[] array's elements, which follow the element count. The larger offset is for
 * types with an alignment of 16.
 */
#define COOKIE 8
#define WIDE_COOKIE 16

/* Header of a std::string of the old ABI: length, capacity, reference count. */
#define STRING_HEAD 24

int interior_init(const struct memory *memory, struct interior *ret)
{
	struct interior interior = {0};
	int err = window_init(memory, WINDOW_BYTES, &interior.heads);

	if (!err)
		err = window_init(memory, WINDOW_BYTES, &interior.inside);
	if (!err)
		err = window_init(memory, WINDOW_BYTES, &interior.tables);
	if (err) {
		interior_deinit(&interior);
		return err;
	}
	*ret = interior;
	return 0;
}

void interior_deinit(struct interior *interior)
{
	window_deinit(&interior->heads);
	window_deinit(&interior->inside);
	window_deinit(&interior->tables);
}

static bool read_word(struct window *window, uint64_t addr, uint64_t *ret)
{
	size_t len = sizeof(*ret);
	const void *at = window_get(window, addr, 0, &len);

	if (!at || len < sizeof(*ret))
		return false;
	memcpy(ret, at, sizeof(*ret));
	return true;
}

static bool is_array(struct interior *interior, const struct heap_block *block, uint64_t offset)
{
	uint64_t cnt, bytes = block->size - offset;

	if ((offset != COOKIE && offset != WIDE_COOKIE) ||
	    !read_word(&interior->heads, block->addr + offset - WORD, &cnt))
		return false;
	return cnt ? bytes && bytes % cnt == 0 : !bytes;
}

static bool is_behind_size(struct interior *interior, const struct heap_block *block,
			   uint64_t offset)
{
	uint64_t size;

	return offset == WORD && read_word(&interior->heads, block->addr, &size) &&
	       size == block->size - WORD;
}

static bool is_string(struct interior *interior, const struct heap_block *block, uint64_t offset)
{
	uint64_t length, capacity;

	return offset == STRING_HEAD && read_word(&interior->heads, block->addr, &length) &&
	       read_word(&interior->heads, block->addr + WORD, &capacity) && length <= capacity &&
	       capacity == block->size - STRING_HEAD - 1;
}

/*
 * True if there is a base class subobject at `offset`. Its virtual function table has the offset to
 * the top of the object two words before the first function (Itanium C++ ABI, 2.5.2).
 */
static bool is_base_class(struct interior *interior, const struct heap_block *block,
			  uint64_t offset)
{
	uint64_t table, to_top;

	return offset % WORD == 0 && block->size - offset >= WORD &&
	       read_word(&interior->inside, block->addr + offset, &table) && table % WORD == 0 &&
	       table > 2 * WORD && read_word(&interior->tables, table - 2 * WORD, &to_top) &&
	       to_top == -offset;
}

bool interior_is_begin(struct interior *interior, const struct heap_block *block, uint64_t offset)
{
	return offset < TAGS || is_array(interior, block, offset) ||
	       is_behind_size(interior, block, offset) || is_string(interior, block, offset) ||
	       is_base_class(interior, block, offset);
}

uint32_t interior_empty_array(struct interior *interior, const struct block_index *index,
			      uint32_t next, uint64_t word)
{
	const struct heap_block *block = next ? &index->blocks[next - 1] : NULL;

	return block && block->size == COOKIE && block->addr + COOKIE == word &&
			       is_array(interior, block, COOKIE)
		       ? next - 1
		       : NO_BLOCK;
}
