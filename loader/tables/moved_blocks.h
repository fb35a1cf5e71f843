/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loader's side of bpf/user_probes/reading.bpf.h: collects the blocks that realloc() moves
 * during a reading of the tables, and determines which of them were not read at their old address.
 */
#ifndef LOADER_TABLES_MOVED_BLOCKS_H
#define LOADER_TABLES_MOVED_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/reading.h"

struct moved_blocks {
	volatile struct memleak_reading *shared; /* NULL if blocks are never moved */
	uint32_t number;                         /* number of the reading */
	uint32_t taken; /* number of entries of shared->handed that were copied or lost */
	uint64_t lost;  /* number of blocks that did not fit into shared->handed */
	struct memleak_handed *items;
	size_t cnt, cap;
	uint64_t *read; /* hashes of the blocks that were read */
	size_t read_cnt, read_cap;
};

/*
 * Begins a reading: from now on, BPF programs hand over blocks that were allocated until until_ns.
 */
void moved_blocks_begin(struct moved_blocks *moved, volatile struct memleak_reading *shared,
			uint32_t number, uint64_t until_ns);

/* Call for each block that is read. Returns 0 or -ENOMEM. */
int moved_blocks_add_read(struct moved_blocks *moved, const struct memleak_block_key *key,
			  const struct memleak_block *block);

/*
 * Copies the blocks that were handed over so far. Call this often: the BPF programs have room for
 * MEMLEAK_HANDED_MAX blocks. Returns 0 or -ENOMEM.
 */
int moved_blocks_copy(struct moved_blocks *moved);

/*
 * Ends the reading, and calls take() for each block that was handed over, but not read at its old
 * address. Returns 0, -ENOMEM, or the error of take().
 */
int moved_blocks_end(struct moved_blocks *moved,
		     int (*take)(void *arg, const struct memleak_handed *handed), void *arg);

/* Ends the reading if moved_blocks_end() was not called, and frees the memory. */
void moved_blocks_deinit(struct moved_blocks *moved);

#endif
