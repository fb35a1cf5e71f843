// SPDX-License-Identifier: GPL-2.0-or-later
/* A fake of another process's memory. */
#include "tests/unit/proof/fake_memory.h"

#include <stdlib.h>
#include <string.h>

static ssize_t fake_read(const struct memory *memory, uint64_t addr, void *buf, size_t len)
{
	const struct fake_memory *fake = (const struct fake_memory *)memory;
	uint64_t end = fake->base + fake->cnt * sizeof(uint64_t);

	__atomic_fetch_add(&((struct fake_memory *)memory)->reads, 1, __ATOMIC_RELAXED);
	if (fake->err)
		return fake->err;
	if (addr < fake->base || addr >= end)
		return 0;
	if (addr < fake->hole_end && addr >= fake->hole_start)
		return 0;
	if (fake->hole_end > addr && fake->hole_start < end)
		end = fake->hole_start;
	if (len > end - addr)
		len = end - addr;
	memcpy(buf, (const char *)fake->words + (addr - fake->base), len);
	return (ssize_t)len;
}

/* Passes the whole range to `visit`, as if all of it had been written to. */
static int fake_visit(const struct memory *memory, const struct mapping *mapping, uint64_t start,
		      uint64_t end, memory_visit_fn *visit, void *arg)
{
	return visit(arg, start, end);
}

static const struct memory_ops fake_ops = {.read = fake_read, .visit_written = fake_visit};

void fake_memory_init(struct fake_memory *fake, uint64_t base, size_t word_cnt)
{
	*fake = (struct fake_memory){
		.memory = {.ops = &fake_ops, .page_size = 4096},
		.base = base,
		.words = calloc(word_cnt, sizeof(uint64_t)),
		.cnt = word_cnt,
	};
}

void fake_memory_deinit(struct fake_memory *fake)
{
	free(fake->words);
}

uint64_t *fake_memory_at(struct fake_memory *fake, uint64_t addr)
{
	return &fake->words[(addr - fake->base) / sizeof(uint64_t)];
}
