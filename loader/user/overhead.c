// SPDX-License-Identifier: GPL-2.0-or-later
/* Judges the cost of tracing in windows of a second, and applies the step that follows from it. */
#include "loader/user/overhead.h"

#include <errno.h>
#include <stdio.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/test_knobs.h"
#include "loader/tables/tracker_stats.h"
#include "loader/user/cost.h"

/* Units of the option */
#define WHOLE 10000

static bool is_used(const struct overhead *overhead)
{
	return overhead->set;
}

static struct user_programs *programs_of(const struct overhead *overhead)
{
	return overhead->set->programs;
}

static void begin_window(struct overhead *overhead)
{
	overhead->begun = cost_meter_sums(programs_of(overhead)->tracker.object, 0);
	overhead->begun_cpu_ns = user_cost_cpu_ns(overhead->set);
	overhead->begun_ns = clock_ns(CLOCK_MONOTONIC);
}

/*
 * Makes the step take effect. Blocks of the new step may be stored at once, so the reading of
 * blocks learns of the step first.
 */
static void apply(struct overhead *overhead)
{
	const struct sampling_steps *steps = &overhead->steps;
	struct user_programs *programs = programs_of(overhead);

	programs->tracker.coarsest_step = steps->highest;
	if (steps->highest)
		programs->tracker.walker.sampling = (struct sampling){
			SAMPLING_STEPS,
			sampling_steps_distance(steps, steps->highest),
		};
	if (programs->ctx.skel->bss->sampling_step != steps->step)
		log_verbose("sampling step %u of --max-overhead", steps->step);
	programs->ctx.skel->bss->sampling_step = steps->step;
}

static void log_failure(const struct overhead *overhead, double share)
{
	log_note("tracing ends, because it costs %.1f %% of the target's CPU time even with few "
		 "samples, more than the %g %% of --max-overhead: each call of an allocator "
		 "function traps. Allow more, or restart the program with memleak --agent -- "
		 "COMMAND, which uses no traps",
		 share * 100, overhead->steps.most_share * 100);
}

/*
 * Judges the window, unless the processes have used so little CPU time in it that the share would
 * be inexact, and the cost matters to nobody.
 */
static void judge(struct overhead *overhead)
{
	struct sampling_steps *steps = &overhead->steps;
	struct cost_sums ended = cost_meter_sums(programs_of(overhead)->tracker.object, 0);
	uint64_t cpu_ns = user_cost_cpu_ns(overhead->set);
	struct tracing_cost cost = {
		.elapsed_ns = clock_ns(CLOCK_MONOTONIC) - overhead->begun_ns,
		.cpu_ns = cpu_ns - overhead->begun_cpu_ns,
		.ns = cost_meter_ns(&programs_of(overhead)->cost, &overhead->begun, &ended),
	};

	if (overhead->begun_cpu_ns && cpu_ns >= overhead->begun_cpu_ns &&
	    tracing_cost_is_known(&cost)) {
		sampling_steps_judge(steps, tracing_cost_share(&cost));
		if (steps->is_failed)
			log_failure(overhead, tracing_cost_share(&cost));
		apply(overhead);
	}
	begin_window(overhead);
}

/* Takes the step from the file that the test knob names. A step above the coarsest one fails. */
static void take_given(struct overhead *overhead, const char *path)
{
	cleanup_fclose FILE *file = fopen(path, "re");
	unsigned int step;

	if (!file || fscanf(file, "%u", &step) != 1)
		return;
	if (step > overhead->steps.coarsest && !overhead->steps.is_failed) {
		overhead->steps.is_failed = true;
		log_failure(overhead, 1);
	}
	sampling_steps_go_to(&overhead->steps, step);
	apply(overhead);
}

int overhead_begin(struct overhead *overhead, struct process_set *set)
{
	const struct itimerspec each = {{.tv_sec = 1}, {.tv_sec = 1}};
	const struct options *opts = set->programs->ctx.opts;

	if (!opts->max_overhead)
		return 0;
	if (!cost_meter_runs(&set->programs->cost)) {
		log_error("--max-overhead: the cost of tracing cannot be measured; this needs "
			  "Linux 6.6 and CAP_SYS_ADMIN");
		return -EOPNOTSUPP;
	}
	overhead->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	overhead->set = set;
	if (overhead->timer_fd < 0 || timerfd_settime(overhead->timer_fd, 0, &each, NULL))
		return -errno;
	set->programs->cost.times_all = true;
	overhead->steps = sampling_steps_of((double)opts->max_overhead / WHOLE, opts->sample_bytes,
					    set->programs->ctx.skel->rodata->config.sample_bytes);
	apply(overhead);
	begin_window(overhead);
	return process_set_watch(set, overhead->timer_fd, NULL);
}

void overhead_end(struct overhead *overhead)
{
	if (is_used(overhead) && overhead->timer_fd >= 0)
		close(overhead->timer_fd);
}

void overhead_poll(struct overhead *overhead)
{
	const char *given = test_knob(TEST_KNOB_SAMPLING_STEP);
	uint64_t expirations;
	bool is_due;

	if (!is_used(overhead) || overhead->steps.is_failed)
		return;
	is_due = read(overhead->timer_fd, &expirations, sizeof(expirations)) > 0;
	if (given)
		take_given(overhead, given);
	else if (is_due)
		judge(overhead);
}

bool overhead_has_failed(const struct overhead *overhead)
{
	return overhead->steps.is_failed;
}

void overhead_read(const struct overhead *overhead, struct snapshot *snap)
{
	const struct sampling_steps *steps = &overhead->steps;

	snap->cost.most_share = steps->most_share;
	snap->cost.sample_bytes =
		is_used(overhead) ? sampling_steps_distance(steps, steps->step) : 0;
}
