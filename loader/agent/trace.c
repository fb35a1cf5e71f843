// SPDX-License-Identifier: GPL-2.0-or-later
/* Polls the ring buffers every 5 ms, as traced programs do not wake memleak. */
#include "loader/agent/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "bpf/memleak.h"
#include "loader/agent/counts.h"
#include "loader/tables/translate.h"
#include "report/naming.h"
#include "report/terms.h"

#define LOOK_NS 5000000L
/* Maximum number of traced calls handled per poll, so that other work is not delayed. */
#define EVENTS_AT_ONCE 8192
/*
 * Maximum number of traced calls handled per report, in case programs write faster than memleak
 * reads.
 */
#define EVENTS_MOST (1U << 23)
/* Maximum time to find the names for a new stack, in nanoseconds. */
#define NAMING_NS 1000000000ULL

int agent_trace_init(struct agent_trace *trace)
{
	const struct itimerspec each = {.it_interval.tv_nsec = LOOK_NS,
					.it_value.tv_nsec = LOOK_NS};

	trace->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return trace->timer_fd < 0 || timerfd_settime(trace->timer_fd, 0, &each, NULL) ? -errno : 0;
}

void agent_trace_deinit(struct agent_trace *trace)
{
	if (trace->timer_fd >= 0)
		close(trace->timer_fd);
}

/* Next traced call of a process; `process` is NULL if there is none. */
struct head {
	struct agent_process *process;
	struct account_traced traced;
};

static bool look(struct agent_process *process, struct head *ret)
{
	bool found = account_view_traced(&process->view, process->ended, &ret->traced);

	ret->process = found ? process : NULL;
	return found;
}

/*
 * True if the size filter accepts the call. Accepts all frees, like the BPF programs, which cannot
 * filter frees by size: they do not know the sizes of blocks that they have not recorded.
 */
static bool is_wanted(const struct options *opts, const struct account_traced *traced)
{
	return (traced->flags & ACCOUNT_TRACED_FREE) ||
	       (traced->size >= opts->min_size && traced->size <= opts->max_size);
}

static int emit(struct agent_trace *trace, const struct event_listener *listener,
		const struct head *head)
{
	const struct sym_location *locations[MEMLEAK_MAX_STACK_DEPTH];
	uint64_t frames[MEMLEAK_MAX_STACK_DEPTH];
	const struct account_traced *traced = &head->traced;
	struct agent_process *process = head->process;
	unsigned int end = UNWIND_END_UNKNOWN;
	struct site site = {.space = SPACE_USER, .process = &process->info, .frames = frames};
	const struct site *sites[] = {&site};
	struct report_site shown = {.site = &site, .locations = locations};
	bool is_call = traced->call < ACCOUNT_CALL_CNT;
	struct trace_event event = {
		.wall_ns = clock_wall_of(traced->time_ns),
		.is_free = traced->flags & ACCOUNT_TRACED_FREE,
		.pid = process->info.pid,
		.tid = (pid_t)account_view_tid(&process->view, traced->thread),
		.comm = process->info.comm,
		.function = family_name(is_call ? family_of_call(traced->call) : FAMILY_FREE),
		.addr = traced->addr,
		.size = traced->size == ACCOUNT_SIZE_UNKNOWN ? SIZE_UNKNOWN : traced->size,
	};

	if (trace->opts->trace > 1) {
		site.frame_cnt = agent_process__stack(process, trace->files, traced->stack,
						      trace->opts, frames, &end);
		site.end = stack_end_from(end);
		if (site.frame_cnt &&
		    trace->symbols->prepare(trace->symbols, sites, 1,
					    clock_ns(CLOCK_MONOTONIC) + NAMING_NS))
			return -ENOMEM;
		report_site_name(NULL, trace->symbols, NULL, &shown);
		event.stack = &shown;
	}
	listener->event(listener->arg, &event);
	return 0;
}

static struct head *earliest(struct head *heads, size_t cnt)
{
	struct head *first = NULL;

	for (size_t i = 0; i < cnt; i++)
		if (heads[i].process && (!first || heads[i].traced.time_ns < first->traced.time_ns))
			first = &heads[i];
	return first;
}

int agent_trace_take(struct agent_trace *trace, const struct agent_processes *processes,
		     const struct event_listener *listener, bool all)
{
	cleanup_free struct head *heads = calloc(processes->cnt + 1, sizeof(*heads));
	struct head *head = NULL;
	size_t cnt = 0, emitted_cnt = 0, most = all ? EVENTS_MOST : EVENTS_AT_ONCE;
	uint64_t times, now_ns = clock_ns(CLOCK_MONOTONIC);
	int err = 0;

	if (!heads)
		return -ENOMEM;
	for (size_t i = 0; i < processes->cnt; i++)
		cnt += look(processes->items[i], &heads[cnt]);
	while (!err && (head = earliest(heads, cnt)) && (!all || head->traced.time_ns < now_ns) &&
	       emitted_cnt++ < most) {
		if (listener->event && is_wanted(trace->opts, &head->traced))
			err = emit(trace, listener, head);
		account_view_take_traced(&head->process->view);
		look(head->process, head);
	}
	if (!head && read(trace->timer_fd, &times, sizeof(times)) < 0)
		times = 0;
	return err;
}
