/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads an agent's account. It is untrusted memory of the target, which may write to it at any
 * time. Seals prevent it from being truncated.
 */
#ifndef LOADER_AGENT_ACCOUNT_VIEW_H
#define LOADER_AGENT_ACCOUNT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/account.h"

struct account_view {
	int fd;
	/* Mapped up to the spills; only memleak's own fields are written. */
	struct account *account;
	/* This and the following fields are copies from when the account was opened. */
	uint64_t region[ACCOUNT_REGION_CNT];
	uint64_t bytes[ACCOUNT_REGION_CNT];
	uint64_t began_ns;
	uint32_t pid;
	uint32_t depth; /* maximum frames per stack */
	uint32_t parent_pid;
	uint64_t parent_began_ns;
	uint64_t forked_ns; /* time of the fork, 0 if nothing is inherited */
	uint64_t event_at;  /* number of events read so far */
	uint64_t traced_at; /* number of traced calls read so far */
	uint64_t passed;    /* number of traced calls that were overwritten before they were read */
};

struct account_block {
	uint64_t addr;
	uint64_t size;
	uint64_t birth_ns; /* birth time, exact within epochs; UINT64_MAX: allocated just now */
	uint32_t epoch;
	uint32_t tid;
	uint32_t stack;
	bool is_sample;
};

/*
 * Returns the device of memfds. Files on hugetlbfs are refused: reading these may fault for lack of
 * huge pages.
 */
dev_t account_view_device(void);

/*
 * Opens an account and takes ownership of fd. Returns 0, -EPROTO if it is not an account, or
 * another negative errno.
 */
int account_view_init(int fd, struct account_view *ret);
void account_view_deinit(struct account_view *view);

/* True if the program calls another allocator, whose calls are not in the account. */
bool account_view_is_bypassed(const struct account_view *view);

/* Decodes the two words of a cell; addr: address of the block. */
void account_view_block(const struct account_view *view, uint64_t addr, uint64_t word,
			uint64_t life, struct account_block *ret);

/*
 * Visits all blocks. visit may return nonzero to end the visit with this value. Returns its own
 * negative errnos, too.
 */
int account_view_blocks(const struct account_view *view,
			int (*visit)(void *arg, const struct account_block *block), void *arg);

/*
 * Copies the frames of a stack, innermost first, at most `most`. Returns their number, 0 if the
 * stack is unknown. File numbers are module numbers.
 */
size_t account_view_stack(const struct account_view *view, uint32_t number, uint64_t *frames,
			  size_t most, unsigned int *ret_end);

/*
 * Copies a module and its path, which is unescaped and cut to path_size. False if there is no such
 * module.
 */
bool account_view_module(const struct account_view *view, uint32_t number,
			 struct account_module *ret, char *path, size_t path_size);

uint32_t account_view_tid(const struct account_view *view, uint32_t thread);

/* Returns the capacity for unread events. More may arrive while they are read. */
uint64_t account_view_event_room(const struct account_view *view);
/*
 * Reads the next event. False if it is not complete yet. ended: the program has ended, so skip
 * incomplete events.
 */
bool account_view_event(struct account_view *view, bool ended, struct account_event *ret);
/*
 * Reads the next traced call, without removing it: account_view_take_traced() does. False if it is
 * not complete yet; ended: as for account_view_event().
 */
bool account_view_traced(struct account_view *view, bool ended, struct account_traced *ret);
void account_view_take_traced(struct account_view *view);
/* Enables tracing of calls, with stacks of frees if with_stacks; or disables it. */
void account_view_trace(struct account_view *view, bool with_stacks);
void account_view_trace_no_more(struct account_view *view);

/* True if more than half of the event buffer has events whose results were not stored. */
bool account_view_events_half_full(const struct account_view *view);

/* Begins an epoch at now_ns and returns its number. */
uint32_t account_view_begin_epoch(struct account_view *view, uint64_t now_ns);
/* Returns the current epoch. */
uint32_t account_view_epoch(const struct account_view *view);

struct ranges;

/*
 * Stores the mappings that result from the events read so far; the agent may then overwrite these
 * events.
 */
void account_view_keep_ranges(struct account_view *view, const struct ranges *ranges);
/* Reads the stored mappings. Returns 0 or -ENOMEM. */
int account_view_take_ranges(const struct account_view *view, struct ranges *ranges);

/* Sums over all threads. */
struct account_totals {
	uint64_t calls[ACCOUNT_CALL_CNT]; /* number of calls, since sums were enabled if they are */
	uint64_t failed;
	uint64_t earlier_frees;
	uint64_t asked[ACCOUNT_CALL_CNT]; /* requested bytes if counted, else 0 */
	/* Number of frees, if requested bytes are counted or sums are enabled. */
	uint64_t frees;
	/* The following are 0 unless sums are enabled. */
	/* Allocated bytes, including those outstanding before sums were enabled. */
	uint64_t allocated;
	uint64_t outstanding;
	uint64_t peak;
	uint64_t largest;
};

void account_view_totals(const struct account_view *view, struct account_totals *ret);

#endif
