// SPDX-License-Identifier: GPL-2.0-or-later
/* Recognises pools by their headers, and follows the list of free blocks. */
#include "proof/python_pool.h"

#include <stddef.h>
#include <string.h>

#define ALIGNMENT 16U
#define SIZE_CLASSES 32U

struct header {
	uint32_t used_cnt;
	uint32_t padding;
	uint64_t first_free;
	uint64_t next_pool;
	uint64_t previous_pool;
	uint32_t arena;
	uint32_t size_class;
	uint32_t next_offset;     /* offset of the first block that was never allocated */
	uint32_t max_next_offset; /* offset of the last block */
};

_Static_assert(sizeof(struct header) == PYTHON_POOL_HEADER_BYTES, "as in CPython");

/*
 * Reads the header of a pool, and the size of its blocks. False if there is no pool. A pool whose
 * blocks are all free keeps its header until Python uses the pool again.
 */
static bool read_header(const unsigned char *bytes, struct header *ret, uint32_t *ret_size)
{
	uint32_t size, used;

	memcpy(ret, bytes, sizeof(*ret));
	if (ret->size_class >= SIZE_CLASSES)
		return false;
	size = (ret->size_class + 1) * ALIGNMENT;
	if (ret->max_next_offset != PYTHON_POOL_BYTES - size ||
	    ret->next_offset < sizeof(*ret) + size || ret->next_offset > PYTHON_POOL_BYTES)
		return false;
	used = ret->next_offset - (uint32_t)sizeof(*ret);
	*ret_size = size;
	return used % size == 0 && ret->used_cnt <= used / size;
}

bool python_pool_parse_header(const unsigned char *bytes, uint64_t addr, struct python_pool *ret)
{
	struct header header;
	uint32_t size;

	if (!read_header(bytes, &header, &size) || !header.used_cnt)
		return false;
	ret->addr = addr;
	ret->block_bytes = size;
	ret->block_cnt = (header.next_offset - (uint32_t)sizeof(header)) / size;
	return true;
}

uint32_t python_pool_free_bytes(const unsigned char *bytes, uint32_t len)
{
	struct header header;
	uint32_t size, used;

	if (!read_header(bytes, &header, &size))
		return 0;
	used = header.used_cnt ? (uint32_t)sizeof(header) + header.used_cnt * size : 0;
	return len > used ? len - used : 0;
}

bool python_pool_parse(const unsigned char *bytes, uint64_t addr, struct python_pool *ret)
{
	uint64_t at;

	if (!python_pool_parse_header(bytes, addr, ret))
		return false;
	memset(ret->free, 0, sizeof(ret->free));
	memcpy(&at, bytes + offsetof(struct header, first_free), sizeof(at));
	while (at) {
		uint64_t in_blocks = at - addr - PYTHON_POOL_HEADER_BYTES;
		uint64_t block = in_blocks / ret->block_bytes;

		/* A list that is being changed may lead anywhere, or contain a cycle. */
		if (block >= ret->block_cnt || in_blocks % ret->block_bytes ||
		    (ret->free[block / 64] >> block % 64 & 1))
			break;
		ret->free[block / 64] |= 1ULL << block % 64;
		memcpy(&at, bytes + (at - addr), sizeof(at));
	}
	return true;
}
