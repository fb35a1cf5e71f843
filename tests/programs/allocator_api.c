// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * allocator_api jemalloc|tcmalloc|mimalloc|mimalloc_destroy|mimalloc_reallocf: calls functions that
 * exist in one allocator only: jemalloc, tcmalloc or mimalloc. This allocator must be preloaded.
 * Each leaking function makes one kind of call.
 */
#include <dlfcn.h>

#include "truth.h"

#define TIMES 3

typedef void *(*one)(size_t);
typedef void *(*two)(size_t, size_t);
typedef void *(*three)(size_t, size_t, size_t);
typedef void *(*resize)(void *, size_t);
typedef void *(*resize3)(void *, size_t, size_t);
typedef void *(*of_heap)(void *, size_t);
typedef void *(*of_heap3)(void *, size_t, size_t);
typedef void *(*resize_of_heap)(void *, void *, size_t);
typedef void *(*resize_of_heap4)(void *, void *, size_t, size_t);
typedef int (*by_pointer)(void **, size_t, size_t);
typedef void (*release)(void *);
typedef void (*release2)(void *, size_t);
typedef void (*release3)(void *, size_t, size_t);
typedef void *(*make_heap)(void);
typedef size_t (*resize_in_place)(void *, size_t, size_t, int);

static void *function(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	must(found != NULL, name);
	return found;
}

/*
 * LEAK_OF(who, size, call) defines a function `who` that returns a block of `size` bytes, allocated
 * by the expression `call`. LEAVE(who) calls that function TIMES times, and prints the leaked
 * blocks.
 */
#define CALL(type, name, ...) keep(((type)function(name))(__VA_ARGS__))
#define LEAK_OF(who, size, call)                                                                   \
	OWN_FRAME static void *who(void)                                                           \
	{                                                                                          \
		return call; /* LEAK */                                                            \
	}                                                                                          \
	enum { who##_size = size };
#define LEAVE(who)                                                                                 \
	do {                                                                                       \
		for (int i = 0; i < TIMES; i++)                                                    \
			must(who() != NULL, #who);                                                 \
		leaks(#who, TIMES, TIMES *(size_t)who##_size);                                     \
	} while (0)

static void *heap;

LEAK_OF(by_mallocx, 100, CALL(two, "mallocx", 100, 0))
LEAK_OF(by_rallocx, 3000, CALL(resize3, "rallocx", CALL(two, "mallocx", 10, 0), 3000, 0))
LEAK_OF(by_mallocx_aligned, 640, CALL(two, "mallocx", 640, 7 /* 128 bytes */))

OWN_FRAME static void *made_before(size_t size)
{
	return CALL(two, "mallocx", size, 0); /* LEAK */
}

OWN_FRAME static size_t resized(void *p, size_t size, size_t extra)
{
	return ((resize_in_place)function("xallocx"))(p, size, extra, 0); /* LEAK */
}

/*
 * Resizes blocks in place by xallocx(): some grow as requested, some grow in part, one is refused,
 * one shrinks.
 */
static void jemalloc_in_place(void)
{
	must(resized(made_before(100), 110, 0) == 112, "grown");
	must(resized(made_before(100), 104, 4) == 112, "with some extra");
	must(resized(made_before(100), 104, 4096) == 112, "with all the extra there is");
	must(resized(made_before(100), 97, (size_t)-1 - 97) == 112, "with any extra");
	must(resized(made_before(110), 100, 0) == 112, "shrunk");
	must(resized(made_before(100), 5000, 0) == 112, "refused");
	leaks("resized", 5, 110 + 108 + 112 + 112 + 100);
	leaks("made_before", 1, 100);
}

static void jemalloc(void)
{
	jemalloc_in_place();
	LEAVE(by_mallocx);
	LEAVE(by_rallocx);
	LEAVE(by_mallocx_aligned);
	for (int i = 0; i < TIMES; i++) {
		((release2)function("dallocx"))(CALL(two, "mallocx", 100, 0), 0);
		((release3)function("sdallocx"))(CALL(two, "mallocx", 100, 0), 100, 0);
		((release)function("free"))(CALL(two, "mallocx", 100, 0));
	}
}

LEAK_OF(by_tc_malloc, 100, CALL(one, "tc_malloc", 100))
LEAK_OF(by_tc_calloc, 120, CALL(two, "tc_calloc", 3, 40))
LEAK_OF(by_tc_realloc, 500, CALL(resize, "tc_realloc", CALL(one, "tc_malloc", 9), 500))
LEAK_OF(by_tc_memalign, 256, CALL(two, "tc_memalign", 64, 256))
LEAK_OF(by_tc_new, 77, CALL(one, "tc_new", 77))
LEAK_OF(by_tc_skip, 66, CALL(one, "tc_malloc_skip_new_handler", 66))

static void tcmalloc(void)
{
	LEAVE(by_tc_malloc);
	LEAVE(by_tc_calloc);
	LEAVE(by_tc_realloc);
	LEAVE(by_tc_memalign);
	LEAVE(by_tc_new);
	LEAVE(by_tc_skip);
	for (int i = 0; i < TIMES; i++) {
		((release)function("tc_free"))(CALL(one, "tc_malloc", 100));
		((release)function("tc_delete"))(CALL(one, "tc_new", 100));
		((release2)function("tc_free_sized"))(CALL(one, "tc_malloc", 100), 100);
	}
}

LEAK_OF(by_mi_malloc, 100, CALL(one, "mi_malloc", 100))
LEAK_OF(by_mi_malloc_small, 60, CALL(one, "mi_malloc_small", 60))
LEAK_OF(by_mi_zalloc, 110, CALL(one, "mi_zalloc", 110))
LEAK_OF(by_mi_calloc, 120, CALL(two, "mi_calloc", 3, 40))
LEAK_OF(by_mi_mallocn, 135, CALL(two, "mi_mallocn", 3, 45))
LEAK_OF(by_mi_realloc, 5000, CALL(resize, "mi_realloc", CALL(one, "mi_malloc", 10), 5000))
LEAK_OF(by_mi_reallocn, 6000, CALL(resize3, "mi_reallocn", CALL(one, "mi_malloc", 10), 10, 600))
LEAK_OF(by_mi_recalloc, 6600, CALL(resize3, "mi_recalloc", CALL(one, "mi_zalloc", 10), 11, 600))
LEAK_OF(by_mi_malloc_aligned, 300, CALL(two, "mi_malloc_aligned", 300, 256))
LEAK_OF(by_mi_malloc_aligned_at, 310, CALL(three, "mi_malloc_aligned_at", 310, 256, 8))
LEAK_OF(by_mi_zalloc_aligned, 320, CALL(two, "mi_zalloc_aligned", 320, 256))
LEAK_OF(by_mi_calloc_aligned, 330, CALL(three, "mi_calloc_aligned", 3, 110, 256))
LEAK_OF(by_mi_memalign, 340, CALL(two, "mi_memalign", 128, 340))
LEAK_OF(by_mi_new, 70, CALL(one, "mi_new", 70))
LEAK_OF(by_mi_new_n, 280, CALL(two, "mi_new_n", 7, 40))
LEAK_OF(by_mi_heap_malloc, 101, CALL(of_heap, "mi_heap_malloc", heap, 101))
LEAK_OF(by_mi_heap_malloc_small, 61, CALL(of_heap, "mi_heap_malloc_small", heap, 61))
LEAK_OF(by_mi_heap_zalloc, 102, CALL(of_heap, "mi_heap_zalloc", heap, 102))
LEAK_OF(by_mi_heap_calloc, 160, CALL(of_heap3, "mi_heap_calloc", heap, 4, 40))
LEAK_OF(by_mi_heap_malloc_aligned, 303, CALL(of_heap3, "mi_heap_malloc_aligned", heap, 303, 256))
LEAK_OF(by_mi_heap_realloc, 7000,
	CALL(resize_of_heap, "mi_heap_realloc", heap, CALL(of_heap, "mi_heap_malloc", heap, 10),
	     7000))
LEAK_OF(by_mi_heap_reallocn, 7700,
	CALL(resize_of_heap4, "mi_heap_reallocn", heap, CALL(of_heap, "mi_heap_malloc", heap, 10),
	     11, 700))

OWN_FRAME static void *by_mi_posix_memalign(void)
{
	void *p = NULL;

	must(((by_pointer)function("mi_posix_memalign"))(&p, 128, 350) == 0, "mi_posix_memalign"); /* LEAK */
	return p;
}
enum { by_mi_posix_memalign_size = 350 };

OWN_FRAME static void *expanded(const char *by, void *p, size_t size)
{
	return ((resize)function(by))(p, size); /* LEAK */
}

OWN_FRAME static void *taken_before(void)
{
	return CALL(one, "mi_malloc", 100); /* LEAK */
}

static void mimalloc_in_place(void)
{
	must(expanded("mi_expand", taken_before(), 110) != NULL, "grown");
	must(expanded("mi__expand", taken_before(), 50) != NULL, "shrunk");
	must(!expanded("mi_expand", taken_before(), 5000), "refused");
	leaks("expanded", 2, 110 + 50);
	leaks("taken_before", 1, 100);
}

/* If mi_reallocf() or mi_heap_reallocf() fails, it frees the block; mi_realloc() does not. */
static void mimalloc_reallocf(void)
{
	const size_t too_much = SIZE_MAX / 4;

	for (int i = 0; i < TIMES; i++) {
		must(!CALL(resize, "mi_reallocf", taken_before(), too_much), "mi_reallocf");
		must(!CALL(resize_of_heap, "mi_heap_reallocf", heap, taken_before(), too_much),
		     "mi_heap_reallocf");
		must(!CALL(resize, "mi_realloc", taken_before(), too_much), "mi_realloc");
	}
	leaks("taken_before", TIMES, TIMES * 100);
}

/* Blocks of a mimalloc heap survive mi_heap_delete(), but not mi_heap_destroy(). */
OWN_FRAME static void *of_heap_that_goes(void *from)
{
	return CALL(of_heap, "mi_heap_malloc", from, 90); /* LEAK */
}

static void mimalloc_delete(void)
{
	void *other = ((make_heap)function("mi_heap_new"))();

	for (int i = 0; i < TIMES; i++)
		of_heap_that_goes(other);
	((release)function("mi_heap_delete"))(other);
	leaks("of_heap_that_goes", TIMES, TIMES * 90);
}

static void mimalloc_destroy(void)
{
	for (int i = 0; i < TIMES; i++)
		of_heap_that_goes(heap);
	((release)function("mi_heap_destroy"))(heap);
}

static void mimalloc(void)
{
	mimalloc_in_place();
	mimalloc_delete();
	LEAVE(by_mi_malloc);
	LEAVE(by_mi_malloc_small);
	LEAVE(by_mi_zalloc);
	LEAVE(by_mi_calloc);
	LEAVE(by_mi_mallocn);
	LEAVE(by_mi_realloc);
	LEAVE(by_mi_reallocn);
	LEAVE(by_mi_recalloc);
	LEAVE(by_mi_malloc_aligned);
	LEAVE(by_mi_malloc_aligned_at);
	LEAVE(by_mi_zalloc_aligned);
	LEAVE(by_mi_calloc_aligned);
	LEAVE(by_mi_memalign);
	LEAVE(by_mi_posix_memalign);
	LEAVE(by_mi_new);
	LEAVE(by_mi_new_n);
	LEAVE(by_mi_heap_malloc);
	LEAVE(by_mi_heap_malloc_small);
	LEAVE(by_mi_heap_zalloc);
	LEAVE(by_mi_heap_calloc);
	LEAVE(by_mi_heap_malloc_aligned);
	LEAVE(by_mi_heap_realloc);
	LEAVE(by_mi_heap_reallocn);
	for (int i = 0; i < TIMES; i++) {
		((release)function("mi_free"))(CALL(one, "mi_malloc", 100));
		((release2)function("mi_free_size"))(CALL(one, "mi_malloc", 100), 100);
		((release2)function("mi_free_aligned"))(CALL(two, "mi_malloc_aligned", 64, 64), 64);
		((release)function("free"))(CALL(of_heap, "mi_heap_malloc", heap, 100));
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} allocators[] = {
	{"jemalloc", jemalloc},
	{"tcmalloc", tcmalloc},
	{"mimalloc", mimalloc},
	{"mimalloc_destroy", mimalloc_destroy}, {"mimalloc_reallocf", mimalloc_reallocf},
};

int main(int argc, char **argv)
{
	must(argc == 2, "usage");
	if (!strncmp(argv[1], "mimalloc", 8))
		heap = ((make_heap)function("mi_heap_new"))();
	ready();
	for (size_t i = 0; i < ARRAY_SIZE(allocators); i++)
		if (!strcmp(argv[1], allocators[i].name))
			allocators[i].run();
	marker();
	ready();
	return 0;
}
