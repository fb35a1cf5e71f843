/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handles writes to the item count of a watched container: adds the number of new items to the sum
 * for the current script stack. Items that were removed and added again are not counted twice.
 */
#ifndef BPF_USER_PROBES_ITEM_WATCH_BPF_H
#define BPF_USER_PROBES_ITEM_WATCH_BPF_H

#include <linux/bpf_perf_event.h>

#include "bpf/item_watch.h"
#include "bpf/user_probes/ring.bpf.h"
#include "bpf/user_probes/script_frames.bpf.h"
#include "bpf/user_probes/stack.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MEMLEAK_ITEM_WATCHES);
	__type(key, __u64);
	__type(value, struct memleak_item_watch);
} item_watches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MEMLEAK_ADDERS);
	__type(key, struct memleak_adder);
	__type(value, __u64);
} adders SEC(".maps");

/*
 * Returns by how much the item count exceeds its maximum so far; 0 if it does not. At the first
 * write, the recorded maximum may be out of date, so an excess counts as one item. At most
 * MEMLEAK_ITEMS_MAX, since the word may by now be a pointer in another object.
 */
static __always_inline __u64 added_items(struct memleak_item_watch *watch, __u64 addr)
{
	bool is_first = watch->writes == 1;
	__u64 items, more;

	if (!read_word(addr, &items) || items <= watch->items)
		return 0;
	more = is_first ? 1 : items - watch->items;
	watch->items = items;
	return more < MEMLEAK_ITEMS_MAX ? more : MEMLEAK_ITEMS_MAX;
}

static __always_inline void walk__count_adder(struct walk *walk, __u32 entry, __u64 more)
{
	struct memleak_adder *adder = (void *)&walk->stack.words[0];
	__u64 *sum;

	for (int i = 0; i < 2 * MEMLEAK_ADDER_FRAMES; i++)
		walk->stack.words[1 + i] = 0;
	walk->frame_cnt = 0;
	walk->script_cnt = 0;
	if (!script_begin(entry))
		return;
	for (int i = 0; i < 2 * MEMLEAK_ADDER_FRAMES; i++)
		if (walk->script_cnt >= MEMLEAK_ADDER_FRAMES || script_steps(entry))
			break;
	scripts_identify(entry);
	sum = bpf_map_lookup_elem(&adders, adder);
	if (sum)
		__sync_fetch_and_add(sum, more);
	else
		bpf_map_update_elem(&adders, adder, &more, BPF_NOEXIST);
}

/* Asks the loader to remove the breakpoints of this item count. */
static __always_inline void send_written(const struct memleak_item_watch *watch, __u64 addr)
{
	struct memleak_record *record = record__reserve(MEMLEAK_REC_ITEMS, watch->space);

	if (!record)
		return;
	record->addr = addr;
	bpf_ringbuf_submit(record, 0);
}

SEC("perf_event")
int item_count_written(struct bpf_perf_event_data *ctx)
{
	__u64 addr = ctx->addr, more;
	struct memleak_item_watch *watch = bpf_map_lookup_elem(&item_watches, &addr);
	struct walk *walk;
	__u32 entry = 0;

	if (!watch || watch->tgid != current_pids() >> 32)
		return 0;
	if (++watch->writes % MEMLEAK_ITEM_WRITES == 0)
		send_written(watch, addr);
	more = watch->writes < MEMLEAK_ITEM_WRITES ? added_items(watch, addr) : 0;
	walk = more ? walk__take(&entry) : NULL;
	if (!walk)
		return 0;
	walk->space = watch->space;
	walk->stack.words[0] = addr;
	walk__count_adder(walk, entry, more);
	walk__give_back(walk);
	return 0;
}

#endif
