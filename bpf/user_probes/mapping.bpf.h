/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracks mappings. Parts of a mapping can be unmapped, moved and replaced, which a hash table
 * cannot represent. Mapping calls are rare, so each change is sent to the loader as a record; the
 * ring keeps the order of the records.
 */
#ifndef BPF_USER_PROBES_MAPPING_BPF_H
#define BPF_USER_PROBES_MAPPING_BPF_H

#include "bpf/user_probes/stack.bpf.h"

#define PROT_NONE 0
#define MAP_PRIVATE 0x02
#define MAP_FIXED 0x10
#define MAP_ANONYMOUS 0x20
#define MAP_STACK 0x20000
#define MREMAP_DONTUNMAP 4
#define MAX_ERRNO 4095

static __always_inline void begin_mmap(struct pt_regs *ctx, struct thread_state *thread)
{
	__u64 flags = PT_REGS_PARM4(ctx);

	thread->operation = OP_MMAP;
	thread->size = PT_REGS_PARM2(ctx);
	if (PT_REGS_PARM3(ctx) == PROT_NONE)
		thread->kind = MEMLEAK_KIND_RESERVE;
	else
		thread->kind = MEMLEAK_KIND_MMAP;
	if (flags & MAP_STACK)
		thread->kind = MEMLEAK_KIND_STACK;
	/* Mappings other than private anonymous ones belong to a file or to several processes. */
	thread->chosen =
		(flags & MAP_PRIVATE) && (flags & MAP_ANONYMOUS) &&
		(config.steps ? wanted(thread->size) : chosen(thread->size, &thread->countdown));
	/* MAP_FIXED replaces old mappings in the range, even if the new mapping is not tracked. */
	thread->has_old = flags & MAP_FIXED;
}

/*
 * Sends the record of an unmapping before the range is unmapped, since the range may be reused
 * right after.
 */
static __always_inline void begin_munmap(struct pt_regs *ctx, struct thread_state *thread)
{
	thread->operation = OP_MUNMAP;
	thread->chosen = false;
	thread->addr = PT_REGS_PARM1(ctx);
	thread->size = PT_REGS_PARM2(ctx);
	emit_range(thread, MEMLEAK_REC_TAKE, thread->addr, thread->size, 0);
}

static __always_inline void begin_mremap(struct pt_regs *ctx, struct thread_state *thread)
{
	bool copy = PT_REGS_PARM4(ctx) & MREMAP_DONTUNMAP;

	thread->operation = OP_MREMAP;
	thread->chosen = false;
	thread->addr = PT_REGS_PARM1(ctx);
	thread->size = PT_REGS_PARM3(ctx);
	emit_range(thread, MEMLEAK_REC_TAKE, thread->addr, PT_REGS_PARM2(ctx),
		   copy ? MEMLEAK_TAKE_COPY : 0);
}

static __always_inline void leave_mmap(struct thread_state *thread, __u64 addr)
{
	struct memleak_record *record;

	if (addr >= -(__u64)MAX_ERRNO)
		return;
	if (!thread->chosen) {
		if (thread->has_old)
			emit_range(thread, MEMLEAK_REC_TAKE, addr, thread->size, 0);
		return;
	}
	record = record__reserve(MEMLEAK_REC_MAP, thread->image);
	if (!record)
		return;
	record->addr = addr;
	record->len = thread->size;
	record->site = thread->site;
	record->kind = thread->kind;
	bpf_ringbuf_submit(record, 0);
	send_alloc(thread, addr);
}

static __always_inline void leave_mremap(struct thread_state *thread, __u64 addr)
{
	if (addr >= -(__u64)MAX_ERRNO) {
		emit_range(thread, MEMLEAK_REC_UNTAKE, 0, 0, 0);
		return;
	}
	emit_range(thread, MEMLEAK_REC_MOVE, addr, thread->size, 0);
	send_free(thread, thread->addr, MEMLEAK_SIZE_UNKNOWN);
	send_alloc(thread, addr);
}

static __always_inline void leave_munmap(struct thread_state *thread, int err)
{
	emit_range(thread, err ? MEMLEAK_REC_UNTAKE : MEMLEAK_REC_GONE, 0, 0, 0);
	if (!err)
		send_free(thread, thread->addr, thread->size);
}

#endif
