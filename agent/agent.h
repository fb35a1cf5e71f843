/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data that all parts of the agent use: `gate` has pointers into the process's account (see
 * account.h), and `self` has the data of the calling thread.
 *
 * The agent runs inside every allocator call, also in signal handlers. It takes no lock, allocates
 * nothing on the heap, and preserves errno.
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/account.h"

/*
 * Registers of the caller, passed by the stubs in entry.S: the return address, and the values of
 * the stack and frame pointers after the return.
 */
struct caller {
	uint64_t ra;
	uint64_t sp;
	uint64_t fp;
};

/*
 * Pointers into this process's account. The struct has a page of its own, which the kernel wipes in
 * forked children.
 */
struct gate {
	struct account *account; /* NULL if the process has none */
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

/* Data of one thread, all zero before the thread's first allocator call. */
struct thread {
	uint32_t number;    /* thread number in the account, 0 if it has none yet */
	uint32_t has_ended; /* 1 after the thread's destructors have freed its memo and number */
	struct account *account; /* account to which the thread number belongs */
	struct account_thread *counts;
	struct memo *memo; /* remembered stacks; NULL before first use, or if out of memory */
	/* Part of the thread's own stack that is known to be readable. It stays mapped. */
	uint64_t low;
	uint64_t high;
	/*
	 * Part of another stack, e.g. a coroutine's, that grow_down() has searched and need not
	 * search again. It may be unmapped while the thread runs on its own stack.
	 */
	uint64_t foreign_low;
	uint64_t foreign_high;
	uint64_t countdown; /* bytes until the next sample; 0 if not drawn yet */
	uint64_t random;
};

extern __thread struct thread self __attribute__((visibility("hidden"), tls_model("initial-exec")));

/* Disables ASan in functions that read the stack frames of other functions. */
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

/* Returns a pointer to the start time of an epoch. */
static inline __u64 *epoch_ns(const struct account *account, uint32_t epoch)
{
	uint64_t cnt = region_bytes(account, ACCOUNT_EPOCH_TIMES) / sizeof(__u64);

	return (__u64 *)region(account, ACCOUNT_EPOCH_TIMES) + epoch % cnt;
}

static inline void lose(struct account *account, enum account_lost what)
{
	__atomic_fetch_add(&account->lost[what], 1, __ATOMIC_RELAXED);
}

/*
 * Begins an account for this process, unless excluded by the options in the environment. True if
 * gate.account has been set.
 */
bool agent_begin(void);

/* Adds the calling thread to the account. False if there are too many threads. */
bool thread_begin(struct account *account);

/*
 * Frees the calling thread's number for another thread. The thread gets a new number when it makes
 * another call that is counted.
 */
void thread_free_number(void);

/* Allocates the calling thread's memo (its remembered stacks), unless out of memory. */
void thread_begin_memo(void);

#endif
