/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends records of mappings and of the life of processes to the loader, in order. With -t, also
 * sends each allocation and free.
 */
#ifndef BPF_USER_PROBES_RING_BPF_H
#define BPF_USER_PROBES_RING_BPF_H

#include "bpf/user_probes/thread.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 23);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24);
} events SEC(".maps");

/*
 * Set after the loss of a record that only asks the loader for a check. It then checks all
 * processes.
 */
__u32 hint_lost;

/* Counts a lost record, unless of the end of a process, which the loader notices without it. */
static __always_inline void count_lost_record(__u32 type)
{
	switch (type) {
	case MEMLEAK_REC_MAP:
	case MEMLEAK_REC_TAKE:
	case MEMLEAK_REC_UNTAKE:
	case MEMLEAK_REC_GONE:
	case MEMLEAK_REC_MOVE:
		count(MEMLEAK_LOST_MAPPINGS, 1);
		break;
	case MEMLEAK_REC_NEW:
	case MEMLEAK_REC_EXEC:
	case MEMLEAK_REC_NO_TARGET:
	case MEMLEAK_REC_SHARER:
		count(MEMLEAK_LOST_PROCESSES, 1);
		break;
	case MEMLEAK_REC_END:
		break;
	default:
		hint_lost = 1;
	}
}

static __always_inline struct memleak_record *record__reserve(__u32 type, __u32 image)
{
	struct memleak_record *record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
	__u64 pid_tgid = current_pids();

	if (!record) {
		count_lost_record(type);
		return NULL;
	}
	record->type = type;
	record->image = image;
	record->tgid = pid_tgid >> 32;
	record->tid = pid_tgid;
	record->time_ns = bpf_ktime_get_ns();
	record->addr = 0;
	record->len = 0;
	record->site = 0;
	record->kind = 0;
	record->flags = 0;
	return record;
}

static __always_inline void send_peak(__u32 image)
{
	struct memleak_record *record;

	if (!config.peak || peak_watch.is_sent || peak_watch.total < peak_watch.limit)
		return;
	peak_watch.is_sent = 1;
	record = record__reserve(MEMLEAK_REC_PEAK, image);
	if (record)
		bpf_ringbuf_submit(record, 0);
}

/* Requests a second block table before the first one is full. */
static __always_inline void emit_blocks(__u32 image)
{
	struct memleak_record *record;

	if (!config.grows || block_watch.is_sent || block_watch.stored < block_watch.limit)
		return;
	block_watch.is_sent = 1;
	record = record__reserve(MEMLEAK_REC_BLOCKS, image);
	if (record)
		bpf_ringbuf_submit(record, 0);
}

static __always_inline void emit_range(struct thread_state *thread, __u32 type, __u64 addr,
				       __u64 len, __u32 flags)
{
	struct memleak_record *record = record__reserve(type, thread->image);

	if (!record)
		return;
	record->addr = addr;
	record->len = len;
	record->flags = flags;
	bpf_ringbuf_submit(record, 0);
}

static __always_inline void emit_event(const struct thread_state *thread, __u32 type,
				       __u64 function, __u64 addr, __u64 size, __u64 stack)
{
	struct memleak_event *event;
	__u64 pid_tgid = current_pids();

	if (!config.trace_events || !tracking)
		return;
	event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		count(MEMLEAK_LOST_EVENTS, 1);
		return;
	}
	event->type = type;
	event->image = thread->image;
	event->tgid = pid_tgid >> 32;
	event->tid = pid_tgid;
	event->time_ns = bpf_ktime_get_ns();
	event->function = function;
	event->addr = addr;
	event->size = size;
	event->stack = stack;
	bpf_ringbuf_submit(event, 0);
}

/* Sends the allocation event of the call in progress. */
static __always_inline void send_alloc(const struct thread_state *thread, __u64 addr)
{
	emit_event(thread, MEMLEAK_EVENT_ALLOC, thread->function, addr, thread->size,
		   config.trace_stacks ? thread->stack : 0);
}

static __always_inline void send_free(const struct thread_state *thread, __u64 addr, __u64 size)
{
	emit_event(thread, MEMLEAK_EVENT_FREE, thread->function, addr, size,
		   config.trace_stacks ? thread->stack : 0);
}

#endif
