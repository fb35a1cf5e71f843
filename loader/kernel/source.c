// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the kernel source: sets up its programs and makes snapshots. */
#include "loader/kernel/source.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/proc.h"
#include "loader/kernel/caches.h"
#include "loader/kernel/growths.h"
#include "loader/kernel/meminfo.h"
#include "loader/kernel/programs.h"
#include "loader/kernel/symbols.h"
#include "loader/tables/event_stack.h"
#include "loader/tables/tracker_walk.h"
#include "loader/target/cgroups.h"

struct kernel_source {
	struct source source;
	const struct options *opts;
	struct kernel_functions functions;
	struct kernel_programs programs;
	struct kernel_symbols symbols;
	struct tracker tracker;
	struct slab_caches caches; /* /proc/slabinfo when tracing began; empty if unknown */
	struct kernel_sizes sizes; /* sizes of caches and lines of code when tracing began */
	bool compares_caches; /* true to compare the growth of caches with outstanding blocks */
	struct kernel_memory before;  /* kernel memory when tracing began */
	bool compares_vmalloc;        /* true to report vmalloc()'s growth without events */
	uint64_t hooks_missed_before; /* number of events that hooks missed before tracing began */
	struct process *processes;    /* traced processes; their image numbers are index + 1 */
	int *pidfds;                  /* pidfd of each process; -1 if it has ended */
	size_t process_cnt;
	int targets_fd;
	int epoll_fd; /* polls the rings (data is 0) and the pidfds (data is the image number) */
	struct ring_buffer *rings;
	const struct event_listener *listener; /* receiver of events; valid only during dispatch,
						  like the two fields below */
	uint64_t dispatched_ns;                /* start of the dispatch */
	uint64_t deadline_ns;
};

static const char *const event_names[] = {
	[MEMLEAK_KERNEL_KMALLOC] = "kmalloc",
	[MEMLEAK_KERNEL_KFREE] = "kfree",
	[MEMLEAK_KERNEL_CACHE_ALLOC] = "kmem_cache_alloc",
	[MEMLEAK_KERNEL_CACHE_FREE] = "kmem_cache_free",
	[MEMLEAK_KERNEL_PAGE_ALLOC] = "mm_page_alloc",
	[MEMLEAK_KERNEL_PAGE_FREE] = "mm_page_free",
	[MEMLEAK_KERNEL_PERCPU_ALLOC] = "percpu_alloc_percpu",
	[MEMLEAK_KERNEL_PERCPU_FREE] = "percpu_free_percpu",
	[MEMLEAK_KERNEL_BULK_ALLOC] = "kmem_cache_alloc_bulk",
	[MEMLEAK_KERNEL_BULK_FREE] = "kmem_cache_free_bulk",
	[MEMLEAK_KERNEL_RCU_FREE] = "kvfree_call_rcu",
	[MEMLEAK_KERNEL_BULK_PAGES] = "alloc_pages_bulk",
};

_Static_assert(sizeof(event_names) / sizeof(event_names[0]) == MEMLEAK_KERNEL_EVENT_CNT,
	       "each event has a name");

static struct kernel_source *kernel_source_of(struct source *source)
{
	return (struct kernel_source *)source;
}

static int find_stack(struct kernel_source *source, const struct memleak_event *event,
		      struct event_stack *ret)
{
	int err = event_stack_init(&source->tracker, event->stack, ret);

	if (err)
		return err;
	source->symbols.as_of_ns = event->time_ns;
	err = event_stack_name(ret, &source->tracker, &source->symbols.backend, NULL,
			       source->deadline_ns);
	source->symbols.as_of_ns = 0;
	return err;
}

/*
 * Passes an event to the listener. If the event is newer than the start of the dispatch, returns
 * -EAGAIN to end the dispatch: events may arrive faster than they can be printed.
 */
static int handle_event(void *arg, void *data, size_t len)
{
	struct kernel_source *source = arg;
	struct memleak_event event; /* a copy, because the ring buffer is mapped read-only */
	struct event_stack stack = {0};
	struct trace_event trace;

	if (len < sizeof(event) || !source->listener)
		return 0;
	memcpy(&event, data, sizeof(event));
	event.comm[sizeof(event.comm) - 1] = '\0';
	trace = (struct trace_event){
		.wall_ns = clock_wall_of(event.time_ns),
		.is_free = event.type == MEMLEAK_EVENT_FREE,
		.pid = (pid_t)event.tgid,
		.tid = (pid_t)event.tid,
		.comm = event.comm,
		.function = event.function < MEMLEAK_KERNEL_EVENT_CNT ? event_names[event.function]
								      : NULL,
		.addr = event.addr,
		.size = event.size,
	};
	if (source->opts->trace > 1 && !find_stack(source, &event, &stack))
		trace.stack = &stack.shown;
	source->listener->event(source->listener->arg, &trace);
	event_stack_deinit(&stack);
	return event.time_ns > source->dispatched_ns ? -EAGAIN : 0;
}

static void read_caches(struct slab_caches *ret)
{
	cleanup_fclose FILE *file = fopen("/proc/slabinfo", "re");
	int err = file ? slab_caches_read(file, ret) : -errno;

	if (err)
		log_verbose("cannot read /proc/slabinfo: %s", strerror(-err));
}

static struct kernel_memory read_memory(void)
{
	cleanup_fclose FILE *file = fopen("/proc/meminfo", "re");

	return file ? meminfo_read(file) : (struct kernel_memory){0};
}

static int kernel_source__start(struct source *base)
{
	struct kernel_source *source = kernel_source_of(base);
	bool samples = source->opts->sample_bytes || source->opts->sample_rate > 1;
	int err;

	source->hooks_missed_before = kernel_hooks_missed(&source->programs.hooks);
	read_caches(&source->caches);
	err = kernel_sizes_init(&source->caches, &source->sizes);
	if (err)
		return err;
	source->before = read_memory();
	source->compares_caches = !source->programs.hooks.skel && !samples && source->caches.cnt;
	source->compares_vmalloc =
		!source->programs.hooks.pages && !samples && source->before.vmalloc;
	source->tracker.walker.sums_left_out = source->compares_caches || source->compares_vmalloc;
	tracker_start(&source->tracker);
	kernel_programs_start(&source->programs);
	return 0;
}

static void kernel_source__describe(const struct source *base)
{
	const struct kernel_source *source = (const struct kernel_source *)base;

	log_note("tracing kernel allocations%s: %zu probes, by %s programs",
		 source->process_cnt ? " on behalf of the process" : "",
		 source->programs.link_cnt + source->programs.hooks.link_cnt,
		 source->programs.kind);
}

static int kernel_source__poll_fd(const struct source *base)
{
	return ((const struct kernel_source *)base)->epoll_fd;
}

static int watch(struct kernel_source *source, int fd, uint32_t image)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = image};

	return epoll_ctl(source->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/*
 * Stops tracing a process that has ended, as its pid may be reused. Outstanding blocks of the
 * process stay attributed to it.
 */
static void end_process(struct kernel_source *source, uint32_t image)
{
	uint32_t key = (uint32_t)source->processes[image - 1].pid;
	int *pidfd = &source->pidfds[image - 1];

	bpf_map_delete_elem(source->targets_fd, &key);
	close(*pidfd);
	*pidfd = -1;
}

static void end_processes(struct kernel_source *source)
{
	struct epoll_event events[16];
	int cnt = epoll_wait(source->epoll_fd, events, 16, 0);

	for (int i = 0; i < cnt; i++)
		if (events[i].data.u64)
			end_process(source, (uint32_t)events[i].data.u64);
}

static int kernel_source__dispatch(struct source *base, const struct event_listener *listener,
				   uint64_t deadline_ns)
{
	struct kernel_source *source = kernel_source_of(base);
	int err;

	end_processes(source);
	source->listener = listener;
	source->dispatched_ns = clock_ns(CLOCK_MONOTONIC);
	source->deadline_ns = deadline_ns;
	err = ring_buffer__consume(source->rings);
	source->listener = NULL;
	if (err < 0 && err != -EAGAIN)
		return err;
	/*
	 * Evict stacks now: -tt also stores the stacks of frees and of freed blocks, so the table
	 * may fill up before the next report.
	 */
	if (source->opts->trace > 1 && !source->tracker.stacks.watch->is_sent)
		return stack_table_evict(&source->tracker.stacks, &source->tracker.recent);
	return 0;
}

/* The kernel never ends; the user source reports when the traced processes have ended. */
static bool kernel_source__ended(const struct source *base)
{
	return false;
}

/*
 * Lists the slab sites of the walk with all their outstanding blocks, even those not in the
 * snapshot.
 */
static size_t find_cache_users(const struct kernel_source *source, struct cache_user *users)
{
	const struct site_table *table = &source->tracker.walker.sites;
	const struct hash_map_slot *slot = NULL;
	size_t cnt = 0;

	while ((slot = hash_map_next(&table->entries, slot))) {
		struct site_entry *entry = slot->value;
		struct memleak_origin *origin = &entry->origin;

		if (entry->walk != table->walk || entry->kind != MEMLEAK_KIND_SLAB ||
		    !(entry->count + entry->left_out.count))
			continue;
		origin->cache[sizeof(origin->cache) - 1] = '\0';
		users[cnt++] = (struct cache_user){
			.site = entry->id,
			.cache = origin->cache[0] ? origin->cache : NULL,
			.several_caches = origin->several_caches,
			.bytes = entry->bytes + entry->left_out.bytes,
			.count = entry->count + entry->left_out.count,
			.shown = entry->count,
		};
	}
	return cnt;
}

static int by_site(const void *a, const void *b)
{
	const struct cache_user *x = a, *y = b;

	return x->site < y->site ? -1 : x->site > y->site;
}

/* Sets, for each site, the maximum number of blocks that may have been freed without an event. */
static int reconcile(const struct kernel_source *source, const struct slab_caches *now,
		     struct snapshot *snap)
{
	cleanup_free struct cache_user *users =
		calloc(source->tracker.walker.sites.entries.cnt + 1, sizeof(*users));
	size_t cnt = users ? find_cache_users(source, users) : 0;
	int cpus = libbpf_num_possible_cpus();

	if (!users)
		return -ENOMEM;
	snap->beyond_caches = slab_caches_reconcile(&source->caches, now,
						    cpus > 0 ? (size_t)cpus : 1, users, cnt);
	if (cnt)
		qsort(users, cnt, sizeof(*users), by_site);
	for (size_t i = 0; i < snap->site_cnt; i++) {
		struct site *site = &snap->sites[i];
		size_t at = bisect_below(users, cnt, site, site->id);

		if (at < cnt && users[at].site == site->id)
			site->origin.unseen_frees = users[at].unseen_frees;
	}
	return 0;
}

/* Compares the sizes of caches and lines of code with their sizes when tracing began. */
static int compare_sizes(const struct kernel_source *source, struct snapshot *snap)
{
	struct slab_caches caches = {0};
	struct kernel_sizes now = {0};
	int err;

	read_caches(&caches);
	err = kernel_sizes_init(&caches, &now);
	if (!err)
		err = kernel_sizes_compare(&source->sizes, &now, snap);
	if (!err && source->compares_caches)
		err = reconcile(source, &caches, snap);
	kernel_sizes_deinit(&now);
	slab_caches_deinit(&caches);
	return err;
}

/*
 * Returns by how many bytes vmalloc()'s memory has grown since tracing began, beyond its known
 * outstanding blocks. Without hooks, pages that vmalloc() allocates in bulk have no events.
 */
static uint64_t hidden_vmalloc(const struct kernel_source *source, uint64_t now)
{
	const struct site_table *table = &source->tracker.walker.sites;
	const struct hash_map_slot *slot = NULL;
	uint64_t shown = source->before.vmalloc;

	if (!source->compares_vmalloc)
		return 0;
	while ((slot = hash_map_next(&table->entries, slot))) {
		const struct site_entry *entry = slot->value;

		if (entry->walk == table->walk && entry->kind == MEMLEAK_KIND_PAGE &&
		    kernel_functions_vmalloc(&source->functions, entry->frames, entry->frame_cnt))
			shown += entry->bytes + entry->left_out.bytes;
	}
	return now > shown ? now - shown : 0;
}

/* Marks sites of the page cache as reclaimable, which their allocation flags do not always show. */
static void find_page_cache(const struct kernel_source *source, struct snapshot *snap)
{
	for (size_t i = 0; i < snap->site_cnt; i++) {
		struct site *site = &snap->sites[i];

		if (site->kind == KIND_PAGE &&
		    kernel_functions_page_cache(&source->functions, site->frames, site->frame_cnt))
			site->origin.reclaimable = true;
	}
}

static int kernel_source__read(struct source *base, const struct read_request *request,
			       struct snapshot *ret)
{
	struct kernel_source *source = kernel_source_of(base);
	struct tracker_walk walk;
	struct snapshot snap;
	int err;

	source->tracker.page_offset = *source->programs.switches.direct_map;
	source->tracker.walker.read_until_ns = request->read_until_ns;
	err = tracker_walk_begin(&source->tracker, clock_ns(CLOCK_MONOTONIC), &walk, &snap);
	err = tracker_walk_end(&walk, err, &snap);
	if (err)
		return err;
	snap.lost[LOSS_RECURSION] +=
		kernel_hooks_missed(&source->programs.hooks) - source->hooks_missed_before;
	snap.frees_hidden = !source->programs.hooks.skel;
	find_page_cache(source, &snap);
	snap.kernel_memory_before = source->before;
	snap.kernel_memory = read_memory();
	snap.vmalloc_hidden = hidden_vmalloc(source, snap.kernel_memory.vmalloc);
	err = compare_sizes(source, &snap);
	if (err) {
		snapshot_deinit(&snap);
		return err;
	}
	*ret = snap;
	return 0;
}

static uint64_t kernel_source__set_baseline(struct source *base, uint64_t now_ns)
{
	return tracker_set_baseline(&kernel_source_of(base)->tracker, now_ns);
}

static int kernel_source__maintain(struct source *base, const struct snapshot *snap,
				   bool is_reported)
{
	return tracker_reported(&kernel_source_of(base)->tracker, snap);
}

static bool find_owner(void *arg, uint32_t image, struct block_owner *ret)
{
	const struct kernel_source *source = arg;

	*ret = (struct block_owner){0};
	if (image > source->process_cnt)
		return false;
	if (image)
		ret->process = &source->processes[image - 1];
	return true;
}

static size_t skip_frames(void *arg, const uint64_t *frames, size_t cnt)
{
	const struct kernel_source *source = arg;

	return kernel_functions_tracing_frames(&source->functions, frames, cnt);
}

static int read_functions(struct kernel_source *source)
{
	cleanup_fclose FILE *file = fopen("/proc/kallsyms", "re");
	int err = file ? kernel_functions_read(file, &source->functions) : -errno;

	if (err && err != -ENOMEM)
		log_verbose("cannot read /proc/kallsyms: %s", strerror(-err));
	return err == -ENOMEM ? err : 0;
}

/*
 * Adds a process to the targets. A process that has already ended is not added, but still has an
 * image number.
 */
static int add_target(struct kernel_source *source, uint32_t image, pid_t pid)
{
	struct memleak_target target = {.image = image};
	uint32_t key = (uint32_t)pid;
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	source->pidfds[image - 1] = pidfd;
	if (pidfd < 0)
		return errno == ESRCH ? 0 : -errno;
	if (bpf_map_update_elem(source->targets_fd, &key, &target, BPF_ANY))
		return -errno;
	return watch(source, pidfd, image);
}

static int add_processes(struct kernel_source *source, const pid_t *pids, size_t cnt)
{
	int err = 0;

	source->targets_fd = bpf_object__find_map_fd_by_name(source->programs.object, "targets");
	source->processes = calloc(cnt + 1, sizeof(*source->processes));
	source->pidfds = calloc(cnt + 1, sizeof(*source->pidfds));
	if (!source->processes || !source->pidfds)
		return -ENOMEM;
	for (size_t i = 0; !err && i < cnt; i++) {
		uint32_t image = (uint32_t)i + 1;
		struct process *process = &source->processes[i];

		*process = (struct process){image, pids[i], proc_comm(pids[i]), NULL};
		if (!process->comm)
			process->comm = strdup("?");
		if (options_want_cgroups(source->opts))
			process->cgroup = cgroup_of_process(pids[i]);
		source->pidfds[i] = -1;
		source->process_cnt++;
		err = process->comm ? add_target(source, image, pids[i]) : -ENOMEM;
	}
	return err;
}

static int open_rings(struct kernel_source *source)
{
	int fd = bpf_object__find_map_fd_by_name(source->programs.object, "events");

	source->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (source->epoll_fd < 0)
		return -errno;
	source->rings = ring_buffer__new(fd, handle_event, source, NULL);
	return source->rings ? watch(source, ring_buffer__epoll_fd(source->rings), 0) : -errno;
}

static void kernel_source__free(struct source *base)
{
	struct kernel_source *source = kernel_source_of(base);

	if (!source)
		return;
	kernel_programs_deinit(&source->programs);
	ring_buffer__free(source->rings);
	kernel_symbols_deinit(&source->symbols);
	tracker_deinit(&source->tracker);
	slab_caches_deinit(&source->caches);
	kernel_sizes_deinit(&source->sizes);
	for (size_t i = 0; i < source->process_cnt; i++) {
		free(source->processes[i].comm);
		free(source->processes[i].cgroup);
		if (source->pidfds[i] >= 0)
			close(source->pidfds[i]);
	}
	free(source->processes);
	free(source->pidfds);
	if (source->epoll_fd >= 0)
		close(source->epoll_fd);
	free(source);
}

static const struct source_ops kernel_source_ops = {
	.start = kernel_source__start,
	.describe = kernel_source__describe,
	.poll_fd = kernel_source__poll_fd,
	.dispatch = kernel_source__dispatch,
	.drain = kernel_source__dispatch,
	.ended = kernel_source__ended,
	.read = kernel_source__read,
	.set_baseline = kernel_source__set_baseline,
	.maintain = kernel_source__maintain,
	.free = kernel_source__free,
};

static int set_up(struct kernel_source *source, struct symbolizer *symbolizer, const pid_t *pids,
		  size_t pid_cnt)
{
	int err = read_functions(source);

	if (!err)
		err = kernel_symbols_init(&source->symbols, symbolizer);
	if (!err)
		err = kernel_programs_init(source->opts, &source->functions, pid_cnt,
					   &source->programs);
	if (!err)
		err = open_rings(source);
	if (!err)
		err = add_processes(source, pids, pid_cnt);
	if (err)
		return err;
	source->source.symbols = &source->symbols.backend;
	source->tracker = (struct tracker){
		.walker = {.opts = source->opts,
			   .space = SPACE_KERNEL,
			   .owner = find_owner,
			   .arg = source,
			   .blocks_have_pids = !pid_cnt && !options_want_threads(source->opts)},
		.object = source->programs.object,
		.skip_frames = skip_frames,
		.may_miss = kernel_programs_is_second,
	};
	return tracker_init(&source->tracker, source->programs.stack_depth,
			    source->programs.switches.stack_watch);
}

int kernel_source__new(const struct options *opts, struct symbolizer *symbolizer, const pid_t *pids,
		       size_t pid_cnt, struct source **ret)
{
	struct kernel_source *source = calloc(1, sizeof(*source));
	int err;

	if (!source)
		return -ENOMEM;
	source->source.ops = &kernel_source_ops;
	source->opts = opts;
	source->epoll_fd = -1;
	err = set_up(source, symbolizer, pids, pid_cnt);
	if (err) {
		kernel_source__free(&source->source);
		return err;
	}
	*ret = &source->source;
	return 0;
}
