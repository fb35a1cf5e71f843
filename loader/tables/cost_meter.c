// SPDX-License-Identifier: GPL-2.0-or-later
/* Estimates the cost of a call from the kernel's run times of BPF programs. */
#include "loader/tables/cost_meter.h"

#include <bpf/bpf.h>
#include <unistd.h>

/* Minimum calls for an estimate of the cost of a call */
#define LEAST_CALLS 100

/*
 * Maximum periods between reports in which calls are timed. More than one, because most stacks in
 * the first period are new and slow to walk.
 */
#define WINDOWS_MAX 2

int cost_meter_open(void)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

	return fd < 0 ? -1 : fd;
}

void cost_meter_init(struct cost_meter *meter)
{
	*meter = (struct cost_meter){.stats_fd = -1};
}

void cost_meter_deinit(struct cost_meter *meter)
{
	if (meter->stats_fd >= 0)
		close(meter->stats_fd);
	meter->stats_fd = -1;
}

struct cost_sums cost_meter_sums(const struct bpf_object *object, uint64_t calls)
{
	struct cost_sums sums = {.calls = calls};
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, object)
	{
		struct bpf_prog_info info = {0};
		uint32_t len = sizeof(info);

		if (bpf_program__fd(prog) < 0 ||
		    bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len))
			continue;
		sums.run_ns += info.run_time_ns;
		sums.runs += bpf_program__type(prog) == BPF_PROG_TYPE_KPROBE ? info.run_cnt : 0;
	}
	return sums;
}

bool cost_meter_runs(const struct cost_meter *meter)
{
	return meter->trap_ns && (meter->stats_fd >= 0 || meter->call_ns > 0);
}

void cost_meter_begin(struct cost_meter *meter, const struct bpf_object *object,
		      const struct tracing_cost *sums)
{
	meter->reported = *sums;
	if (cost_meter_runs(meter))
		meter->begun = cost_meter_sums(object, sums->calls);
}

void cost_meter_take(struct cost_meter *meter, const struct bpf_object *object, uint64_t calls)
{
	struct cost_sums ended;

	if (meter->stats_fd < 0)
		return;
	ended = cost_meter_sums(object, calls);
	cost_meter_judge(meter, &meter->begun, &ended);
	meter->begun = ended;
	if (++meter->windows == WINDOWS_MAX && !meter->times_all)
		cost_meter_deinit(meter);
}

/*
 * Each run of a BPF program counts as one trap, whether at the entry of a function or at its
 * return: both kinds of traps cost about the same.
 */
uint64_t cost_meter_ns(const struct cost_meter *meter, const struct cost_sums *begun,
		       const struct cost_sums *ended)
{
	return ended->run_ns - begun->run_ns + (ended->runs - begun->runs) * meter->trap_ns;
}

void cost_meter_judge(struct cost_meter *meter, const struct cost_sums *begun,
		      const struct cost_sums *ended)
{
	uint64_t calls = ended->calls - begun->calls, ns = cost_meter_ns(meter, begun, ended);

	meter->ns += ns;
	if (calls >= LEAST_CALLS && ended->runs > begun->runs)
		meter->call_ns = (double)ns / (double)calls;
}

struct tracing_cost cost_meter_report(struct cost_meter *meter, const struct tracing_cost *sums)
{
	const struct tracing_cost *before = &meter->reported;
	uint64_t calls = sums->calls - before->calls;

	meter->now = *sums;
	if (meter->times_all)
		meter->now.ns = meter->ns;
	if (meter->call_ns <= 0 || sums->cpu_ns < before->cpu_ns ||
	    (before->elapsed_ns && !before->cpu_ns))
		return (struct tracing_cost){0};
	return (struct tracing_cost){
		.calls = calls,
		.elapsed_ns = sums->elapsed_ns - before->elapsed_ns,
		.cpu_ns = sums->cpu_ns - before->cpu_ns,
		.ns = meter->times_all ? meter->now.ns - before->ns
				       : (uint64_t)((double)calls * meter->call_ns),
		.trap_ns = sums->trap_ns - before->trap_ns,
		.is_least = sums->is_least,
	};
}

void cost_meter_reported(struct cost_meter *meter)
{
	meter->reported = meter->now;
}
