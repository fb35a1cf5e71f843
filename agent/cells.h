/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stores blocks in cells: see account.h. The cell of a block is written only by the thread that
 * allocates or frees this block.
 */
#ifndef AGENT_CELLS_H
#define AGENT_CELLS_H

#include "agent/agent.h"
#include "agent/system.h"

/* Creates the chunk of an address. Returns NULL if there is no room. */
struct account_chunk *cells_new_chunk(struct account *account, uint64_t addr);
/*
 * Stores a block in the cell that already has the block's address, or in a free cell of its line,
 * or in a spill.
 */
void cells_put_slowly(struct account *account, struct account_chunk *chunk, uint64_t addr,
		      struct account_cell cell);
/*
 * Searches the line of an address, and the line's spills, for a block. Returns NULL if not found.
 */
struct account_cell *cells_find_elsewhere(struct account_chunk *chunk, uint64_t addr);

static inline struct account_chunk *cells_chunk(uint64_t addr)
{
	uint64_t at = addr >> ACCOUNT_CHUNK_SPAN_BITS;
	uint32_t number;

	if (unlikely(at >> (ACCOUNT_ADDRESS_BITS - ACCOUNT_CHUNK_SPAN_BITS)))
		return NULL;
	number = __atomic_load_n(&gate.directory[at], __ATOMIC_ACQUIRE);
	return unlikely(!number) ? NULL : &gate.chunks[number - 1];
}

static inline uint64_t cells_line_number(uint64_t addr)
{
	return (addr & (ACCOUNT_CHUNK_SPAN - 1)) / ACCOUNT_LINE_SPAN;
}

/*
 * Returns the preferred cell of an address: each of the four cells of a line is home to a quarter
 * of the line's addresses.
 */
static inline struct account_cell *cells_home(struct account_chunk *chunk, uint64_t addr)
{
	return (struct account_cell *)chunk->lines +
	       (addr & (ACCOUNT_CHUNK_SPAN - 1)) / (ACCOUNT_LINE_SPAN / ACCOUNT_LINE_CELLS);
}

/*
 * Sets *place to `word` if it is 0; then returns true. Atomic, also with respect to signal handlers
 * of this thread. is_alone: the process has one thread, so x86-64 needs no lock prefix.
 */
static inline bool swap_for_zero(__u64 *place, __u64 word, bool is_alone)
{
	__u64 none = 0;

#if defined(__x86_64__)
	if (is_alone) {
		__asm__ volatile("cmpxchgq %2, %1"
				 : "+a"(none), "+m"(*place)
				 : "r"(word)
				 : "cc", "memory");
		return !none;
	}
#endif
	return __atomic_compare_exchange_n(place, &none, word, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/*
 * Stores a block in a cell; returns false if the cell is not empty. Writing the first word claims
 * the cell: from then on, only the thread that allocates or frees the block writes to the cell. The
 * second word is written afterwards.
 */
static inline bool cell_claim(const struct account *account, struct account_cell *cell,
			      struct account_cell what)
{
	bool is_alone = __atomic_load_n(&account->thread_cnt, __ATOMIC_RELAXED) == 1;

	if (__atomic_load_n(&cell->block, __ATOMIC_RELAXED) ||
	    !swap_for_zero(&cell->block, what.block, is_alone))
		return false;
	__atomic_store_n(&cell->life, what.life, __ATOMIC_RELEASE);
	return true;
}

static inline uint64_t cells_position(uint64_t addr)
{
	return addr / ACCOUNT_POSITION_SPAN % (ACCOUNT_LINE_SPAN / ACCOUNT_POSITION_SPAN);
}

static inline bool cell_is_at(const struct account_cell *cell, uint64_t position)
{
	__u64 word = __atomic_load_n(&cell->block, __ATOMIC_RELAXED);

	/*
	 * True if the cell is in use and its position bits equal `position`. In a cell in use, the
	 * other bits are never all 0.
	 */
	return (word ^ ACCOUNT_CELL(0, 0, position)) - 1 < ACCOUNT_CELL(0, 0, 1) - 1;
}

/*
 * Overwrites a cell whose old block has the same address as the new block: the free of the old
 * block was missed.
 */
static inline void cell_replace(struct account_cell *cell, struct account_cell what)
{
	__atomic_store_n(&cell->life, what.life, __ATOMIC_RELAXED);
	__atomic_store_n(&cell->block, what.block, __ATOMIC_RELEASE);
}

static ALWAYS_INLINE void cells_put(struct account *account, uint64_t addr,
				    struct account_cell cell)
{
	struct account_chunk *chunk = cells_chunk(addr);
	uint64_t position = cells_position(addr);
	struct account_line *line;
	bool is_there = false;

	if (unlikely(!chunk))
		chunk = cells_new_chunk(account, addr);
	if (unlikely(!chunk))
		return;
	line = &chunk->lines[cells_line_number(addr)];
#pragma GCC unroll 4
	for (uint64_t i = 0; i < ACCOUNT_LINE_CELLS; i++)
		is_there |= cell_is_at(&line->cells[i], position);
	if (unlikely(is_there || !cell_claim(account, cells_home(chunk, addr), cell)))
		cells_put_slowly(account, chunk, addr, cell);
}

/* Returns the cell of a block; NULL if the block is in no cell. */
static ALWAYS_INLINE struct account_cell *cells_find(uint64_t addr)
{
	struct account_chunk *chunk = cells_chunk(addr);
	struct account_cell *home;

	if (unlikely(!chunk))
		return NULL;
	home = cells_home(chunk, addr);
	return cell_is_at(home, cells_position(addr)) ? home : cells_find_elsewhere(chunk, addr);
}

/*
 * Returns the home cell of a block, NULL if the block is not in its home cell. The block may still
 * be in another cell.
 */
static ALWAYS_INLINE struct account_cell *cells_find_at_home(uint64_t addr)
{
	struct account_chunk *chunk = cells_chunk(addr);
	struct account_cell *home = unlikely(!chunk) ? NULL : cells_home(chunk, addr);

	return home && cell_is_at(home, cells_position(addr)) ? home : NULL;
}

/*
 * Clears the second word first: once the first word is 0, another thread may claim the cell and
 * write both words.
 */
static inline void cell_clear(struct account_cell *cell)
{
	__atomic_store_n(&cell->life, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&cell->block, 0, __ATOMIC_RELEASE);
}

#endif
