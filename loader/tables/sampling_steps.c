// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the step: a higher one at once if the cost is too high, a lower one after some patience.
 */
#include "loader/tables/sampling_steps.h"

#include "bpf/exponential.h"
#include "bpf/memleak.h"

/* A cost below this part of the maximum is low. */
#define LOW 0.75

/*
 * Number of successive windows with a low cost before a step down. It is doubled each time that the
 * step down turns out to cost too much.
 */
#define PATIENCE 5
#define PATIENCE_MAX 320

/* Number of windows in which the coarsest step costs too much before it counts as failed */
#define FAILED_AFTER 10

struct sampling_steps sampling_steps_of(double most_share, uint64_t sample_bytes, uint64_t mean)
{
	struct sampling_steps steps = {
		.most_share = most_share,
		.mean = mean,
		.finest = sample_bytes ? 1 : 0,
		.coarsest = 1,
		.patience = PATIENCE,
	};

	while (steps.coarsest < MEMLEAK_STEP_MAX &&
	       sampling_steps_distance(&steps, steps.coarsest + 1) <= EXPONENTIAL_MAX_MEAN)
		steps.coarsest++;
	steps.step = steps.highest = steps.finest;
	return steps;
}

uint64_t sampling_steps_distance(const struct sampling_steps *steps, unsigned int step)
{
	return step ? steps->mean * MEMLEAK_STEP_TIMES(step - 1) : 0;
}

void sampling_steps_go_to(struct sampling_steps *steps, unsigned int step)
{
	steps->step = step < steps->coarsest ? step : steps->coarsest;
	if (steps->step > steps->highest)
		steps->highest = steps->step;
	steps->low_cnt = steps->over_cnt = 0;
}

static void go_up(struct sampling_steps *steps)
{
	if (steps->step == steps->coarsest) {
		steps->low_cnt = 0;
		steps->is_failed |= ++steps->over_cnt >= FAILED_AFTER;
		return;
	}
	if (steps->stepped_down && steps->patience < PATIENCE_MAX)
		steps->patience *= 2;
	steps->stepped_down = false;
	sampling_steps_go_to(steps, steps->step + 1);
}

static void go_down(struct sampling_steps *steps)
{
	sampling_steps_go_to(steps, steps->step - 1);
	steps->stepped_down = true;
	steps->since_cnt = 0;
}

void sampling_steps_judge(struct sampling_steps *steps, double share)
{
	/* A step down that has lasted is no failed attempt. */
	if (steps->stepped_down && ++steps->since_cnt > steps->patience) {
		steps->stepped_down = false;
		steps->patience = PATIENCE;
	}
	if (share > steps->most_share) {
		go_up(steps);
		return;
	}
	steps->over_cnt = 0;
	steps->low_cnt = share < LOW * steps->most_share ? steps->low_cnt + 1 : 0;
	if (steps->low_cnt >= steps->patience && steps->step > steps->finest)
		go_down(steps);
}
