// SPDX-License-Identifier: GPL-2.0-or-later
/* Creates chunks and spills on first use. They are never freed. */
#include "agent/cells.h"

/* Takes the next free entry of a region. Returns its number + 1, 0 if there is none. */
static uint32_t take_number(struct account *account, uint32_t *cnt, enum account_region which,
			    uint64_t size)
{
	uint64_t most = region_bytes(account, which) / size;
	uint32_t number = __atomic_load_n(cnt, __ATOMIC_RELAXED);

	do {
		if (number >= most)
			return 0;
	} while (!__atomic_compare_exchange_n(cnt, &number, number + 1, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return number + 1;
}

/*
 * Creates a chunk or spill, and stores its number + 1 in *place. If another thread has set *place
 * first, the new one remains unused, and its pages unallocated. Returns *place; 0 if there is no
 * room.
 */
static uint32_t make(struct account *account, uint32_t *place, uint32_t *cnt,
		     enum account_region which, uint64_t size)
{
	uint32_t made = take_number(account, cnt, which, size), there = 0;

	if (!made) {
		lose(account, ACCOUNT_LOST_CELLS);
		return 0;
	}
	return __atomic_compare_exchange_n(place, &there, made, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE)
		       ? made
		       : there;
}

struct account_chunk *cells_new_chunk(struct account *account, uint64_t addr)
{
	uint64_t at = addr >> ACCOUNT_CHUNK_SPAN_BITS;
	uint32_t number;

	if (at >> (ACCOUNT_ADDRESS_BITS - ACCOUNT_CHUNK_SPAN_BITS)) {
		lose(account, ACCOUNT_LOST_CELLS);
		return NULL;
	}
	number = make(account, &gate.directory[at], &account->chunk_cnt, ACCOUNT_CHUNKS,
		      sizeof(struct account_chunk));
	if (!number)
		return NULL;
	gate.chunks[number - 1].base = at << ACCOUNT_CHUNK_SPAN_BITS;
	return &gate.chunks[number - 1];
}

static struct account_cell *find_spilled(const struct account_chunk *chunk, uint64_t addr)
{
	uint32_t number = chunk->spills[cells_line_number(addr)];

	for (unsigned int i = 0; number && i < ACCOUNT_SPILLS_MAX; i++) {
		struct account_spill *spill = &gate.spills[number - 1];

		for (unsigned int j = 0; j < ACCOUNT_SPILL_CELLS; j++)
			if (cell_is_at(&spill->cells[j], cells_position(addr)))
				return &spill->cells[j];
		number = __atomic_load_n(&spill->next, __ATOMIC_ACQUIRE);
	}
	return NULL;
}

struct account_cell *cells_find_elsewhere(struct account_chunk *chunk, uint64_t addr)
{
	struct account_line *line = &chunk->lines[cells_line_number(addr)];

	for (uint64_t i = 0; i < ACCOUNT_LINE_CELLS; i++)
		if (cell_is_at(&line->cells[i], cells_position(addr)))
			return &line->cells[i];
	return find_spilled(chunk, addr);
}

static void spill(struct account *account, struct account_chunk *chunk, uint64_t addr,
		  struct account_cell cell)
{
	uint32_t *place = &chunk->spills[cells_line_number(addr)];

	for (unsigned int i = 0; i < ACCOUNT_SPILLS_MAX; i++) {
		uint32_t number = __atomic_load_n(place, __ATOMIC_ACQUIRE);
		struct account_spill *spill;

		if (!number)
			number = make(account, place, &account->spill_cnt, ACCOUNT_SPILLS,
				      sizeof(*spill));
		if (!number)
			return;
		spill = &gate.spills[number - 1];
		__atomic_store_n(&spill->line, addr / ACCOUNT_LINE_SPAN, __ATOMIC_RELAXED);
		for (unsigned int j = 0; j < ACCOUNT_SPILL_CELLS; j++)
			if (cell_claim(account, &spill->cells[j], cell))
				return;
		place = &spill->next;
	}
	/* All cells are in use, perhaps by blocks whose frees were missed. */
	lose(account, ACCOUNT_LOST_CELLS);
}

void cells_put_slowly(struct account *account, struct account_chunk *chunk, uint64_t addr,
		      struct account_cell cell)
{
	struct account_line *line = &chunk->lines[cells_line_number(addr)];
	struct account_cell *there = cells_find_elsewhere(chunk, addr);

	if (there) {
		cell_replace(there, cell);
		return;
	}
	for (uint64_t i = 0; i < ACCOUNT_LINE_CELLS; i++)
		if (cell_claim(account, &line->cells[i], cell))
			return;
	spill(account, chunk, addr, cell);
}
