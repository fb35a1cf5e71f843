// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the counts of blocks by process right where the loader deletes some. */
#include "loader/shares.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define ITEMS (MEMLEAK_SHARES + 1)

static size_t mapped_bytes(void)
{
	size_t page = (size_t)getpagesize();

	return (ITEMS * sizeof(struct memleak_share) + page - 1) / page * page;
}

int shares_init(struct shares *shares, const struct bpf_object *object)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(object, "shares");
	void *memory;

	if (!map)
		return -ENOENT;
	if (bpf_map__max_entries(map) < ITEMS)
		return 0;
	memory =
		mmap(NULL, mapped_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (memory == MAP_FAILED)
		return -errno;
	shares->items = memory;
	return 0;
}

void shares_deinit(struct shares *shares)
{
	if (shares->items)
		munmap(shares->items, mapped_bytes());
	shares->items = NULL;
}

void shares_begin(struct shares *shares, uint32_t image)
{
	if (shares->items)
		__atomic_store_n(&shares->items[image % MEMLEAK_SHARES].refused, 0,
				 __ATOMIC_RELAXED);
}

void shares_uncount(struct shares *shares, uint32_t image)
{
	if (!shares->items)
		return;
	__atomic_sub_fetch(&shares->items[image % MEMLEAK_SHARES].held, 1, __ATOMIC_RELAXED);
	__atomic_sub_fetch(&shares->items[MEMLEAK_SHARES].held, 1, __ATOMIC_RELAXED);
}

uint64_t shares_refused(const struct shares *shares, uint32_t image)
{
	return shares->items ? shares->items[image % MEMLEAK_SHARES].refused : 0;
}
