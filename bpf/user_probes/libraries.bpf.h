/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Handles the dynamic loader's hook, called when libraries are loaded and unloaded. */
#ifndef BPF_USER_PROBES_LIBRARIES_BPF_H
#define BPF_USER_PROBES_LIBRARIES_BPF_H

#include "bpf/user_probes/ring.bpf.h"

/*
 * Values of r_state (see <link.h>) and its offset in struct r_debug. LOADER_UNKNOWN is none of
 * these values.
 */
#define LOADER_CONSISTENT 0
#define LOADER_ADD 1
#define LOADER_UNKNOWN 3
#define LOADER_STATE_OFFSET 24

static __always_inline __u32 loader_state(const struct thread_state *thread)
{
	const struct unwind_space *space = space__find(thread->image);
	__u32 state;

	if (!space && thread->space.base)
		space = space__find(thread->space.base);
	if (!space || !space->r_debug ||
	    bpf_probe_read_user(&state, sizeof(state),
				(void *)(space->r_debug + LOADER_STATE_OFFSET)))
		return LOADER_UNKNOWN;
	return state;
}

/*
 * Counts an unload, unless the hook was called because libraries are loaded. After an unload, other
 * code may soon be mapped at the same addresses, so the known mappings are not trusted until they
 * are read again. If the state was and still is consistent, the hook was called for a list of
 * libraries other than the one whose state is read here; such a call also counts as an unload.
 */
static __always_inline void note_unload(const struct thread_state *thread)
{
	__u32 tgid = current_pids() >> 32;
	struct memleak_target *target = bpf_map_lookup_elem(&targets, &tgid);
	__u32 state = loader_state(thread), before;

	if (!target)
		return;
	before = target->loader_state;
	target->loader_state = state;
	if (state == LOADER_ADD || (state == LOADER_CONSISTENT && before == LOADER_ADD))
		return;
	__sync_fetch_and_add(&target->unloads, 1);
	__sync_fetch_and_add(&targets_generation, 1);
}

/*
 * Handles a call of the dynamic loader's hook: the list of libraries is about to change or has
 * changed, so memleak's loader must read the mappings again.
 */
static __always_inline void enter_libraries(struct pt_regs *ctx, __u32 binding)
{
	struct thread_state *thread = thread__get(binding);
	struct memleak_record *record;

	if (!thread)
		return;
	note_unload(thread);
	record = record__reserve(MEMLEAK_REC_LIBS, thread->image);
	if (record)
		bpf_ringbuf_submit(record, 0);
}

#endif
