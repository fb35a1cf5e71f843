/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An account of an agent, as far as it can be believed: it is the target's memory, and written to
 * while it is read. It cannot become shorter, which its seals see to.
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
	struct account *account; /* mapped up to where blocks are; only what is memleak's is written
				  */
	uint64_t region[ACCOUNT_REGION_CNT]; /* as it was when it was looked at, and so below */
	uint64_t bytes[ACCOUNT_REGION_CNT];
	uint64_t began_ns;
	uint32_t pid;
	uint32_t depth; /* of stacks */
	uint32_t parent_pid;
	uint64_t parent_began_ns;
	uint64_t forked_ns; /* 0: it inherits nothing */
	uint64_t event_at;  /* so many events have been read here */
	uint64_t traced_at; /* and so many calls that are traced */
	uint64_t passed;    /* calls whose places others had taken by then */
};

struct account_block {
	uint64_t addr;
	uint64_t size;
	uint64_t birth_ns; /* as exactly as epochs tell; UINT64_MAX: just now */
	uint32_t epoch;
	uint32_t tid;
	uint32_t stack;
	bool is_sample;
};

/* Of files in memory, but for those of huge pages: reading these may find that there is none left.
 */
dev_t account_view_device(void);

/* Takes the descriptor over. 0; -EPROTO: that is no account; or another negative errno. */
int account_view_init(int fd, struct account_view *ret);
void account_view_deinit(struct account_view *view);

/* Whether the program calls another allocator, of which the account has nothing. */
bool account_view_is_bypassed(const struct account_view *view);

/* Reads the two words of a cell; addr: of the block. */
void account_view_block(const struct account_view *view, uint64_t addr, uint64_t word,
			uint64_t life, struct account_block *ret);

/* Anything but 0 ends the visit, which returns it. Negative errnos are its own as well. */
int account_view_blocks(const struct account_view *view,
			int (*visit)(void *arg, const struct account_block *block), void *arg);

/*
 * The frames of a stack, innermost first: at most `most`, which are copied. Their number; 0: the
 * stack is not known. File numbers are those of modules.
 */
size_t account_view_stack(const struct account_view *view, uint32_t number, uint64_t *frames,
			  size_t most, unsigned int *ret_end);

/* False: there is no such module. The path is cut to what fits, raw bytes. */
bool account_view_module(const struct account_view *view, uint32_t number,
			 struct account_module *ret, char *path, size_t path_size);

uint32_t account_view_tid(const struct account_view *view, uint32_t thread);

/* How many events there can be that have not been read; more come while they are. */
uint64_t account_view_event_room(const struct account_view *view);
/* The next event, if it has been written; ended: what has not been never will. */
bool account_view_event(struct account_view *view, bool ended, struct account_event *ret);
/* The next call that is traced, likewise, which stays the next one until it is taken. */
bool account_view_traced(struct account_view *view, bool ended, struct account_traced *ret);
void account_view_take_traced(struct account_view *view);
/* Calls are traced from now on, with who frees; or no more. */
void account_view_trace(struct account_view *view, bool with_stacks);
void account_view_trace_no_more(struct account_view *view);

/* How full what has not been kept is. */
bool account_view_events_half_full(const struct account_view *view);

/* Begins an epoch at now_ns, and returns its number. */
uint32_t account_view_begin_epoch(struct account_view *view, uint64_t now_ns);
/* Of the present one. */
uint32_t account_view_epoch(const struct account_view *view);

struct ranges;

/* What the events that were read have led to: from then on they need not be kept. */
void account_view_keep_ranges(struct account_view *view, const struct ranges *ranges);
/* What was kept so. 0 or -ENOMEM. */
int account_view_take_ranges(const struct account_view *view, struct ranges *ranges);

/* Sums over the threads. */
struct account_totals {
	uint64_t calls[ACCOUNT_CALL_CNT]; /* since sums are kept, if they are */
	uint64_t failed;
	uint64_t earlier_frees;
	uint64_t asked[ACCOUNT_CALL_CNT]; /* bytes, if they are counted, else 0 */
	uint64_t frees;                   /* the same, and if sums are kept */
	/* If these are, else 0: */
	uint64_t allocated; /* bytes, also what was there before */
	uint64_t outstanding;
	uint64_t peak;
	uint64_t largest;
};

void account_view_totals(const struct account_view *view, struct account_totals *ret);

#endif
