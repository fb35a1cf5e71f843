// SPDX-License-Identifier: GPL-2.0-or-later
/* Maps the quotas into memory, and corrects their counts when the loader deletes blocks. */
#include "loader/tables/quotas.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define ITEMS (MEMLEAK_QUOTAS + 1)

static size_t mapped_bytes(void)
{
	size_t page = (size_t)getpagesize();

	return (ITEMS * sizeof(struct memleak_quota) + page - 1) / page * page;
}

int quotas_init(struct quotas *quotas, const struct bpf_object *object)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(object, "quotas");
	void *memory;

	if (!map)
		return -ENOENT;
	if (bpf_map__max_entries(map) < ITEMS)
		return 0;
	memory =
		mmap(NULL, mapped_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (memory == MAP_FAILED)
		return -errno;
	quotas->items = memory;
	return 0;
}

void quotas_deinit(struct quotas *quotas)
{
	if (quotas->items)
		munmap(quotas->items, mapped_bytes());
	quotas->items = NULL;
}

void quotas_begin(struct quotas *quotas, uint32_t image)
{
	if (quotas->items)
		__atomic_store_n(&quotas->items[image % MEMLEAK_QUOTAS].rejected, 0,
				 __ATOMIC_RELAXED);
}

void quotas_uncount(struct quotas *quotas, uint32_t image)
{
	if (!quotas->items)
		return;
	__atomic_sub_fetch(&quotas->items[image % MEMLEAK_QUOTAS].stored, 1, __ATOMIC_RELAXED);
	__atomic_sub_fetch(&quotas->items[MEMLEAK_QUOTAS].stored, 1, __ATOMIC_RELAXED);
}

uint64_t quotas_block_cnt(const struct quotas *quotas, uint32_t image)
{
	return quotas->items[image % MEMLEAK_QUOTAS].stored;
}

uint64_t quotas_refused(const struct quotas *quotas, uint32_t image)
{
	return quotas->items ? quotas->items[image % MEMLEAK_QUOTAS].rejected : 0;
}
