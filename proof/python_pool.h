/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The layout of a pool of CPython's allocator (Objects/obmalloc.c), from version 3.10 on. */
#ifndef PROOF_PYTHON_POOL_H
#define PROOF_PYTHON_POOL_H

#include <stdbool.h>
#include <stdint.h>

#define PYTHON_POOL_BYTES 16384U
#define PYTHON_POOL_HEADER_BYTES 48U
/* Maximum number of blocks in a pool; a multiple of 64 */
#define PYTHON_POOL_BLOCKS 1024U

struct python_pool {
	uint64_t addr;
	uint32_t block_bytes;
	uint32_t block_cnt; /* blocks that were ever allocated; they come first */
	uint64_t free[PYTHON_POOL_BLOCKS / 64]; /* bit n is set if block n is free */
};

/*
 * Parses a pool. bytes: PYTHON_POOL_BYTES bytes of memory from addr on. False if there is no pool
 * at addr.
 */
bool python_pool_parse(const unsigned char *bytes, uint64_t addr, struct python_pool *ret);

/*
 * Like python_pool_parse(), but needs only PYTHON_POOL_HEADER_BYTES bytes, and does not set
 * ret->free.
 */
bool python_pool_parse_header(const unsigned char *bytes, uint64_t addr, struct python_pool *ret);

/*
 * Returns the number of free bytes in the first `len` bytes of a pool, which has no other bytes in
 * memory; 0 if there is no pool. Assumes that all blocks in use are in memory. bytes: as for
 * python_pool_parse_header().
 */
uint32_t python_pool_free_bytes(const unsigned char *bytes, uint32_t len);

#endif
