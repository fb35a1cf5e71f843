// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pending NAME: runs a case in which an allocator call never returns, is interrupted, or contains
 * another allocator call. Blocks of plain_alloc() calls that return must be counted correctly. The
 * program defines its own malloc(), which calls the C library's.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include "truth.h"

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *p);

static jmp_buf out;
/* function that the next malloc() calls once, before it allocates; NULL if none */
static void (*inside)(void);
static size_t header; /* bytes that this program's malloc() adds before each block */

static void *volatile never_given;

__attribute__((noinline)) void *malloc(size_t size)
{
	void (*now)(void) = inside;
	char *p;

	inside = NULL;
	if (now)
		now();
	p = keep(__libc_malloc(size + header));
	return p ? p + header : NULL;
}

__attribute__((noinline)) void free(void *p)
{
	__libc_free(p ? (char *)p - header : NULL);
	keep(p);
}

OWN_FRAME static void *plain_alloc(size_t size)
{
	return keep(malloc(size)); /* LEAK */
}

static void jump(void)
{
	longjmp(out, 1);
}

static void jump_with_block(void)
{
	never_given = keep(__libc_malloc(777));
	longjmp(out, 1);
}

OWN_FRAME static void abandon(void (*how)(void), size_t size)
{
	if (setjmp(out))
		return;
	inside = how;
	plain_alloc(size);
	must(0, "the jump out of malloc");
}

static void plain_allocs(void)
{
	for (int i = 0; i < 5; i++)
		plain_alloc(16);
	leaks("plain_alloc", 5, 80);
}

static void longjmp_out(void)
{
	for (int i = 0; i < 10; i++)
		abandon(jump, 5000);
	plain_allocs();
}

static void longjmp_with_block(void)
{
	for (int i = 0; i < 10; i++)
		abandon(jump_with_block, 5000);
	plain_allocs();
}

/*
 * Abandons a malloc() of 5000 bytes by longjmp(). memleak must not use this size for later calls,
 * which are so small that a filter leaves them out.
 */
static void longjmp_then_tiny(void)
{
	abandon(jump, 5000);
	for (int i = 0; i < 100; i++)
		plain_alloc(4);
}

OWN_FRAME static void deeper(int depth, size_t size)
{
	char room[200];

	keep(room);
	if (depth)
		deeper(depth - 1, size);
	else
		plain_alloc(size);
	keep(room);
}

/* Jumps out of malloc() at decreasing stack depths, and allocates at increasing stack depths. */
static void longjmp_depths(void)
{
	for (volatile int depth = 0; depth < 20; depth++) {
		if (!setjmp(out)) {
			inside = jump;
			deeper(19 - depth, 5000);
			must(0, "the jump out of malloc");
		}
		deeper(depth, 16);
	}
	leaks("plain_alloc", 20, 320);
}

/*
 * Allocates from a frame whose unwritten array `hole` covers the part of the stack that the
 * abandoned call used, so stale data of that call stays there.
 */
OWN_FRAME static void with_hole(void)
{
	char hole[4096];

	keep(hole);
	plain_alloc(16);
	keep(hole);
}

static void longjmp_hole(void)
{
	abandon(jump, 5000);
	with_hole();
	leaks("plain_alloc", 1, 16);
}

static void *die_in_malloc(void *arg)
{
	(void)arg;
	plain_alloc(5000);
	return NULL;
}

static void *alloc_in_thread(void *arg)
{
	(void)arg;
	plain_alloc(16);
	return NULL;
}

static void leave_thread(void)
{
	pthread_exit(NULL);
}

static void *leave(void *arg)
{
	pthread_exit(arg);
}

/*
 * Makes the C library do its one-time allocations for the first thread and the first
 * pthread_exit().
 */
static void warm_up_threads(void)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, leave, NULL) == 0, "pthread_create");
	pthread_join(thread, NULL);
}

static void thread_dies(void)
{
	pthread_t thread;

	for (int i = 0; i < 5; i++) {
		inside = leave_thread;
		must(pthread_create(&thread, NULL, die_in_malloc, NULL) == 0, "pthread_create");
		pthread_join(thread, NULL);
	}
	inside = NULL;
	for (int i = 0; i < 5; i++) {
		must(pthread_create(&thread, NULL, alloc_in_thread, NULL) == 0, "pthread_create");
		pthread_join(thread, NULL);
	}
	leaks("plain_alloc", 5, 80);
}

OWN_FRAME static void handler_alloc(void)
{
	keep(malloc(99)); /* LEAK */
}

static void handler(int number)
{
	(void)number;
	handler_alloc();
}

static void interrupt(void)
{
	raise(SIGUSR1);
}

OWN_FRAME static void outer_alloc(void)
{
	keep(malloc(1000)); /* LEAK */
}

/* A signal handler, running on an alternate stack, allocates in the middle of a malloc() call. */
static void signal_stack(void)
{
	static char stack[1 << 16];
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	stack_t place = {.ss_sp = stack, .ss_size = sizeof(stack)};

	must(sigaltstack(&place, NULL) == 0, "sigaltstack");
	must(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction");
	inside = interrupt;
	outer_alloc();
	plain_allocs();
}

/*
 * Sets `header`: this program's malloc() requests more bytes from the C library than its own caller
 * requested. memleak must count the caller's bytes.
 */
static void headers(void)
{
	void *blocks[10];

	header = 32;
	for (int i = 0; i < 10; i++)
		blocks[i] = plain_alloc(100);
	for (int i = 0; i < 10; i += 2)
		free(blocks[i]);
	leaks("plain_alloc", 5, 500);
}

/*
 * Makes calls that a filter on sizes must leave out, although calls nested in them request more
 * bytes: only the size of the outermost call counts.
 */
static void filtered_outside(void)
{
	header = 4096;
	for (int i = 0; i < 10; i++)
		plain_alloc(8);
}

static const struct {
	const char *name;
	void (*run)(void);
} things[] = {
	{"longjmp", longjmp_out},
	{"longjmp_with_block", longjmp_with_block},
	{"longjmp_then_tiny", longjmp_then_tiny},
	{"longjmp_depths", longjmp_depths},
	{"longjmp_hole", longjmp_hole},
	{"thread_dies", thread_dies},
	{"signal_stack", signal_stack},
	{"headers", headers},
	{"filtered_outside", filtered_outside},
};

int main(int argc, char **argv)
{
	must(argc == 2, "usage");
	warm_up_threads();
	ready();
	for (size_t i = 0; i < ARRAY_SIZE(things); i++)
		if (!strcmp(argv[1], things[i].name)) {
			things[i].run();
			marker();
			ready();
			return 0;
		}
	must(0, argv[1]);
}
