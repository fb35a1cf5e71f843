/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples heap blocks in the steps of --max-overhead, or at a fixed rate without it. Mappings have
 * no steps: they are seldom made, and all of them are recorded.
 */
#ifndef BPF_USER_PROBES_STEPS_BPF_H
#define BPF_USER_PROBES_STEPS_BPF_H

#include "bpf/track.bpf.h"
#include "bpf/user_probes/thread.bpf.h"

/* The present step; the loader changes it while programs run. */
volatile __u32 sampling_step;

/*
 * At the entry of a heap call: sets the step for the call. Draws the countdown again if the step
 * has changed, which adds no bias, since the exponential distribution has no memory.
 */
static __always_inline void step__take(struct thread_state *thread)
{
	__u32 step;

	if (!config.steps)
		return;
	step = sampling_step;
	if (step != thread->step)
		thread->countdown = 0;
	thread->step = step;
	thread->kind |= step << MEMLEAK_STEP_SHIFT;
}

/* True if the call in progress is to be recorded. */
static __always_inline bool step__chooses(struct thread_state *thread)
{
	__u32 step = thread->step & 15;

	if (!config.steps)
		return chosen(thread->size, &thread->countdown);
	if (!wanted(thread->size))
		return false;
	return !step || sampled(thread->size, &thread->countdown,
				config.sample_bytes * MEMLEAK_STEP_TIMES(step - 1));
}

#endif
