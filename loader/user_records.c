// SPDX-License-Identifier: GPL-2.0-or-later
/* What the rings bring: mappings, the life of processes, and the events of -t. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "loader/clock.h"
#include "loader/log.h"
#include "loader/tracker_recycle.h"
#include "loader/user_source_impl.h"

static void handle_exec(struct user_source *source, const struct memleak_record *record)
{
	const struct memleak_members *rule = &source->members.rule;
	struct user_process *process = user_source__process(source, record->image);
	uint32_t image = (uint32_t)record->addr;
	/* Probes are bound to the task that was the leader; another thread has taken its place. */
	bool reattach = record->len;

	user_members__drop(source, record->image);
	/* Of one that ended unseen, whose number another process has. */
	if (!process && !rule->join && !rule->follow)
		return;
	if (!process || process->found) {
		user_members__exec(source, process, record);
		return;
	}
	user_process__exec(&source->ctx, process, image, record->time_ns, reattach);
	process_table_change(&source->processes);
	log_note("process %d runs another program now: %s", process->info.pid, process->info.comm);
	user_source__retry(source);
}

/* Mappings are a list here; no memory for it is a loss like a full ring. */
static void handle_mapping(struct user_process *process, const struct memleak_record *record)
{
	struct range range = {
		.start = record->addr,
		.end = record->addr + record->len,
		.site = record->site,
		.birth_ns = record->time_ns,
		.mapped_size = record->len,
		.kind = record->kind,
		.tid = (pid_t)record->tid,
	};
	pid_t tid = (pid_t)record->tid;
	int err = 0;

	switch (record->type) {
	case MEMLEAK_REC_MAP:
		err = ranges_insert(&process->ranges, &range);
		break;
	case MEMLEAK_REC_TAKE:
		err = ranges_take(&process->ranges, tid, record->addr, record->len,
				  record->flags & MEMLEAK_TAKE_COPY);
		break;
	case MEMLEAK_REC_GONE:
		ranges_forget(&process->ranges, tid);
		break;
	case MEMLEAK_REC_UNTAKE:
		err = ranges_untake(&process->ranges, tid);
		break;
	case MEMLEAK_REC_MOVE:
		err = ranges_move(&process->ranges, tid, record->addr, record->len);
		break;
	}
	if (err)
		process->mappings_lost++;
}

static int handle_record(void *arg, void *data, size_t len)
{
	const struct memleak_record *record = data;
	struct user_source *source = arg;
	struct user_process *process;

	if (len < sizeof(*record))
		return 0;
	switch (record->type) {
	case MEMLEAK_REC_PEAK:
		return 0; /* the total is looked at in any case */
	case MEMLEAK_REC_EXEC:
		handle_exec(source, record);
		return 0;
	case MEMLEAK_REC_NEW:
		user_members__new(source, record, record->image, (uint32_t)record->addr);
		return 0;
	}
	process = user_source__process(source, record->image);
	if (!process)
		return 0; /* an image that is no more */
	switch (record->type) {
	case MEMLEAK_REC_LEFT:
		user_members__leave(source, process);
		break;
	case MEMLEAK_REC_END:
		user_members__end(source, process, (uint32_t)record->addr);
		break;
	case MEMLEAK_REC_FORK:
		log_note("process %d has made a child process (%" PRIu64 "): children are not "
			 "followed",
			 process->info.pid, (uint64_t)record->addr);
		break;
	case MEMLEAK_REC_LIBS:
	case MEMLEAK_REC_CODE:
		process->changed = true;
		break;
	case MEMLEAK_REC_STACKS:
		tracker_recycle(&source->tracker);
		break;
	default:
		handle_mapping(process, record);
	}
	return 0;
}

/* -EAGAIN: it came meanwhile, and others may come faster than they can be told of. */
static int handle_event(void *arg, void *data, size_t len)
{
	const struct memleak_event *event = data;
	struct user_source *source = arg;

	if (len < sizeof(*event))
		return 0;
	if (source->listener)
		user_events__tell(source, user_source__process(source, event->image), event);
	return event->time_ns > source->heirs.heard_ns ? -EAGAIN : 0;
}

int user_records__open(struct user_source *source)
{
	struct user_bpf *skel = source->ctx.skel;

	source->rings =
		ring_buffer__new(bpf_map__fd(skel->maps.records), handle_record, source, NULL);
	if (!source->rings)
		return -errno;
	return ring_buffer__add(source->rings, bpf_map__fd(skel->maps.events), handle_event,
				source);
}

/* However often they were told of: it is what they have mapped now that is read. */
static void refresh_changed(struct user_source *source)
{
	bool retry = false;

	for (size_t i = 0; i < source->processes.cnt; i++) {
		struct user_process *process = source->processes.items[i];

		if (!process->changed)
			continue;
		process->changed = false;
		process->tries = 0;
		user_process__refresh(&source->ctx, process);
		if (process->attached)
			user_process__attach_later(&source->ctx, process);
		retry |= !process->attached;
	}
	if (retry)
		user_source__retry(source);
}

int user_records__consume(struct user_source *source, const struct event_listener *listener)
{
	int err;

	source->listener = listener;
	source->heirs.heard_ns = clock_ns(CLOCK_MONOTONIC);
	err = ring_buffer__consume(source->rings);
	source->listener = NULL;
	refresh_changed(source);
	return err < 0 && err != -EAGAIN ? err : 0;
}

void user_records__finish_stacks(struct user_source *source, size_t most)
{
	struct unwind_late *late = &source->copies.late;

	for (size_t i = 0; late->waiting_cnt && i < source->processes.cnt; i++) {
		struct user_process *process = source->processes.items[i];

		if (!unwind_late_is_waiting(late, process->info.image))
			continue;
		user_process__refresh(&source->ctx, process);
		user_process__finish_late(&source->ctx, process, late, most);
	}
}
