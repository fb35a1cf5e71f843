/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls without the wrappers of the C library: the wrappers set errno, and some of them are
 * cancellation points.
 */
#ifndef AGENT_SYSTEM_H
#define AGENT_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#if defined(__x86_64__)
static inline long system_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
#elif defined(__aarch64__)
static inline long system_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#endif

#define system_error(ret) ((unsigned long)(ret) > -4096UL)

/* Maps private zeroed memory. Returns NULL if out of memory. */
void *system_map(uint64_t bytes);
void system_unmap(void *addr, uint64_t bytes);

/* True if the page of addr is readable now. Uses a system call that seccomp filters allow. */
bool system_is_readable(uint64_t addr);

uint32_t system_tid(void);
/* True if the caller runs on an alternate signal stack. */
bool system_on_signal_stack(void);

/* Points to the vDSO's clock_gettime() if available, otherwise to the C library's. */
extern int (*system_clock)(clockid_t clock, struct timespec *ret)
	__attribute__((visibility("hidden")));

/* Returns the time of the kernel's latest tick (CLOCK_MONOTONIC_COARSE). */
static inline uint64_t system_coarse_ns(void)
{
	struct timespec now;

	system_clock(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

/* Returns the exact time (CLOCK_MONOTONIC). */
uint64_t system_ns(void);
/* Looks up the vDSO's clock_gettime(), which makes system_ns() and system_coarse_ns() faster. */
void system_find_clock(void);

#endif
