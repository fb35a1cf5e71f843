/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads clocks in nanoseconds. In a time namespace, system calls use a shifted CLOCK_MONOTONIC, but
 * BPF programs and perf events use the kernel's unshifted clock. After clock_read_offsets(), the
 * functions here also use the unshifted clock.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/*
 * Offset, in nanoseconds, of the time namespace's CLOCK_MONOTONIC from the kernel's unshifted
 * clock.
 */
extern int64_t clock_ahead_ns;

/*
 * Sets clock_ahead_ns. Call before starting other threads, and before forking processes that may
 * not read /proc: they inherit the value.
 */
void clock_read_offsets(void);

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;
	uint64_t ns;

	clock_gettime(id, &ts);
	ns = (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
	return id == CLOCK_MONOTONIC ? ns - (uint64_t)clock_ahead_ns : ns;
}

/* Converts a time of the kernel's unshifted CLOCK_MONOTONIC to the time that system calls use. */
static inline struct timespec clock_timespec(uint64_t monotonic_ns)
{
	uint64_t ns = monotonic_ns + (uint64_t)clock_ahead_ns;

	return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

/* Returns the CLOCK_MONOTONIC time that is within_ns nanoseconds after now. */
static inline uint64_t clock_deadline_ns(uint64_t within_ns)
{
	return clock_ns(CLOCK_MONOTONIC) + within_ns;
}

/* Returns the milliseconds left until a deadline; 0 if it has passed. */
static inline unsigned int clock_left_ms(uint64_t deadline_ns)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t left_ms = deadline_ns > now_ns ? (deadline_ns - now_ns) / 1000000 : 0;

	return left_ms < UINT32_MAX ? (unsigned int)left_ms : UINT32_MAX;
}

/*
 * Converts a CLOCK_MONOTONIC time to CLOCK_REALTIME. Keeps the order of times, unless
 * CLOCK_REALTIME is changed by a millisecond or more.
 */
int64_t clock_wall_of(uint64_t monotonic_ns);

#endif
