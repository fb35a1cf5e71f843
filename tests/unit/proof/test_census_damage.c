// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes censuses of a heap in which one 64-bit word is damaged: the census must end, and must not
 * report any chunk twice. With the argument "heap", this program makes the heap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "proof/census.h"
#include "tests/unit/lib/random.h"
#include "tests/unit/proof/heap_program.h"
#include "tests/unit/proof/made_heap.h"
#include "tests/unit/proof/process_memory.h"

#define TIMES 500

struct damaged {
	struct memory memory;
	const struct memory *whole;
	/* address of the damaged word, and the value that reads return for it */
	uint64_t addr, value;
};

static ssize_t read_damaged(const struct memory *memory, uint64_t addr, void *buf, size_t len)
{
	const struct damaged *damaged = (const struct damaged *)memory;
	ssize_t got = damaged->whole->ops->read(damaged->whole, addr, buf, len);

	if (got >= (ssize_t)sizeof(damaged->value) && damaged->addr >= addr &&
	    damaged->addr - addr <= (uint64_t)got - sizeof(damaged->value))
		memcpy((char *)buf + (damaged->addr - addr), &damaged->value,
		       sizeof(damaged->value));
	return got;
}

static int visit_written(const struct memory *memory, const struct mapping *mapping, uint64_t start,
			 uint64_t end, memory_visit_fn *visit, void *arg)
{
	return visit(arg, start, end);
}

static const struct memory_ops ops = {.read = read_damaged, .visit_written = visit_written};

/* The allocator's own chunks. Damage to them has the worst effect. */
struct places {
	struct chunk items[64];
	size_t cnt;
};

static int keep_own(void *arg, const struct chunk *chunk)
{
	struct places *places = arg;

	if (chunk->state == CHUNK_OWN && places->cnt < 64)
		places->items[places->cnt++] = *chunk;
	return 0;
}

static int check_order(void *arg, const struct chunk *chunk)
{
	uint64_t *end = arg;

	assert_true(chunk->addr >= *end && chunk->addr + chunk->size > chunk->addr);
	*end = chunk->addr + chunk->size;
	return 0;
}

static uint64_t some_word(uint64_t *seed, const struct places *places)
{
	const struct chunk *other = &places->items[random_next(seed) % places->cnt];

	switch (random_next(seed) % 4) {
	case 0:
		return random_next(seed) % 4096;
	case 1:
		return other->addr + random_next(seed) % 64 * 16;
	case 2:
		return 1ULL << random_next(seed) % 64;
	default:
		return random_next(seed);
	}
}

static void damage(const struct memory *memory)
{
	struct places places = {0};
	struct census census;
	uint64_t seed = 1;

	assert_int_equal(census_take(memory, keep_own, &places, &census), 0);
	census_deinit(&census);
	assert_true(places.cnt > 6);
	for (size_t i = 0; i < TIMES; i++) {
		const struct chunk *place = &places.items[random_next(&seed) % places.cnt];
		uint64_t at = random_next(&seed) % (place->size < 4096 ? place->size : 4096),
			 end = 0;
		struct damaged damaged = {.memory = *memory, .whole = memory};

		damaged.memory.ops = &ops;
		/*
		 * Also damage the 16 bytes before the chunk, which have its size if it is a top
		 * chunk or a thread cache.
		 */
		damaged.addr = (place->addr + at - 16) & ~7ULL;
		damaged.value = some_word(&seed, &places);
		assert_int_equal(census_take(&damaged.memory, check_order, &end, &census), 0);
		census_deinit(&census);
	}
}

static void test_damage(void **state)
{
	char *argv[] = {"/proc/self/exe", "heap",      "seed=1",  "steps=2000",
			"slots=300",      "threads=2", "small=1", NULL};
	struct heap_program program = {0};
	struct process_memory memory;

	heap_program_start(&program, argv, "glibc.malloc.top_pad=0");
	assert_int_equal(process_memory_init(&memory, program.pid), 0);
	damage(&memory.memory);
	process_memory_deinit(&memory);
	heap_program_end(&program);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damage),
	};

	if (argc >= 2 && !strcmp(argv[1], "heap"))
		return made_heap_main(argc - 1, argv + 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
