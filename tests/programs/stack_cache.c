// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stack_cache NAME [LIBRARY LIBRARY]: reaches the malloc() in leaf() by several call paths, each
 * many times. The stacks of these paths differ in a few 64-bit words only, to test memleak's cache
 * of stacks. NAME selects the paths. For each path prints a line "path=FUNCTION<... COUNT" with the
 * program's functions from leaf() outwards, without main().
 */
#include "truth.h"

#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>

#define ROUNDS 3000
#define SIZES 8
#define DEPTH 6
#define FAR "<recurse<recurse<recurse<recurse<recurse<recurse<recurse"

static jmp_buf away;

/* Called last in a function, so that the call before it cannot become a tail call. */
static inline void back(void)
{
	__asm__ volatile("" : : : "memory");
}

OWN_FRAME void leaf(void)
{
	keep(malloc(16)); /* LEAK */
	back();
}

/* even() and odd() have frames of equal size at equal addresses, and nearby return addresses. */
OWN_FRAME static void even(void)
{
	leaf();
	back();
}

OWN_FRAME static void odd(void)
{
	leaf();
	back();
}

OWN_FRAME static void callers(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (i % 3)
			odd();
		else
			even();
	}
	say("path=leaf<even<callers %d\npath=leaf<odd<callers %d\n", ROUNDS / 3, ROUNDS / 3 * 2);
	leaks("leaf", ROUNDS, ROUNDS * 16);
}

/*
 * Has two calls of odd(). The stacks of both differ in one return address only, far from the
 * allocator.
 */
OWN_FRAME static void places(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (i % 3)
			odd();
		else
			odd();
		back();
	}
	say("path=leaf<odd<places %d\n", ROUNDS);
	leaks("leaf", ROUNDS, ROUNDS * 16);
}

OWN_FRAME static void sized(size_t size)
{
	char *room = alloca(size);

	memset(room, 1, size);
	if (size & 64)
		odd();
	else
		even();
	__asm__ volatile("" : : "r"(room) : "memory");
}

OWN_FRAME static void sizes(void)
{
	for (int i = 0; i < ROUNDS; i++)
		sized(64 + (size_t)(i % SIZES) * 64);
	say("path=leaf<even<sized<sizes %d\npath=leaf<odd<sized<sizes %d\n", ROUNDS / 2,
	    ROUNDS / 2);
	leaks("leaf", ROUNDS, ROUNDS * 16);
}

OWN_FRAME static void recurse(int depth)
{
	if (depth)
		recurse(depth - 1);
	else
		leaf();
	back();
}

OWN_FRAME static void recursion(void)
{
	char path[128] = "leaf";

	for (int i = 0; i < ROUNDS; i++)
		recurse(i % DEPTH);
	for (int i = 0; i < DEPTH; i++) {
		strcat(path, "<recurse");
		say("path=%s<recursion %d\n", path, ROUNDS / DEPTH);
	}
	leaks("leaf", ROUNDS, ROUNDS * 16);
}

/*
 * The paths through far_even() and far_odd() have equal stack pointers, and equal return addresses
 * near the allocator. They differ only in these two functions, far from the allocator.
 */
OWN_FRAME static void far_even(void)
{
	recurse(DEPTH);
	back();
}

OWN_FRAME static void far_odd(void)
{
	recurse(DEPTH);
	back();
}

OWN_FRAME static void far(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (i % 3)
			far_odd();
		else
			far_even();
	}
	say("path=leaf" FAR "<far_even<far %d\npath=leaf" FAR "<far_odd<far %d\n", ROUNDS / 3,
	    ROUNDS / 3 * 2);
	leaks("leaf", ROUNDS, ROUNDS * 16);
}

OWN_FRAME static void inner(size_t size)
{
	char *room = alloca(size);

	memset(room, 1, size);
	recurse(DEPTH);
	__asm__ volatile("" : : "r"(room) : "memory");
}

OWN_FRAME static void outer(size_t size, size_t rest)
{
	char *room = alloca(size);

	memset(room, 1, size);
	inner(rest);
	__asm__ volatile("" : : "r"(room) : "memory");
}

OWN_FRAME static void other(size_t size, size_t rest)
{
	char *room = alloca(size);

	memset(room, 1, size);
	inner(rest);
	__asm__ volatile("" : : "r"(room) : "memory");
}

/*
 * inner() and its caller, outer() or other(), have frames of varying size. The sum of both sizes is
 * constant, so the frames of recurse() are always at the same addresses.
 */
OWN_FRAME static void balanced(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		size_t size = 64 + (size_t)(i % 2) * 64;

		if (i % 3)
			outer(size, 1024 - size);
		else
			other(size, 1024 - size);
	}
	say("path=leaf" FAR "<inner<other<balanced %d\npath=leaf" FAR "<inner<outer<balanced %d\n",
	    ROUNDS / 3, ROUNDS / 3 * 2);
	leaks("leaf", ROUNDS, ROUNDS * 16);
}

/*
 * Calls leaf() and leaves by longjmp(), so that stale frames stay where the next call has its
 * frames.
 */
OWN_FRAME static void jump(int i)
{
	if (i % 2)
		odd();
	else
		even();
	longjmp(away, 1);
}

OWN_FRAME static void jumps(void)
{
	for (volatile int i = 0; i < ROUNDS; i++) {
		if (!setjmp(away))
			jump(i);
		else
			recurse(i % 2);
	}
	say("path=leaf<even<jump<jumps %d\npath=leaf<odd<jump<jumps %d\n", ROUNDS / 2, ROUNDS / 2);
	say("path=leaf<recurse<jumps %d\npath=leaf<recurse<recurse<jumps %d\n", ROUNDS / 2,
	    ROUNDS / 2);
	leaks("leaf", 2 * ROUNDS, 2 * ROUNDS * 16);
}

OWN_FRAME static void *first_thread(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		odd();
	return arg;
}

OWN_FRAME static void *second_thread(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		odd();
	return arg;
}

OWN_FRAME static void threads(void)
{
	pthread_t first, second;

	must(!pthread_create(&first, NULL, first_thread, NULL), "pthread_create");
	must(!pthread_create(&second, NULL, second_thread, NULL), "pthread_create");
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	say("path=leaf<odd<first_thread %d\npath=leaf<odd<second_thread %d\n", ROUNDS, ROUNDS);
	leaks("leaf", 2 * ROUNDS, 2 * ROUNDS * 16);
}

OWN_FRAME static void through_first(void (*function)(void (*)(void)))
{
	for (int i = 0; i < ROUNDS; i++)
		function(leaf);
	back();
}

OWN_FRAME static void through_second(void (*function)(void (*)(void)))
{
	for (int i = 0; i < ROUNDS; i++)
		function(leaf);
	back();
}

static void *load(const char *path, void **library)
{
	void *function;

	*library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	must(*library != NULL, path);
	function = dlsym(*library, "call_back");
	must(function != NULL, "call_back");
	ready(); /* the runner sends a byte when memleak has the library's unwind tables */
	return function;
}

/* Unloads one library and loads another at the same address. */
OWN_FRAME static void libraries(const char *const *paths)
{
	void *library, *function, *before;

	before = load(paths[0], &library);
	through_first((void (*)(void (*)(void)))before);
	must(dlclose(library) == 0, "dlclose");
	function = load(paths[1], &library);
	through_second((void (*)(void (*)(void)))function);
	say("same_place %d\n", (uintptr_t)before >> 12 == (uintptr_t)function >> 12);
	say("path=leaf<through_first<libraries %d\npath=leaf<through_second<libraries %d\n", ROUNDS,
	    ROUNDS);
	leaks("leaf", 2 * ROUNDS, 2 * ROUNDS * 16);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} ways[] = {
		{"callers", callers}, {"places", places}, {"sizes", sizes},
		{"recursion", recursion}, {"far", far}, {"balanced", balanced}, {"jumps", jumps}, {"threads", threads},
	};

	must(argc > 1, "usage");
	ready();
	if (!strcmp(argv[1], "exec")) {
		callers();
		ready();
		execl("/proc/self/exe", "stack_cache", "places", NULL);
		must(0, "exec");
	}
	if (!strcmp(argv[1], "libraries"))
		libraries((const char *const *)argv + 2);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (!strcmp(argv[1], ways[i].name))
			ways[i].function();
	ready();
	return 0;
}
