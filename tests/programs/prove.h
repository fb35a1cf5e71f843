/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Common part of the prove_*.c programs, which test memleak's proofs of leaks. A program consists
 * of scenes. A scene plants blocks (allocates them and stores or drops their addresses), and prints
 * what a proof must find:
 *
 *  kind FUNCTION KIND COUNT BYTES             blocks allocated in FUNCTION
 *  differs TOOL FUNCTION KIND OTHER REASON    TOOL reports these blocks as OTHER instead of KIND
 *  sizes TOOL FUNCTION KIND BYTES REASON      TOOL reports BYTES for these blocks
 *
 * KIND is definite, indirect, possible or reachable. OTHER may also be unseen, if the tool does not
 * know the blocks, or unknown, if its answer is random. TOOL is memleak, valgrind, lsan, or end:
 * memleak at the end of the program.
 *
 * Arguments are the name of a scene, and "busy" if a thread must run all the time. The program
 * prints "ready" before planting, so that memleak can be attached, and again afterwards. If the
 * program runs under valgrind or LeakSanitizer, this tool checks it after memleak. Until then
 * nothing is freed and the same frames stay in use: all tools see the same state.
 *
 * No stray pointers may remain: the stack below the frames in use and caller-saved registers are
 * wiped, and only scenes about freed memory free anything. Sizes are multiples of 16, except in
 * scenes about sizes. If a size is 8 more than a multiple of 16, glibc's pointer to the chunk after
 * a block can point into the block's last word.
 */
#ifndef PROVE_H
#define PROVE_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "truth.h"

#if defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#endif
#endif

struct scene {
	const char *name;
	void (*plant)(void);
};

/* Defines a scene, and registers it in a linker section for main(). */
#define SCENE(name)                                                                                \
	static void scene_##name(void);                                                            \
	static const struct scene named_##name = {#name, scene_##name};                            \
	static const struct scene *const listed_##name __attribute__((used, section("scenes"))) =  \
		&named_##name;                                                                     \
	OWN_FRAME static void scene_##name(void)

/*
 * Defines a function that allocates blocks. The name of the function distinguishes its blocks from
 * all other blocks.
 */
#define MAKER(name)                                                                                \
	OWN_FRAME static void *name(size_t size)                                                   \
	{                                                                                          \
		return keep(malloc(size));                                                         \
	}                                                                                          \
	OWN_FRAME static void *name(size_t size)

#define planted(function, kind, count, bytes)                                                      \
	((void)sizeof(&(function)), say_kind(#function, #kind, count, bytes))
#define differs(tool, function, kind, other, reason)                                               \
	((void)sizeof(&(function)),                                                                \
	 say("differs %s %s %s %s %s\n", #tool, #function, #kind, #other, reason))

#define differs_in_size(tool, function, kind, bytes, reason)                                       \
	((void)sizeof(&(function)),                                                                \
	 say("sizes %s %s %s %zu %s\n", #tool, #function, #kind, (size_t)(bytes), reason))

__attribute__((unused)) static void say_kind(const char *function, const char *kind, size_t count,
					     size_t bytes)
{
	say("kind %s %s %zu %zu\n", function, kind, count, bytes);
}

/* Blocks whose addresses a scene stores here are reachable. */
static void *volatile held[64];

/* Function of LeakSanitizer; NULL unless its library is preloaded. */
#ifdef __cplusplus
extern "C"
#endif
	int
	__lsan_do_recoverable_leak_check(void) __attribute__((weak));

#define WIPED_BYTES (64 << 10)

/* Clears the caller-saved registers (on x86-64 only). */
static inline void wipe_registers(void)
{
#ifdef __x86_64__
	__asm__ volatile("xor %%eax, %%eax\n\txor %%ecx, %%ecx\n\txor %%edx, %%edx\n\t"
			 "xor %%esi, %%esi\n\txor %%edi, %%edi\n\txor %%r8d, %%r8d\n\t"
			 "xor %%r9d, %%r9d\n\txor %%r10d, %%r10d\n\txor %%r11d, %%r11d\n\t"
			 "pxor %%xmm0, %%xmm0\n\tpxor %%xmm1, %%xmm1\n\t"
			 "pxor %%xmm2, %%xmm2\n\tpxor %%xmm3, %%xmm3\n\t"
			 "pxor %%xmm4, %%xmm4\n\tpxor %%xmm5, %%xmm5\n\t"
			 "pxor %%xmm6, %%xmm6\n\tpxor %%xmm7, %%xmm7\n\t"
			 "pxor %%xmm8, %%xmm8\n\tpxor %%xmm9, %%xmm9\n\t"
			 "pxor %%xmm10, %%xmm10\n\tpxor %%xmm11, %%xmm11\n\t"
			 "pxor %%xmm12, %%xmm12\n\tpxor %%xmm13, %%xmm13\n\t"
			 "pxor %%xmm14, %%xmm14\n\tpxor %%xmm15, %%xmm15\n\t"
			 :
			 :
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0",
			   "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
			   "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#endif
}

/* Clears 64 KiB of the stack below the caller's frame, and the caller-saved registers. */
OWN_FRAME __attribute__((unused)) static void wipe(void)
{
	volatile char below[WIPED_BYTES];

	for (size_t i = 0; i < sizeof(below); i++)
		below[i] = 0;
	wipe_registers();
}

/* Like wipe(), but clears only 8 KiB of the stack. */
OWN_FRAME __attribute__((unused)) static void wipe_little(void)
{
	volatile char below[WIPED_BYTES / 8];

	for (size_t i = 0; i < sizeof(below); i++)
		below[i] = 0;
	wipe_registers();
}

/*
 * For functions that call wipe() and then a function that waits. They are inlined, so that wipe()
 * clears the stack from the depth at which the waiting function gets its frame. Parts of that frame
 * are never written, and would otherwise contain stale pointers.
 */
#define WIPED static inline __attribute__((always_inline, unused))

OWN_FRAME __attribute__((unused)) static void stage_now(void)
{
	say("stage\n");
	ready();
}

/*
 * Ends a phase that only memleak checks; valgrind and LeakSanitizer check only the end of the
 * scene. In the next phase the scene prints the kinds of all its blocks again.
 */
WIPED void stage(void)
{
	wipe();
	stage_now();
}

OWN_FRAME __attribute__((noreturn)) static void judge_now(void)
{
	ready();
	if (__lsan_do_recoverable_leak_check)
		__lsan_do_recoverable_leak_check();
#ifdef VALGRIND_DO_LEAK_CHECK
	VALGRIND_DO_LEAK_CHECK;
#endif
	_exit(0);
}

/*
 * Call when all blocks of the scene are allocated. Waits until memleak has checked the program,
 * lets valgrind or LeakSanitizer check it, and exits. main() calls this function after each scene.
 * A scene that calls it has its own frame still in use during the check.
 */
WIPED void judge(void)
{
	wipe();
	judge_now();
}

/* Never sleeps, so that memleak never finds all threads asleep. */
static void *run_all_the_time(void *arg)
{
	wipe_registers();
	for (;;)
		sched_yield();
	return arg;
}

/*
 * Starts run_all_the_time() in a thread that blocks all signals, so that other threads handle them.
 */
static void start_to_run(void)
{
	pthread_t thread;
	sigset_t all, before;

	sigfillset(&all);
	must(!pthread_sigmask(SIG_SETMASK, &all, &before) &&
		     !pthread_create(&thread, NULL, run_all_the_time, NULL) &&
		     !pthread_sigmask(SIG_SETMASK, &before, NULL),
	     "pthread_create");
}

extern const struct scene *const __start_scenes[], *const __stop_scenes[];

int main(int argc, char **argv)
{
	must(argc == 2 || (argc == 3 && !strcmp(argv[2], "busy")), "one scene is to be named");
	if (argc == 3)
		start_to_run();
	for (const struct scene *const *at = __start_scenes; at < __stop_scenes; at++) {
		if (strcmp((*at)->name, argv[1]))
			continue;
		wipe();
		ready();
		(*at)->plant();
		judge();
	}
	must(0, "no such scene");
	return 1;
}

#endif
