// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares tracked descriptors with /proc/PID/fd. */
#include "loader/user/descriptors.h"

#include <bpf/bpf.h>
#include <errno.h>

#include "base/clock.h"
#include "bpf/descriptors.h"
#include "bpf/reading.h"
#include "bpf/user_probes/user.skel.h"
#include "loader/target/open_fds.h"

/*
 * Maximum time from the start of a close() until /proc no longer lists the descriptor, in
 * nanoseconds.
 */
#define CLOSING_NS 10000000ULL

void descriptors_begin(struct process_set *set)
{
	for (size_t i = 0; i < set->table.cnt; i++)
		user_process__begin_fds(&set->programs->ctx, set->table.items[i]);
}

void descriptors_read(struct process_set *set)
{
	uint64_t deadline_ns = set->programs->ctx.deadline_ns;
	bool all_ended = process_set_ended(set);

	for (size_t i = 0; i < set->table.cnt; i++) {
		struct user_process *process = set->table.items[i];
		struct process_fds *fds = &process->fds;
		uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
		bool is_gone = process->ended || process->is_no_target || process->gone_ns;
		int err = is_gone ? -ENOENT
				  : open_fds_read(process->info.pid, deadline_ns, &fds->open);

		bits_clear(&fds->tracked);
		fds->closed_unseen = 0;
		fds->are_closed = process->ended && !all_ended;
		/*
		 * -ENOENT and -ESRCH are no errors: a process that is exiting has no open
		 * descriptors.
		 */
		fds->is_unread = err && err != -ENOENT && err != -ESRCH;
		fds->read_ns = err ? 0 : now_ns;
	}
}

bool descriptors_are_gone(void *arg, const struct memleak_block_key *key,
			  const struct memleak_block *block)
{
	struct user_process *process = process_set_process(arg, key->image);
	uint32_t fd = MEMLEAK_ADDR_FD(key->addr);

	if (!process || process->fds.are_closed || !process->fds.read_ns)
		return process && process->fds.are_closed;
	/* If out of memory, the descriptor counts as missed. */
	if (bits_has(&process->fds.open, fd))
		bits_add(&process->fds.tracked, fd);
	else if (block->birth_ns < process->fds.read_ns)
		process->fds.closed_unseen++;
	return block->birth_ns < process->fds.read_ns && !bits_has(&process->fds.open, fd);
}

/* Returns the time when a traced call last closed the descriptor; 0 if no recent close is known. */
static uint64_t closed_ns(const struct process_set *set, const struct user_process *process,
			  size_t fd)
{
	const struct memleak_block_key key = {
		.addr = MEMLEAK_FD_ADDR(fd),
		.image = process->info.image,
	};
	uint64_t ret;
	int closed_fd = bpf_map__fd(set->programs->ctx.skel->maps.closed_fds);

	return bpf_map_lookup_elem(closed_fd, &key, &ret) ? 0 : ret;
}

static void count_untracked(const struct process_set *set, const struct user_process *process,
			    size_t fd, struct descriptor_facts *facts)
{
	uint64_t at_ns = closed_ns(set, process, fd);

	if (!at_ns && bits_has(&process->fds.older, fd))
		facts->older++;
	/*
	 * Skip a descriptor number that was closed just now: it may already be in use again, but
	 * not be tracked yet.
	 */
	else if (at_ns + CLOSING_NS < process->fds.read_ns)
		facts->missed++;
}

static void compare(const struct process_set *set, const struct user_process *process,
		    struct descriptor_facts *facts)
{
	const struct process_fds *fds = &process->fds;

	facts->unread += fds->is_unread;
	if (!fds->read_ns)
		return;
	facts->closed_unseen += fds->closed_unseen;
	for (size_t fd = bits_next(&fds->open, 0); fd != SIZE_MAX;
	     fd = bits_next(&fds->open, fd + 1))
		if (!bits_has(&fds->tracked, fd))
			count_untracked(set, process, fd, facts);
}

struct descriptor_facts descriptors_compare(struct process_set *set)
{
	struct descriptor_facts facts = {.are_traced = true};

	for (size_t i = 0; i < set->table.cnt; i++)
		compare(set, set->table.items[i], &facts);
	return facts;
}
