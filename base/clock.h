/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clocks in nanoseconds. CLOCK_MONOTONIC is the kernel's own, as BPF programs and perf events have
 * it, once clock_settle() has been called; in a time namespace, system calls show another one.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* How far CLOCK_MONOTONIC of this process's time namespace is ahead of the kernel's own. */
extern int64_t clock_ahead_ns;

/* Learns clock_ahead_ns. Called before other threads and confined processes begin. */
void clock_settle(void);

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;
	uint64_t ns;

	clock_gettime(id, &ts);
	ns = (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
	return id == CLOCK_MONOTONIC ? ns - (uint64_t)clock_ahead_ns : ns;
}

/* A moment of CLOCK_MONOTONIC as system calls want it. */
static inline struct timespec clock_timespec(uint64_t monotonic_ns)
{
	uint64_t ns = monotonic_ns + (uint64_t)clock_ahead_ns;

	return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

/* A moment of CLOCK_MONOTONIC, so long from now. */
static inline uint64_t clock_deadline_ns(uint64_t within_ns)
{
	return clock_ns(CLOCK_MONOTONIC) + within_ns;
}

/* How many milliseconds are left until a deadline; 0: it has passed. */
static inline unsigned int clock_left_ms(uint64_t deadline_ns)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t left_ms = deadline_ns > now_ns ? (deadline_ns - now_ns) / 1000000 : 0;

	return left_ms < UINT32_MAX ? (unsigned int)left_ms : UINT32_MAX;
}

/* What CLOCK_REALTIME showed at a moment of CLOCK_MONOTONIC. */
static inline int64_t clock_wall_of(uint64_t monotonic_ns)
{
	return (int64_t)(clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC) + monotonic_ns);
}

#endif
