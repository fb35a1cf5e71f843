// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unreported NAME: makes calls that memleak's filter leaves out, because they request less than
 * 1000 bytes. They are so frequent that memleak may stop watching their returns. Also makes calls
 * that must be counted: they contain such small calls, are nested in them, or follow them. The
 * program defines its own malloc() and valloc(), which call the library's aligned_alloc().
 */
#include <malloc.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include "truth.h"

#define LEFT_OUT 8
#define BOOKED 5000
#define HEADER 4096 /* bytes that valloc adds to each request; malloc adds `header` bytes */
#define TURNS 10
#define MANY 5000
#define MAPPED (1 << 20)
#define CALLS 10000

/* Operator new of a preloaded allocator; NULL if there is none */
extern void *new_plain(size_t) __asm__("_Znwm") __attribute__((weak));

static size_t header;
static void (*inside)(void); /* function that the next malloc() calls once; NULL if none */
static jmp_buf out;

__attribute__((noinline)) void *malloc(size_t size)
{
	void (*now)(void) = inside;

	inside = NULL;
	if (now)
		now();
	return keep(aligned_alloc(16, size + header));
}

/* Ends with a tail call, so no frame of valloc is on the stack. */
__attribute__((noinline)) void *valloc(size_t size)
{
	return aligned_alloc(16, size + HEADER);
}

OWN_FRAME static void leave_out(void)
{
	char room[200];

	keep(room);
	keep(malloc(LEFT_OUT));
	keep(room);
}

OWN_FRAME static void plain_alloc(void)
{
	keep(malloc(BOOKED)); /* LEAK */
}

OWN_FRAME static void *deeper_alloc(size_t size)
{
	return keep(malloc(size)); /* LEAK */
}

static void leave_out_many(void)
{
	for (int i = 0; i < CALLS; i++)
		leave_out();
}

/*
 * The program's malloc() requests 8 bytes plus HEADER from aligned_alloc(). A direct call of that
 * size would be counted, but this nested call must not be.
 */
static void nested(void)
{
	header = HEADER;
	leave_out_many();
}

/* This case runs without a filter, so only sampling leaves calls out. */
static void headers(void)
{
	header = HEADER;
	for (int i = 0; i < 10 * CALLS; i++)
		deeper_alloc(100);
	leaks("deeper_alloc", 10 * CALLS, 1000 * CALLS);
}

/*
 * Allocates at one call site, alternately a size that the filter leaves out and a size that must be
 * counted.
 */
static void in_turn(void)
{
	leave_out_many();
	for (int i = 0; i < TURNS; i++)
		for (size_t size = LEFT_OUT; size; size = size == LEFT_OUT ? BOOKED : 0)
			keep(malloc(size)); /* LEAK */
	leaks("in_turn", TURNS, TURNS * BOOKED);
}

/*
 * Allocates from a frame whose unwritten array `hole` covers the part of the stack that the
 * previous call used, so stale data of that call stays there.
 */
OWN_FRAME static void with_hole(void)
{
	char hole[8192];

	keep(hole);
	plain_alloc();
	keep(hole);
}

static void holes(void)
{
	leave_out_many();
	for (int i = 0; i < TURNS; i++) {
		leave_out();
		with_hole();
	}
	leaks("plain_alloc", TURNS, TURNS * BOOKED);
}

OWN_FRAME static void *new_block(void)
{
	return keep(new_plain(BOOKED)); /* LEAK */
}

OWN_FRAME static void new_in_hole(void)
{
	char hole[8192];

	keep(hole);
	new_block();
	keep(hole);
}

/*
 * Alternates calls that memleak's filter leaves out with calls of operator new, which may throw an
 * exception instead of returning.
 */
static void news(void)
{
	must(new_plain != NULL, "operator new");
	leave_out_many();
	for (int i = 0; i < TURNS; i++) {
		leave_out();
		new_in_hole();
	}
	leaks("new_block", TURNS, TURNS * BOOKED);
}

/* Calls different functions from one call site. */
OWN_FRAME static void *call(void *(*function)(size_t), size_t size)
{
	return keep(function(size));
}

static void one_place(void)
{
	for (int i = 0; i < CALLS / 10; i++)
		call(pvalloc, LEFT_OUT);
	for (int i = 0; i < TURNS; i++) {
		call(pvalloc, LEFT_OUT);
		call(deeper_alloc, BOOKED);
	}
	leaks("deeper_alloc", TURNS, TURNS * BOOKED);
}

static void jumps(void)
{
	for (int i = 0; i < CALLS; i++)
		keep(valloc(LEFT_OUT));
}

/* Makes a tail call to realloc() or malloc(), so both return to the same address in resized(). */
OWN_FRAME static void *resize(void *p, size_t size)
{
	return p ? realloc(p, size) : malloc(size);
}

OWN_FRAME static void *resized(void *p, size_t size)
{
	return keep(resize(p, size)); /* LEAK */
}

static void resizes(void)
{
	leave_out_many();
	for (int i = 0; i < TURNS; i++) {
		void *p = NULL;

		for (size_t size = LEFT_OUT; size; size = size == LEFT_OUT ? BOOKED : 0)
			p = resized(p, size);
	}
	leaks("resized", TURNS, TURNS * BOOKED);
}

static void jump(void)
{
	longjmp(out, 1);
}

static void abandons(void)
{
	leave_out_many();
	for (volatile int i = 0; i < TURNS; i++) {
		if (!setjmp(out)) {
			inside = jump;
			leave_out();
		}
		plain_alloc();
		with_hole();
	}
	leaks("plain_alloc", 2 * TURNS, 2 * TURNS * BOOKED);
}

/*
 * Abandons a single malloc() by longjmp(). This case runs without a filter, so no call is left out.
 */
static void abandons_once(void)
{
	if (!setjmp(out)) {
		inside = jump;
		leave_out();
	}
	for (int i = 0; i < MANY; i++)
		with_hole();
	leaks("plain_alloc", MANY, MANY * BOOKED);
}

static void handler(int number)
{
	(void)number;
	deeper_alloc(BOOKED);
}

static void interrupt(void)
{
	raise(SIGUSR1);
}

/*
 * A signal handler allocates in the middle of a call, so the handler's call is nested and must not
 * be counted. The handler runs on the same or on an alternate stack.
 */
static void signals(int flags)
{
	static char stack[1 << 16];
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
	stack_t place = {.ss_sp = stack, .ss_size = sizeof(stack)};

	must(sigaltstack(&place, NULL) == 0, "sigaltstack");
	must(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction");
	leave_out_many();
	for (int i = 0; i < TURNS; i++) {
		inside = interrupt;
		leave_out();
		plain_alloc();
	}
	leaks("plain_alloc", TURNS, TURNS * BOOKED);
}

static void signal_here(void)
{
	signals(0);
}

static void signal_stack(void)
{
	signals(SA_ONSTACK);
}

OWN_FRAME static void *map(void)
{
	return keep(mmap(NULL, MAPPED, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)); /* LEAK */
}

static void mapping_handler(int number)
{
	(void)number;
	must(map() != MAP_FAILED, "mmap");
}

/*
 * A signal handler maps memory in the middle of a malloc() call. The mapping must count as made by
 * the program, not by malloc().
 */
static void signal_maps(void)
{
	struct sigaction action = {.sa_handler = mapping_handler};

	must(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction");
	for (int i = 0; i < TURNS; i++) {
		inside = interrupt;
		plain_alloc();
	}
	leaks("plain_alloc", TURNS, TURNS * BOOKED);
	maps("map", TURNS, TURNS * MAPPED, "mmap");
}

static const struct {
	const char *name;
	void (*run)(void);
} things[] = {
	{"many", leave_out_many}, {"nested", nested}, {"headers", headers},     {"in_turn", in_turn},
	{"news", news},           {"holes", holes},         {"one_place", one_place}, {"jumps", jumps},
	{"resizes", resizes},     {"abandons", abandons}, {"signal_here", signal_here},
	{"signal_stack", signal_stack}, {"abandons_once", abandons_once},
	{"signal_maps", signal_maps},
};

int main(int argc, char **argv)
{
	must(argc == 2, "usage");
	ready();
	for (size_t i = 0; i < ARRAY_SIZE(things); i++)
		if (!strcmp(argv[1], things[i].name)) {
			things[i].run();
			ready();
			return 0;
		}
	must(0, argv[1]);
}
