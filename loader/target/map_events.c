// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens a perf event for mappings on each CPU, and applies the records of all CPUs to the table of
 * images in order of time.
 */
#include "loader/target/map_events.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "loader/target/event_ring.h"
#include "loader/target/map_record.h"

/*
 * Maximum ring size per CPU: the size that may be locked without privilege. Starting a program
 * writes about 1 KiB of records.
 */
#define RING_BYTES_MAX ((size_t)512 << 10)
/* Maximum total size of the rings of all CPUs. */
#define RINGS_BYTES_MAX ((size_t)64 << 20)

/* Maximum memory for the mappings of all images: enough for a hundred thousand programs. */
#define IMAGES_BYTES_MAX ((size_t)128 << 20)

#define NO_TIME UINT64_MAX

struct cpu_ring {
	int fd;
	struct event_ring ring;
	struct event_ring_copy *copy;
	const struct perf_event_header *next; /* next record; NULL if the ring is empty */
	uint64_t next_ns;
	uint64_t last_ns; /* time of the previous record */
};

struct map_events {
	int epoll_fd;
	struct cpu_ring *rings;
	size_t ring_cnt;
	size_t ring_bytes;
	struct image_table images;
};

static int open_event(int cpu, size_t ring_bytes)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.exclude_kernel = 1,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(ring_bytes / 4),
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static int open_ring(struct map_events *events, int cpu)
{
	struct epoll_event readable = {.events = EPOLLIN, .data.u64 = events->ring_cnt};
	struct cpu_ring *cpu_ring = &events->rings[events->ring_cnt];
	int fd = open_event(cpu, events->ring_bytes);
	void *base;

	if (fd < 0)
		return fd;
	base = mmap(NULL, page_bytes() + events->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    0);
	if (base == MAP_FAILED) {
		int err = -errno;

		close(fd);
		return err;
	}
	*cpu_ring = (struct cpu_ring){
		.fd = fd,
		.ring =
			{
				.control = base,
				.data = (const uint8_t *)base + page_bytes(),
				.data_bytes = events->ring_bytes,
			},
		.copy = malloc(sizeof(*cpu_ring->copy)),
	};
	events->ring_cnt++;
	if (!cpu_ring->copy)
		return -ENOMEM;
	return epoll_ctl(events->epoll_fd, EPOLL_CTL_ADD, fd, &readable) ? -errno : 0;
}

static int open_rings(struct map_events *events)
{
	size_t online_cnt = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	int cpu_cnt = libbpf_num_possible_cpus(), err = 0;

	events->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (events->epoll_fd < 0)
		return -errno;
	if (cpu_cnt < 0)
		return cpu_cnt;
	events->rings = calloc((size_t)cpu_cnt, sizeof(*events->rings));
	if (!events->rings)
		return -ENOMEM;
	events->ring_bytes = RING_BYTES_MAX;
	while (events->ring_bytes * online_cnt > RINGS_BYTES_MAX &&
	       events->ring_bytes > 16 * page_bytes())
		events->ring_bytes /= 2;
	for (int cpu = 0; !err && cpu < cpu_cnt; cpu++) {
		err = open_ring(events, cpu);
		/* -ENODEV: the CPU is offline */
		if (err == -ENODEV)
			err = 0;
	}
	return err || events->ring_cnt ? err : -ENODEV;
}

int map_events__new(struct map_events **ret)
{
	struct map_events *events = calloc(1, sizeof(*events));
	int err;

	if (!events)
		return -ENOMEM;
	image_table_init(&events->images, IMAGES_BYTES_MAX);
	err = open_rings(events);
	if (err) {
		map_events__free(events);
		return err;
	}
	*ret = events;
	return 0;
}

void map_events__free(struct map_events *events)
{
	if (!events)
		return;
	for (size_t i = 0; i < events->ring_cnt; i++) {
		munmap(events->rings[i].ring.control, page_bytes() + events->ring_bytes);
		close(events->rings[i].fd);
		free(events->rings[i].copy);
	}
	free(events->rings);
	if (events->epoll_fd >= 0)
		close(events->epoll_fd);
	image_table_deinit(&events->images);
	free(events);
}

int map_events__poll_fd(const struct map_events *events)
{
	return events->epoll_fd;
}

/*
 * Removes the events of offline CPUs from epoll, because their descriptors would stay readable
 * forever.
 */
static void drop_hung_up(struct map_events *events)
{
	struct epoll_event ready[16];
	int cnt;

	cnt = epoll_wait(events->epoll_fd, ready, sizeof(ready) / sizeof(*ready), 0);
	for (int i = 0; i < cnt; i++)
		if (ready[i].events & (EPOLLHUP | EPOLLERR))
			epoll_ctl(events->epoll_fd, EPOLL_CTL_DEL,
				  events->rings[ready[i].data.u64].fd, NULL);
}

static void look_at_next(struct map_events *events, struct cpu_ring *ring)
{
	uint64_t broken = 0;

	ring->next = event_ring_peek(&ring->ring, ring->copy, &broken);
	ring->next_ns = ring->next ? map_record_time(ring->next, ring->next->size) : NO_TIME;
	if (broken)
		image_table_lose(&events->images, ring->last_ns);
}

static void apply_next(struct map_events *events, struct cpu_ring *ring, uint64_t to_wall_ns)
{
	struct map_record record;

	if (!map_record_parse(ring->next, ring->next->size, &record) ||
	    record.kind == MAP_RECORD_LOST)
		image_table_lose(&events->images, ring->last_ns);
	else
		image_table_apply(&events->images, &record, (int64_t)(record.time_ns + to_wall_ns));
	ring->last_ns = ring->next_ns;
	event_ring_skip(&ring->ring, ring->next->size);
	look_at_next(events, ring);
}

static struct cpu_ring *earliest(struct map_events *events)
{
	struct cpu_ring *first = &events->rings[0];

	for (size_t i = 1; i < events->ring_cnt; i++)
		if (events->rings[i].next_ns < first->next_ns)
			first = &events->rings[i];
	return first;
}

void map_events__consume(struct map_events *events)
{
	/*
	 * Apply only records written until now, because later records could be applied in the wrong
	 * order: rings are read one after another, so a record that arrives just after its ring was
	 * read is missed, although a newer record in the next ring is found.
	 */
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t to_wall_ns = clock_ns(CLOCK_REALTIME) - until_ns;
	struct cpu_ring *ring;

	drop_hung_up(events);
	for (size_t i = 0; i < events->ring_cnt; i++)
		look_at_next(events, &events->rings[i]);
	while ((ring = earliest(events))->next_ns <= until_ns)
		apply_next(events, ring, to_wall_ns);
}

int map_events__maps(const struct map_events *events, pid_t pid, uint64_t at_ns,
		     struct proc_maps *ret)
{
	const struct image *image = image_table_find(&events->images, pid, at_ns);

	return image ? image_maps(image, ret) : -ENOENT;
}

const char *map_events__comm(const struct map_events *events, pid_t pid, uint64_t at_ns)
{
	const struct image *image = image_table_find(&events->images, pid, at_ns);

	return image && *image_comm(image) ? image_comm(image) : NULL;
}

void map_events__forget(struct map_events *events, pid_t pid)
{
	image_table_forget(&events->images, pid);
}
