/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the agent share: the gate, which is open while there is an account, and what
 * each thread has of its own.
 *
 * The agent runs inside each call of the allocator, in signal handlers as well. It takes no lock,
 * has nothing from the heap, and leaves errno alone.
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/account.h"

/* What the stubs of entry.S say of a call: where it returns to, and the caller's registers then. */
struct caller {
	uint64_t ra;
	uint64_t sp;
	uint64_t fp;
};

/* In a page of its own, which a forked child finds empty. */
struct gate {
	struct account *account; /* NULL: it is closed */
	struct account_thread *threads;
	uint32_t *directory;
	struct account_chunk *chunks;
	struct account_spill *spills;
	struct account_frame *frames;
	uint8_t *filter;
	uint8_t rest[4096 - 7 * sizeof(void *)];
};

extern struct gate gate __attribute__((visibility("hidden"), aligned(4096)));

struct memo;

/* Of a thread. All zeros until it first calls. */
struct thread {
	uint32_t number; /* 0: none yet */
	uint32_t reserved;
	struct account *account; /* of whose threads that is the number */
	struct account_thread *counts;
	struct memo *memo; /* NULL: there is no memory for one */
	/* Of its own stack what was found readable, which stays so. */
	uint64_t low;
	uint64_t high;
	/* Pages of another stack, which may go while this thread runs elsewhere. */
	uint64_t foreign_low;
	uint64_t foreign_high;
	uint64_t countdown; /* bytes to the next sample; 0: not drawn yet */
	uint64_t random;
};

extern __thread struct thread self __attribute__((visibility("hidden"), tls_model("initial-exec")));

/* What each call goes through is in one piece. */
/* What reads memory that is not its own, in tests that watch theirs. */
#if defined(__SANITIZE_ADDRESS__)
#define NOT_SANITIZED __attribute__((no_sanitize("address"), noinline))
#else
#define NOT_SANITIZED inline
#endif

#define ALWAYS_INLINE inline __attribute__((always_inline))

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

static inline bool unlikely(bool what)
{
	return __builtin_expect(what, 0);
}

static inline void *region(const struct account *account, enum account_region which)
{
	return (uint8_t *)account + account->region[which];
}

static inline uint64_t region_bytes(const struct account *account, enum account_region which)
{
	uint64_t end = which + 1 < ACCOUNT_REGION_CNT ? account->region[which + 1] : account->end;

	return end - account->region[which];
}

static inline void lose(struct account *account, enum account_lost what)
{
	__atomic_fetch_add(&account->lost[what], 1, __ATOMIC_RELAXED);
}

/* Begins the account, if there is to be one. Whether the gate is open now. */
bool agent_begin(void);

/* Makes the calling thread known to the account. False: there are too many. */
bool thread_begin(struct account *account);

/* For one that has none, if there is memory. */
void thread_begin_memo(void);

#endif
