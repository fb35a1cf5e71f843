/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scenes for proofs. A scene plants blocks of which it is known whether anything points to them,
 * and says so:
 *
 *	kind FUNCTION KIND COUNT BYTES             blocks whose call stands in FUNCTION
 *	differs TOOL FUNCTION KIND OTHER REASON    TOOL says OTHER of those of KIND
 *	sizes TOOL FUNCTION KIND BYTES REASON      so many bytes they are for TOOL
 *
 * KIND is definite, indirect, possible or reachable; OTHER, too, or unseen: the tool does not know
 * of them, or unknown: it is left to chance. TOOL is memleak, valgrind, lsan, or end: memleak, when
 * the program ends.
 *
 * The program is told the name of a scene, and "busy" if a thread of it is to run all the time. It says "ready" once before it plants anything, so that
 * memleak can be attached, and once when all is planted. Then valgrind and LeakSanitizer, where
 * they run the program, judge the state that memleak has seen, from the same frames; nothing is
 * freed.
 *
 * So that truth is truth no pointer may stay behind where nobody meant it to: stack below the
 * frames in use and registers that calls do not keep are wiped, and nothing is freed unless a scene
 * is about that. Blocks have sizes of 16 n, unless a scene is about that, too: glibc keeps
 * addresses of what comes behind a block, which for 16 n + 8 is within the block's own last word.
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

/* Each source file has its scenes in a section, so that none is forgotten. */
#define SCENE(name)                                                                                \
	static void scene_##name(void);                                                            \
	static const struct scene named_##name = {#name, scene_##name};                            \
	static const struct scene *const listed_##name __attribute__((used, section("scenes"))) =  \
		&named_##name;                                                                     \
	OWN_FRAME static void scene_##name(void)

/* A function that makes blocks and has its own name for them. */
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

/* Where pointers may stay: a global variable. */
static void *volatile held[64];

/* LeakSanitizer's, where its library is preloaded. */
#ifdef __cplusplus
extern "C"
#endif
	int
	__lsan_do_recoverable_leak_check(void) __attribute__((weak));

#define WIPED_BYTES (64 << 10)

/* Registers that nobody keeps for others. */
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

/* What functions that have returned left on the stack, and in registers. */
OWN_FRAME __attribute__((unused)) static void wipe(void)
{
	volatile char below[WIPED_BYTES];

	for (size_t i = 0; i < sizeof(below); i++)
		below[i] = 0;
	wipe_registers();
}

/* The same, but what lies deeper stays. */
OWN_FRAME __attribute__((unused)) static void wipe_little(void)
{
	volatile char below[WIPED_BYTES / 8];

	for (size_t i = 0; i < sizeof(below); i++)
		below[i] = 0;
	wipe_registers();
}

/* What wipes stands as deep in the stack as what waits, whose frame is not all written to. */
#define WIPED static inline __attribute__((always_inline, unused))

OWN_FRAME __attribute__((unused)) static void stage_now(void)
{
	say("stage\n");
	ready();
}

/* The end of a phase that only memleak judges; the truth is told anew after it. */
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
 * All is planted. Where a scene calls this itself, its own frame is in use while everybody looks.
 * Never returns.
 */
WIPED void judge(void)
{
	wipe();
	judge_now();
}

/* A process of which one thread runs is not seen while all its threads sleep. */
static void *run_all_the_time(void *arg)
{
	wipe_registers();
	for (;;)
		sched_yield();
	return arg;
}

/* Signals are for other threads. */
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
