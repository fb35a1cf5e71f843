// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Scenes about blocks of every allocator function and of all sizes, and about stale data in freed
 * memory.
 */
#include <errno.h>
#include <malloc.h>
#include <sys/mman.h>

#include "prove.h"

#define NODE 32
#define HUGE_BYTES (3UL << 20)

#define MAYBE_WRITTEN "it is not known whether the word of the block was written since"

static void put(void *memory, size_t word, void *block)
{
	((void *volatile *)memory)[word] = block;
}

MAKER(empty_lost); /* LEAK */
MAKER(empty_kept); /* LEAK */

/* Two blocks of size 0: the one with a pointer to it must be reachable, the other one lost. */
SCENE(blocks_of_no_bytes)
{
	empty_lost(0);
	held[0] = empty_kept(0);
	planted(empty_lost, definite, 1, 0);
	planted(empty_kept, reachable, 1, 0);
	differs_in_size(lsan, empty_lost, definite, 1, "none of its blocks is empty");
}

OWN_FRAME static void *from_calloc(size_t size)
{
	return keep(calloc(1, size)); /* LEAK */
}

OWN_FRAME static void *from_memalign(size_t size)
{
	return keep(memalign(4096, size)); /* LEAK */
}

OWN_FRAME static void *from_posix_memalign(size_t size)
{
	void *block = NULL;

	must(!posix_memalign(&block, 256, size), "posix_memalign"); /* LEAK */
	return keep(block);
}

OWN_FRAME static void *from_aligned_alloc(size_t size)
{
	return keep(aligned_alloc(64, size)); /* LEAK */
}

OWN_FRAME static void *from_valloc(size_t size)
{
	return keep(valloc(size)); /* LEAK */
}

OWN_FRAME static void *from_strdup(const char *text)
{
	return keep(strdup(text)); /* LEAK */
}

OWN_FRAME static void *from_reallocarray(size_t cnt)
{
	return keep(reallocarray(NULL, cnt, 16)); /* LEAK */
}

/*
 * Allocates twice by each function. The address of the second block overwrites that of the first,
 * so the first block is lost and the second is reachable.
 */
SCENE(allocator_functions)
{
	for (size_t i = 0; i < 2; i++) {
		held[0] = from_calloc(64);
		held[1] = from_memalign(64);
		held[2] = from_posix_memalign(64);
		held[3] = from_aligned_alloc(64);
		held[4] = from_valloc(64);
		held[5] = from_strdup("a string of 31 characters, and 0");
		held[6] = from_reallocarray(4);
	}
#define LOST_AND_KEPT(function, bytes)                                                             \
	(planted(function, definite, 1, bytes), planted(function, reachable, 1, bytes))
	LOST_AND_KEPT(from_calloc, 64);
	LOST_AND_KEPT(from_memalign, 64);
	LOST_AND_KEPT(from_posix_memalign, 64);
	LOST_AND_KEPT(from_aligned_alloc, 64);
	LOST_AND_KEPT(from_valloc, 64);
	LOST_AND_KEPT(from_strdup, sizeof("a string of 31 characters, and 0"));
	LOST_AND_KEPT(from_reallocarray, 64);
}

OWN_FRAME static void *resized(void *block, size_t size)
{
	return keep(realloc(block, size)); /* LEAK */
}

MAKER(behind_resized); /* LEAK */

/* Pointers in a block must still count after realloc() has grown, moved or shrunk the block. */
SCENE(reallocated)
{
	void *lost = resized(NULL, NODE), *kept = resized(NULL, NODE);

	put(lost, 0, behind_resized(NODE));
	put(kept, 0, behind_resized(NODE));
	lost = resized(lost, 320);
	kept = resized(kept, HUGE_BYTES);
	held[0] = resized(kept, 2 * HUGE_BYTES);
	resized(lost, 64);
	planted(resized, definite, 1, 64);
	planted(resized, reachable, 1, 2 * HUGE_BYTES);
	planted(behind_resized, indirect, 1, NODE);
	planted(behind_resized, reachable, 1, NODE);
}

OWN_FRAME static void *refused(void *block, size_t size)
{
	return keep(realloc(block, size));
}

MAKER(not_resized_kept); /* LEAK */
MAKER(not_resized_lost); /* LEAK */

/*
 * If realloc() fails, the block stays allocated. A block whose address the program then forgets
 * must be reported as lost.
 */
SCENE(realloc_that_fails)
{
	volatile size_t most = PTRDIFF_MAX;
	void *kept = not_resized_kept(NODE);

	held[0] = kept;
	must(!refused(kept, most), "a realloc that fails");
	must(!refused(not_resized_lost(48), most), "a realloc that fails");
	must(!reallocarray(not_resized_lost(48), most, 4) && errno == ENOMEM,
	     "a reallocarray that fails");
	planted(not_resized_kept, reachable, 1, NODE);
	planted(not_resized_lost, definite, 2, 2 * 48);
}

MAKER(huge_lost);    /* LEAK */
MAKER(huge_kept);    /* LEAK */
MAKER(huge_inside);  /* LEAK */
MAKER(behind_huge);  /* LEAK */
MAKER(hung_on_huge); /* LEAK */

/* Large blocks, which malloc() maps separately. Most of their pages are never touched. */
SCENE(huge_blocks)
{
	void *lost = huge_lost(HUGE_BYTES), *kept = huge_kept(HUGE_BYTES);

	held[0] = kept;
	put(kept, HUGE_BYTES / 8 - 1, behind_huge(NODE));
	put(lost, HUGE_BYTES / 16, hung_on_huge(NODE));
	held[1] = (char *)huge_inside(64UL << 20) + (50UL << 20);
	planted(huge_lost, definite, 1, HUGE_BYTES);
	planted(huge_kept, reachable, 1, HUGE_BYTES);
	planted(huge_inside, possible, 1, 64UL << 20);
	planted(behind_huge, reachable, 1, NODE);
	planted(hung_on_huge, indirect, 1, NODE);
}

MAKER(of_any_size); /* LEAK */
MAKER(last_of_all); /* LEAK */

/*
 * Allocates blocks of all sizes from 1 to 400. Only the block of size 1, and one more block after
 * all others, are reachable.
 */
SCENE(every_size)
{
	size_t bytes = 0;

	held[0] = of_any_size(1);
	for (size_t size = 2; size <= 400; bytes += size++)
		of_any_size(size);
	held[1] = last_of_all(NODE);
	planted(of_any_size, reachable, 1, 1);
	planted(of_any_size, definite, 399, bytes);
	planted(last_of_all, reachable, 1, NODE);
}

MAKER(at_top); /* LEAK */

/*
 * The last block of the heap has 24 bytes, so the allocator's pointer to the memory after the block
 * points into the block's last word. Tests that this pointer does not count.
 */
SCENE(last_block_of_the_heap)
{
	at_top(24);
	planted(at_top, definite, 1, 24);
}

MAKER(before_hole); /* LEAK */
MAKER(hole);
MAKER(behind_hole); /* LEAK */

/*
 * A free list of the allocator points to a free chunk, and thus into the last word of the block
 * before the chunk. Tests that this pointer does not count.
 */
SCENE(block_before_a_free_one)
{
	void *hole_block;

	before_hole(24);
	hole_block = hole(4096);
	held[0] = behind_hole(NODE);
	free(hole_block);
	hole_block = NULL;
	planted(before_hole, definite, 1, 24);
	planted(behind_hole, reachable, 1, NODE);
}

MAKER(freed_holder);
MAKER(spacer);            /* LEAK */
MAKER(behind_large_free); /* LEAK */
MAKER(behind_small_free); /* LEAK */
MAKER(behind_huge_free);  /* LEAK */

/*
 * Allocates a holder (a block that points to the given block) and then a spacer, so that holders
 * are not adjacent when they are freed.
 */
static void *holder_of(size_t size, void *block)
{
	void *holder = freed_holder(size), *behind = spacer(NODE);

	put(holder, size / 16, block);
	put(behind, 0, held[0]);
	held[0] = behind;
	return holder;
}

/*
 * The only pointer to a block is in a freed block, which is in the thread cache, in a free list, or
 * in memory returned to the kernel. Such a pointer must not count.
 */
SCENE(pointers_in_freed_blocks)
{
	void *holders[5] = {
		holder_of(64, behind_small_free(NODE)),
		holder_of(64, behind_small_free(NODE)),
		holder_of(64, behind_small_free(NODE)),
		holder_of(16000, behind_large_free(NODE)),
		holder_of(HUGE_BYTES, behind_huge_free(NODE)),
	};

	for (size_t i = 0; i < ARRAY_SIZE(holders); i++) {
		free(holders[i]);
		((void *volatile *)holders)[i] = NULL;
	}
	planted(behind_small_free, definite, 3, 3 * NODE);
	planted(behind_large_free, definite, 1, NODE);
	planted(behind_huge_free, definite, 1, NODE);
	planted(spacer, reachable, 5, 5 * NODE);
}

MAKER(behind_fast); /* LEAK */
MAKER(fast_holder);

/*
 * Like pointers_in_freed_blocks, but frees more blocks of one size than fit into the thread cache.
 */
SCENE(pointers_in_many_freed_blocks)
{
	void *holders[30];

	for (size_t i = 0; i < ARRAY_SIZE(holders); i++) {
		holders[i] = fast_holder(64);
		put(holders[i], 4, behind_fast(NODE));
	}
	for (size_t i = 0; i < ARRAY_SIZE(holders); i++) {
		free(holders[i]);
		((void *volatile *)holders)[i] = NULL;
	}
	planted(behind_fast, definite, ARRAY_SIZE(holders), ARRAY_SIZE(holders) * NODE);
}

MAKER(made_and_freed);
MAKER(made_again);   /* LEAK */
MAKER(behind_stale); /* LEAK */

/*
 * Stale pointers: a freed block is allocated again, but not written to, so it still contains its
 * old pointers.
 */
SCENE(stale_words_in_a_new_block)
{
	void *first = made_and_freed(256);

	put(first, 20, behind_stale(NODE));
	free(first);
	held[0] = made_again(256);
	planted(made_again, reachable, 1, 256);
	planted(behind_stale, definite, 1, NODE);
	differs(memleak, behind_stale, definite, reachable, MAYBE_WRITTEN);
}

MAKER(dangling);

/* A pointer to a freed block must be ignored. */
SCENE(dangling_pointer)
{
	void *block = dangling(256);

	held[0] = block;
	held[1] = spacer(NODE);
	free(block);
	planted(spacer, reachable, 1, NODE);
}
