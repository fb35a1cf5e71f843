// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Allocators that memleak does not know: C functions, a static function, and a class that throws.
 */
#include <new>

#include "truth.h"

/* A pool of cells of one size, cut from malloc'ed chunks. */
struct cells {
	char *chunk;
	size_t left;
	void *freed;
};

enum { CELL = 512 };

extern "C" {
OWN_FRAME void *cells_take(struct cells *cells, size_t size)
{
	void *cell = cells->freed;

	must(size <= CELL, "cell");
	if (cell) {
		cells->freed = *(void **)cell;
		return keep(cell);
	}
	if (!cells->left) {
		cells->left = 16;
		cells->chunk = (char *)malloc(cells->left * CELL);
	}
	return keep(cells->chunk + --cells->left * CELL);
}

OWN_FRAME void cells_give(struct cells *cells, void *cell)
{
	*(void **)cell = cells->freed;
	cells->freed = cell;
}

OWN_FRAME void *cells_resize(struct cells *cells, void *cell, size_t size)
{
	if (size > CELL)
		return NULL;
	void *other = keep(cells_take(cells, size));

	memcpy(other, cell, CELL);
	cells_give(cells, cell);
	return keep(other);
}
}

static char room[1 << 20];
static size_t used;

extern "C" {
OWN_FRAME static void *hidden_take(size_t cnt, size_t size)
{
	void *p = room + used;

	used += cnt * size;
	return keep(p);
}
}

class Arena {
public:
	OWN_FRAME void *take(size_t size)
	{
		if (size > sizeof(room_) - used_)
			throw std::bad_alloc();
		used_ += size;
		return keep(room_ + used_ - size);
	}

private:
	char room_[1 << 16];
	size_t used_ = 0;
};

static struct cells cells;
static Arena arena;

OWN_FRAME static void leak_cells(int times)
{
	for (int i = 0; i < times; i++) {
		cells_take(&cells, 100); /* LEAK */
		cells_give(&cells, cells_take(&cells, 200));
	}
	leaks("leak_cells", times, times * 100);
}

OWN_FRAME static void *small_cell(void)
{
	return keep(cells_take(&cells, 10)); /* LEAK */
}

OWN_FRAME static void leak_resized(int times)
{
	for (int i = 0; i < times; i++) {
		void *cell = cells_resize(&cells, small_cell(), 300); /* LEAK */

		must(!cells_resize(&cells, keep(cell), CELL + 1), "resize");
	}
	leaks("leak_resized", times, times * 300);
}

OWN_FRAME static void leak_hidden(int times)
{
	for (int i = 0; i < times; i++)
		hidden_take(3, 14); /* LEAK */
	leaks("leak_hidden", times, times * 3 * 14);
}

OWN_FRAME static void leak_arena(int times)
{
	int caught = 0;

	for (int i = 0; i < times; i++) {
		arena.take(70); /* LEAK */
		try {
			arena.take(size_t(1) << 40);
		} catch (const std::bad_alloc &) {
			caught++;
		}
	}
	must(caught == times, "bad_alloc");
	leaks("leak_arena", times, times * 70);
}

int main()
{
	ready();
	leak_cells(40);
	leak_resized(3);
	leak_hidden(3);
	leak_arena(3);
	marker();
	ready();
	return 0;
}
