// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the agent's shared memory (its account) in a core file: a mapping that begins with the
 * magic number of accounts.
 */
#include "app/core_account.h"

#include <elf.h>

#include "agent/account.h"

/*
 * Returns the end of the account that begins at the start of a segment. Returns the start of the
 * segment if no account begins there.
 */
static uint64_t end_of_account(const struct core_file *core, const struct core_segment *segment)
{
	const struct memory *memory = &core->memory;
	uint64_t begin[2], end;

	if (segment->bytes < sizeof(struct account) ||
	    memory->ops->read(memory, segment->start, begin, sizeof(begin)) != sizeof(begin) ||
	    begin[0] != ACCOUNT_MAGIC || __builtin_add_overflow(segment->start, begin[1], &end))
		return segment->start;
	return end;
}

static void leave_out(struct core_file *core, struct core_segment *segment)
{
	if (!segment->bytes && segment->flags & PF_W)
		core->absent_bytes -= segment->end - segment->start;
	core->content_bytes -= segment->bytes;
	segment->bytes = 0;
}

void core_account_leave_out(struct core_file *core)
{
	uint64_t to = 0;

	for (size_t i = 0; i < core->segment_cnt; i++) {
		struct core_segment *segment = &core->segments[i];

		if (segment->start >= to)
			to = end_of_account(core, segment);
		if (segment->end <= to)
			leave_out(core, segment);
	}
}
