/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clocks in nanoseconds. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* What CLOCK_REALTIME showed at a moment of CLOCK_MONOTONIC. */
static inline int64_t clock_wall_of(uint64_t monotonic_ns)
{
	return (int64_t)(clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC) + monotonic_ns);
}

#endif
