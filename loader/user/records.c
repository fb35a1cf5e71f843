// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the ring buffers of the BPF programs and applies each record to its process. */
#include "loader/user/records.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

/* Applies a record about mappings. If out of memory, counts a lost mapping. */
static void handle_mapping(struct user_process *process, const struct memleak_record *record)
{
	struct range range = {
		.start = record->addr,
		.end = record->addr + record->len,
		.site = record->site,
		.birth_ns = record->time_ns,
		.mapped_size = record->len,
		.kind = record->kind,
		.reserved = record->kind == MEMLEAK_KIND_RESERVE,
		.placed_ns = record->time_ns,
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
		err = ranges_move(&process->ranges, tid, record->addr, record->len,
				  record->time_ns);
		break;
	}
	if (err)
		process->mappings_lost++;
}

static void apply(struct process_set *set, const struct memleak_record *record)
{
	struct user_process *process;

	switch (record->type) {
	/* the main loop calls block_tables_grow() after all records */
	case MEMLEAK_REC_BLOCKS:
	case MEMLEAK_REC_PEAK:
		/* the main loop calls user_peak_watch() in each iteration */
		return;
	case MEMLEAK_REC_EXEC:
		process_set_exec(set, record);
		return;
	case MEMLEAK_REC_NEW:
		process_set_new(set, record, record->image, (uint32_t)record->addr);
		return;
	}
	process = process_set_process(set, record->image);
	if (!process)
		return; /* the image has ended */
	switch (record->type) {
	case MEMLEAK_REC_NO_TARGET:
		process_set_remove(set, process);
		break;
	case MEMLEAK_REC_END:
		process->death = (uint32_t)record->len;
		process_set_end(set, process, (uint32_t)record->addr);
		break;
	case MEMLEAK_REC_FORK:
		log_note("process %d has forked a child process (%" PRIu64
			 "): children are not followed without -f",
			 process->info.pid, (uint64_t)record->addr);
		break;
	case MEMLEAK_REC_SHARER:
		process_set_add_sharer(set, process, (pid_t)record->addr);
		break;
	case MEMLEAK_REC_LIBS:
	case MEMLEAK_REC_CODE:
		process->changed = true;
		break;
	case MEMLEAK_REC_STACKS:
		stack_table_evict(&set->programs->tracker.stacks, &set->programs->tracker.recent);
		break;
	case MEMLEAK_REC_SCRIPT:
		process_set_read_scripts(set, process, record->addr);
		break;
	default:
		handle_mapping(process, record);
	}
}

static unsigned long position(const unsigned long *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

/* True if all records that the ring contained when reading began have been read. */
static bool is_read(const struct records *records)
{
	return (long)(position(records->read_to) - records->until) >= 0;
}

/*
 * Applies a record. Stops (-EAGAIN) at records written after reading began, because new records may
 * arrive faster than they are applied.
 */
static int handle_record(void *arg, void *data, size_t len)
{
	const struct memleak_record *record = data;
	struct records *records = arg;

	if (len >= sizeof(*record)) {
		if (record->time_ns > records->begun_ns)
			records->begun_ns = record->time_ns;
		if (record->type == MEMLEAK_REC_ITEMS)
			item_watches_pause(records->watches, record->addr);
		else
			apply(records->set, record);
	}
	return is_read(records) ? -EAGAIN : 0;
}

static int consume(struct ring_buffer *ring)
{
	int err = ring_buffer__consume(ring);

	return err < 0 && err != -EAGAIN ? err : 0;
}

/*
 * Passes an event to its receiver. Stops (-EAGAIN) at events written after reading began, because
 * new events may arrive faster than they are handled. Unless records->all is set, also stops at the
 * deadline, because symbolizing may be slow.
 */
static int handle_event(void *arg, void *data, size_t len)
{
	const struct memleak_event *event = data;
	struct records *records = arg;

	if (len < sizeof(*event))
		return 0;
	/*
	 * The event's process may have started after the records were read: read new records first.
	 */
	if (event->time_ns > records->begun_ns) {
		records->until = position(records->written_to);
		consume(records->ring);
	}
	if (records->event)
		records->event(records->arg, process_set_process(records->set, event->image),
			       event);
	if (event->time_ns > records->begun_ns)
		return -EAGAIN;
	return records->all || clock_left_ms(records->set->programs->ctx.deadline_ns) ? 0 : -EAGAIN;
}

/*
 * Maps the read and write positions of the ring. The kernel maps them before the data, each in its
 * own page. libbpf has functions for them only since 1.3.
 */
static int map_positions(struct records *records, int fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, fd, 0);

	if (pages == MAP_FAILED)
		return -errno;
	records->read_to = (unsigned long *)pages;
	records->written_to = (unsigned long *)(pages + page);
	return 0;
}

int records_init(struct records *records)
{
	const struct user_bpf *skel = records->set->programs->ctx.skel;
	int fd = bpf_map__fd(skel->maps.records), err = map_positions(records, fd);

	if (err)
		return err;
	records->ring = ring_buffer__new(fd, handle_record, records, NULL);
	if (!records->ring)
		return -errno;
	fd = bpf_map__fd(skel->maps.events);
	records->events = ring_buffer__new(fd, handle_event, records, NULL);
	if (!records->events)
		return -errno;
	err = process_set_watch(records->set, ring_buffer__epoll_fd(records->ring), NULL);
	return err ? err
		   : process_set_watch(records->set, ring_buffer__epoll_fd(records->events), NULL);
}

void records_deinit(struct records *records)
{
	ring_buffer__free(records->ring);
	ring_buffer__free(records->events);
	records->ring = records->events = NULL;
	if (records->read_to)
		munmap(records->read_to, 2 * (size_t)sysconf(_SC_PAGESIZE));
	records->read_to = NULL;
}

/* Sets `changed` of all processes if a record of loaded or unloaded code may have been lost. */
static void find_hints(struct process_set *set)
{
	uint32_t *lost = &set->programs->ctx.skel->bss->hint_lost;

	if (!__atomic_exchange_n(lost, 0, __ATOMIC_ACQ_REL))
		return;
	for (size_t i = 0; i < set->table.cnt; i++)
		set->table.items[i]->changed = true;
}

bool records_are_read(const struct records *records)
{
	return position(records->read_to) == position(records->written_to);
}

/* Reads the records that are in the ring now. */
static int consume_records(struct records *records)
{
	int err;

	records->begun_ns = clock_ns(CLOCK_MONOTONIC);
	records->until = position(records->written_to);
	err = consume(records->ring);
	/*
	 * Records may remain unread: a BPF program that was interrupted while writing a record
	 * blocks all records after it.
	 */
	if (is_read(records))
		records->set->programs->descendants.records_until_ns = records->begun_ns;
	return err;
}

int records_catch_up(struct records *records)
{
	unsigned long before = position(records->read_to);
	int err = consume_records(records);

	/* The records may have set `changed` of processes: read their mappings soon. */
	if (position(records->read_to) != before)
		process_set_retry_soon(records->set);
	return err;
}

int records_consume(struct records *records, bool all)
{
	int err;

	records->all = all;
	find_hints(records->set);
	err = consume_records(records);
	if (!err)
		err = consume(records->events);
	process_set_refresh_changed(records->set);
	return err;
}
