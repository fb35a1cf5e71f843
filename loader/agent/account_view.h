/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads an agent's account. An account is untrusted memory: the target may write to it at any time,
 * but seals keep the target from truncating it.
 */
#ifndef LOADER_AGENT_ACCOUNT_VIEW_H
#define LOADER_AGENT_ACCOUNT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/account.h"
#include "loader/tables/script_frames.h"

struct account_view {
	int fd;
	/*
	 * The account's memory, mapped up to the ACCOUNT_SPILLS region. memleak writes only to the
	 * fields that are reserved for it.
	 */
	struct account *account;
	/* The fields from here to forked_ns are copied from the account when it is opened. */
	uint64_t region[ACCOUNT_REGION_CNT];
	uint64_t bytes[ACCOUNT_REGION_CNT];
	uint64_t began_ns;
	uint32_t pid;
	uint32_t depth; /* maximum number of native frames per stack */
	uint32_t parent_pid;
	uint64_t parent_began_ns;
	uint64_t forked_ns; /* time of the fork; 0 if no blocks are inherited */
	uint64_t event_at;  /* index of the next event to read */
	uint64_t traced_at; /* index of the next traced call to read */
	uint64_t passed;    /* number of traced calls skipped: overwritten, or never completed */
};

struct account_block {
	uint64_t addr;
	uint64_t size;
	/*
	 * birth time, never earlier than the start of the block's epoch; UINT64_MAX if the block
	 * was allocated just now
	 */
	uint64_t birth_ns;
	uint32_t epoch;
	uint32_t tid;
	uint32_t stack;
	bool is_sample;
};

/*
 * Returns the device number of memfds. Accounts must be on this device, so files on hugetlbfs are
 * refused: reading them may raise SIGBUS for lack of huge pages.
 */
dev_t account_view_device(void);

/*
 * Opens an account and takes ownership of fd. Returns 0, or -EPROTO if the file is not an account
 * or cannot be mapped.
 */
int account_view_init(int fd, struct account_view *ret);
void account_view_deinit(struct account_view *view);

/* Returns the size of the account's memory that has been used, in bytes. */
uint64_t account_view_resident(const struct account_view *view);

/*
 * True if the program uses an allocator other than the agent's. Calls to that allocator are missing
 * from the account.
 */
bool account_view_is_bypassed(const struct account_view *view);

/*
 * Decodes a cell: `word` is its first word, `life` its second, and `addr` the address of its block.
 */
void account_view_block(const struct account_view *view, uint64_t addr, uint64_t word,
			uint64_t life, struct account_block *ret);

/*
 * Calls visit() for each block. If visit() returns a nonzero value, stops and returns this value.
 * Returns a negative errno if the account cannot be read.
 */
int account_view_blocks(const struct account_view *view,
			int (*visit)(void *arg, const struct account_block *block), void *arg);

/*
 * Copies at most `most` native frames of a stack, innermost first, and its script frames. Returns
 * the number of native frames; 0 if the stack is unknown or forged. The native frames contain
 * module numbers instead of file numbers. A script frame refers to the copy of its code object by
 * an offset in the account's file. *ret_end: why the stack ends, an enum unwind_end.
 */
size_t account_view_stack(const struct account_view *view, uint32_t number, uint64_t *frames,
			  size_t most, struct script_frames *scripts, unsigned int *ret_end);

/*
 * Copies a module and its path. The path has the form that it has in /proc/PID/maps, and is cut to
 * path_size. Returns false if there is no such module.
 */
bool account_view_module(const struct account_view *view, uint32_t number,
			 struct account_module *ret, char *path, size_t path_size);

/* True if the module contains the interpreter whose script frames are in the account. */
bool account_view_runs_scripts(const struct account_view *view,
			       const struct account_module *module);

uint32_t account_view_tid(const struct account_view *view, uint32_t thread);

/* Returns the capacity of the event buffer, as a number of events. */
uint64_t account_view_event_room(const struct account_view *view);
/*
 * Reads the next event. Returns false if there is no event, or if the next one is not complete yet.
 * ended: the program has ended, so skip incomplete events.
 */
bool account_view_event(struct account_view *view, bool ended, struct account_event *ret);
/*
 * Reads the next traced call; account_view_take_traced() removes it. Returns false if there is no
 * call, or if the next one is not complete yet. ended: as for account_view_event().
 */
bool account_view_traced(struct account_view *view, bool ended, struct account_traced *ret);
void account_view_take_traced(struct account_view *view);
/*
 * Enables tracing of calls; account_view_trace_no_more() disables it. with_stacks: also trace the
 * stacks of frees.
 */
void account_view_trace(struct account_view *view, bool with_stacks);
void account_view_trace_no_more(struct account_view *view);

/*
 * True if events that memleak has read fill more than half of the event buffer. The agent may not
 * overwrite these events before account_view_keep_ranges() is called.
 */
bool account_view_events_half_full(const struct account_view *view);

/* Begins an epoch at now_ns and returns its number. */
uint32_t account_view_begin_epoch(struct account_view *view, uint64_t now_ns);
uint32_t account_view_epoch(const struct account_view *view);

struct ranges;

/*
 * Stores in the account the mappings that result from the events read so far. The agent may then
 * overwrite these events.
 */
void account_view_keep_ranges(struct account_view *view, const struct ranges *ranges);
/* Reads the mappings that account_view_keep_ranges() has stored. Returns 0 or -ENOMEM. */
int account_view_take_ranges(const struct account_view *view, struct ranges *ranges);

/* Numbers of calls and bytes, summed over all threads of the program. */
struct account_totals {
	/* number of calls; if sums are enabled, without calls made before tracing began */
	uint64_t calls[ACCOUNT_CALL_CNT];
	uint64_t failed;
	uint64_t earlier_frees;
	uint64_t asked[ACCOUNT_CALL_CNT]; /* requested bytes if counted, else 0 */
	/* number of frees; 0 unless requested bytes are counted or sums are enabled */
	uint64_t frees;
	/* The following fields are 0 unless sums are enabled. */
	/* Allocated bytes, including those that were outstanding when sums were enabled. */
	uint64_t allocated;
	uint64_t outstanding;
	uint64_t peak;
	uint64_t largest;
};

void account_view_totals(const struct account_view *view, struct account_totals *ret);

#endif
