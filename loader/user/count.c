// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The source of --count: selects the BPF programs that count calls of allocator functions by
 * cgroup, process or function, and reads their table.
 */
#include "loader/user/count.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/proc.h"
#include "bpf/count.h"
#include "loader/probes/multi_link.h"
#include "loader/tables/tracker_stats.h"
#include "loader/tables/translate.h"
#include "loader/target/cgroups.h"
#include "loader/user/symbols.h"
#include "loader/user/tracing.h"
#include "report/counts.h"
#include "report/snapshot_own.h"

/* Maximum number of rows (cgroups or processes). All other cgroups or processes share one row. */
#define ROWS_MAX 10240
/* Inode number of the root cgroup of each hierarchy. */
#define HIERARCHY_ROOT 1

struct count_source {
	struct source source;
	struct tracing tracing;
	struct user_symbols symbols;
	struct counts counts; /* rows of the last report, sorted by key */
	size_t cap;
	uint64_t last_ns;
	char *mount;      /* mount point of the cgroup hierarchy; NULL if not mounted */
	bool mount_whole; /* true if the mount shows all cgroups, not only those of a namespace */
};

static struct count_source *count_source_of(struct source *source)
{
	return (struct count_source *)source;
}

static int choose_shapes(struct user_bpf *skel, struct probe_programs *programs)
{
	struct bpf_program *const shapes[MEMLEAK_SHAPE_CNT] = {
		[MEMLEAK_SHAPE_SIZE] = skel->progs.count_of_size,
		[MEMLEAK_SHAPE_COUNT_SIZE] = skel->progs.count_of_count_size,
		[MEMLEAK_SHAPE_ALIGN_SIZE] = skel->progs.count_of_align_size,
		[MEMLEAK_SHAPE_REALLOC] = skel->progs.count_of_realloc,
		[MEMLEAK_SHAPE_REALLOCARRAY] = skel->progs.count_of_reallocarray,
		[MEMLEAK_SHAPE_POSIX_MEMALIGN] = skel->progs.count_of_posix_memalign,
		[MEMLEAK_SHAPE_FREE] = skel->progs.count_of_free,
		[MEMLEAK_SHAPE_HEAP_COUNT_SIZE] = skel->progs.count_of_heap_count_size,
		[MEMLEAK_SHAPE_HEAP_REALLOC] = skel->progs.count_of_heap_realloc,
		[MEMLEAK_SHAPE_HEAP_REALLOCARRAY] = skel->progs.count_of_heap_reallocarray,
		[MEMLEAK_SHAPE_HEAP_FREE] = skel->progs.count_of_heap_free,
		[MEMLEAK_SHAPE_RESIZE] = skel->progs.count_of_resize,
		[MEMLEAK_SHAPE_HEAP_DESTROY] = skel->progs.count_of_heap_destroy,
		[MEMLEAK_SHAPE_STRING] = skel->progs.count_of_string,
		[MEMLEAK_SHAPE_PATH] = skel->progs.count_of_path,
		[MEMLEAK_SHAPE_HEAP_PATH] = skel->progs.count_of_heap_path,
		[MEMLEAK_SHAPE_REALLOCF] = skel->progs.count_of_reallocf,
		[MEMLEAK_SHAPE_HEAP_REALLOCF] = skel->progs.count_of_heap_reallocf,
		[MEMLEAK_SHAPE_LIBRARIES] = skel->progs.count_of_libraries,
	};
	int err = 0;

	memcpy(programs->shapes, shapes, sizeof(shapes));
	for (size_t i = 0; i < MEMLEAK_SHAPE_CNT; i++)
		if (shapes[i])
			err |= bpf_program__set_autoload(shapes[i], programs->kind == LINK_SHAPE);
	return err;
}

/* True if the mount shows the whole hierarchy. In a cgroup namespace, it shows only a part. */
static bool is_whole(const char *mount)
{
	struct stat st;

	return mount && !stat(mount, &st) && st.st_ino == HIERARCHY_ROOT;
}

/* Selects the cgroup hierarchy whose cgroup ids are the keys of rows. */
static int choose_hierarchy(struct count_source *count, struct memleak_config *config)
{
	bool unified;
	int err = 0;

	count->mount = cgroup_memory_mount(&unified);
	count->mount_whole = is_whole(count->mount);
	config->count_subsys = MEMLEAK_CGROUP_UNIFIED;
	if (!unified)
		err = target_filter_find_subsys("memory", &config->count_subsys);
	if (err)
		log_error("cannot count by cgroup: cannot identify the memory controller: %s",
			  strerror(-err));
	else
		log_verbose("cgroups are those of %s", count->mount ? count->mount : "nowhere");
	return err;
}

static int choose(void *arg, struct user_context *ctx)
{
	static const uint8_t ways[] = {
		[COUNT_BY_NOTHING] = MEMLEAK_COUNT_NOTHING,
		[COUNT_BY_CGROUP] = MEMLEAK_COUNT_CGROUP,
		[COUNT_BY_PROCESS] = MEMLEAK_COUNT_PROCESS,
		[COUNT_BY_FUNCTION] = MEMLEAK_COUNT_FUNCTION,
	};
	struct user_bpf *skel = ctx->skel;
	struct memleak_config *config = (struct memleak_config *)&skel->rodata->config;
	struct probe_programs *programs = &ctx->programs;
	struct bpf_program *program;
	int err = 0;

	bpf_object__for_each_program(program, skel->obj)
	{
		if (strstr(bpf_program__section_name(program), "probe"))
			err |= bpf_program__set_autoload(program, false);
	}
	if (programs->kind == LINK_SESSION)
		programs->kind = LINK_MULTI;
	programs->any = skel->progs.count_any;
	err |= bpf_program__set_autoload(programs->any, programs->kind != LINK_SHAPE);
	if (programs->kind == LINK_MULTI)
		err |= bpf_program__set_expected_attach_type(
			programs->any, (enum bpf_attach_type)MULTI_LINK_ATTACH_TYPE);
	err |= choose_shapes(skel, programs);
	err |= bpf_map__set_max_entries(skel->maps.counts, ROWS_MAX);
	config->count = ways[ctx->opts->count_by];
	config->count_targets = ctx->shared != NULL;
	if (!err && config->count == MEMLEAK_COUNT_CGROUP)
		err = choose_hierarchy(arg, config);
	return err;
}

static int counts_fd(const struct count_source *count)
{
	return bpf_map__fd(count->tracing.programs.ctx.skel->maps.counts);
}

static int count_source__start(struct source *base)
{
	struct count_source *count = count_source_of(base);
	int cpus = libbpf_num_possible_cpus();
	cleanup_free struct memleak_count *zeros = NULL;
	uint64_t others = MEMLEAK_COUNT_OTHERS;

	count->last_ns = clock_ns(CLOCK_MONOTONIC);
	if (cpus < 0)
		return cpus;
	zeros = calloc((size_t)cpus, sizeof(*zeros));
	if (!zeros)
		return -ENOMEM;
	if (bpf_map_update_elem(counts_fd(count), &others, zeros, BPF_ANY))
		return -errno;
	tracing_start(&count->tracing);
	return 0;
}

static int by_key(const void *left, const void *right)
{
	const struct count_row *a = left, *b = right;

	return (a->key > b->key) - (a->key < b->key);
}

static struct count_row *find_row(const struct counts *counts, size_t sorted_cnt, uint64_t key)
{
	const struct count_row wanted = {.key = key};

	return sorted_cnt ? bsearch(&wanted, counts->rows, sorted_cnt, sizeof(wanted), by_key)
			  : NULL;
}

static struct count_row *add_row(struct count_source *count, uint64_t key)
{
	struct counts *counts = &count->counts;
	struct count_row *row;

	if (array_reserve(&counts->rows, &count->cap, counts->cnt + 1))
		return NULL;
	row = &counts->rows[counts->cnt++];
	*row = (struct count_row){.key = key};
	return row;
}

/* Deletes rows of processes and cgroups that had already ended when the rows were last read. */
static void drop_ended(struct count_source *count, int fd)
{
	struct counts *counts = &count->counts;
	size_t kept = 0;

	for (size_t i = 0; i < counts->cnt; i++) {
		if (!counts->rows[i].ended) {
			counts->rows[kept++] = counts->rows[i];
			continue;
		}
		bpf_map_delete_elem(fd, &counts->rows[i].key);
		counts->ended_calls += counts->rows[i].total_calls;
		counts->ended_bytes += counts->rows[i].total_bytes;
		free(counts->rows[i].name);
	}
	counts->cnt = kept;
}

/*
 * Sets the name of a process's row to its current name, which may have changed. last_comm: the name
 * to use if the process has ended.
 */
static void name_process(struct count_row *row, const char *last_comm)
{
	char *comm = proc_comm((pid_t)row->key);

	if (!comm && row->name)
		return;
	free(row->name);
	row->name = comm ? comm : strdup(last_comm);
}

static void name_row(enum count_by by, struct count_row *row, const char *comm)
{
	const char *function;

	if (row->key == COUNT_OTHERS)
		return;
	if (by == COUNT_BY_PROCESS)
		name_process(row, comm);
	if (by != COUNT_BY_FUNCTION || row->name)
		return;
	function = family_name(family_from((enum memleak_shape)row->key));
	row->name = function ? strdup(function) : NULL;
}

/* Updates a row from the current counts of all CPUs. */
static void read_row(struct count_source *count, struct count_row *row,
		     const struct memleak_count *values, int cpus)
{
	uint64_t calls = 0, bytes = 0;
	char comm[MEMLEAK_COMM_SIZE + 1] = "";

	for (int i = 0; i < cpus; i++) {
		calls += values[i].calls;
		bytes += values[i].bytes;
		if (values[i].comm[0])
			memcpy(comm, values[i].comm, MEMLEAK_COMM_SIZE);
	}
	row->calls = calls - row->total_calls;
	row->bytes = bytes - row->total_bytes;
	row->total_calls = calls;
	row->total_bytes = bytes;
	name_row(count->counts.by, row, comm);
}

static bool is_cgroup_gone(const struct count_source *count, const struct count_row *row)
{
	cleanup_free char *path = NULL;
	struct stat st;

	if (!row->name)
		return row->sought && count->mount_whole;
	if (asprintf(&path, "%s%s", count->mount, row->name) < 0) {
		path = NULL;
		return false;
	}
	return stat(path, &st) ? errno == ENOENT : st.st_ino != row->key;
}

/*
 * True if the process or cgroup with this key has ended. row: the row with this key in the last
 * report; NULL if there was none.
 */
static bool has_ended(const struct count_source *count, const struct count_row *row, uint64_t key)
{
	if (key == COUNT_OTHERS)
		return false;
	if (count->counts.by == COUNT_BY_PROCESS)
		return kill((pid_t)key, 0) && errno == ESRCH;
	return row && count->mount && count->counts.by == COUNT_BY_CGROUP &&
	       is_cgroup_gone(count, row);
}

static int read_rows(struct count_source *count, int fd, struct memleak_count *values, int cpus)
{
	size_t sorted_cnt = count->counts.cnt;
	uint64_t key, *before = NULL;

	for (size_t i = 0; i < sorted_cnt; i++)
		count->counts.rows[i].calls = count->counts.rows[i].bytes = 0;
	for (size_t i = 0; i < ROWS_MAX && !bpf_map_get_next_key(fd, before, &key); i++) {
		struct count_row *row = find_row(&count->counts, sorted_cnt, key);
		bool ended = has_ended(count, row, key);

		before = &key;
		if (bpf_map_lookup_elem(fd, &key, values))
			continue;
		if (!row)
			row = add_row(count, key);
		if (!row)
			return -ENOMEM;
		read_row(count, row, values, cpus);
		/*
		 * A renamed cgroup looks as if it had been removed, but its calls are still
		 * counted. So a cgroup with new calls has not ended.
		 */
		row->ended = ended && (count->counts.by == COUNT_BY_PROCESS || !row->calls);
	}
	if (count->counts.cnt)
		qsort(count->counts.rows, count->counts.cnt, sizeof(*count->counts.rows), by_key);
	return 0;
}

static int name_cgroup(void *arg, uint64_t id, const char *path)
{
	struct counts *counts = arg;
	struct count_row *row = find_row(counts, counts->cnt, id);

	if (row && !row->name)
		row->name = strdup(path);
	return 0;
}

/* Reads the names of cgroups if there are new rows. Rows of removed cgroups keep their names. */
static void name_cgroups(struct count_source *count)
{
	struct counts *counts = &count->counts;
	bool is_new = false;

	for (size_t i = 0; i < counts->cnt; i++) {
		struct count_row *row = &counts->rows[i];

		is_new |= !row->sought && row->key != COUNT_OTHERS;
		row->sought = true;
	}
	if (is_new)
		cgroup_visit_all(count->mount, name_cgroup, counts);
}

static void count_source__describe(const struct source *base)
{
	tracing_describe(&((const struct count_source *)base)->tracing);
}

static int count_source__poll_fd(const struct source *base)
{
	return tracing_poll_fd(&((const struct count_source *)base)->tracing);
}

static bool count_source__ended(const struct source *base)
{
	return process_set_ended(&((const struct count_source *)base)->tracing.set);
}

static int count_source__dispatch(struct source *base, const struct event_listener *listener,
				  uint64_t deadline_ns)
{
	return tracing_dispatch(&count_source_of(base)->tracing, deadline_ns);
}

static int count_source__drain(struct source *base, const struct event_listener *listener,
			       uint64_t deadline_ns)
{
	return tracing_drain(&count_source_of(base)->tracing, deadline_ns);
}

static int count_source__read(struct source *base, const struct read_request *request,
			      struct snapshot *ret)
{
	struct count_source *count = count_source_of(base);
	struct tracker *tracker = &count->tracing.programs.tracker;
	int cpus = libbpf_num_possible_cpus();
	cleanup_free struct memleak_count *values = NULL;
	struct snapshot snap = {
		.t0_ns = clock_ns(CLOCK_MONOTONIC),
		.wall_ns = (int64_t)clock_ns(CLOCK_REALTIME),
		.counts = &count->counts,
	};
	int err;

	if (cpus < 0)
		return cpus;
	values = calloc((size_t)cpus, sizeof(*values));
	if (!values)
		return -ENOMEM;
	snap.elapsed_ns = snap.t0_ns - tracker->walker.start_ns;
	count->counts.interval_ns = snap.t0_ns - count->last_ns;
	count->last_ns = snap.t0_ns;
	err = read_rows(count, counts_fd(count), values, cpus);
	if (!err && count->mount)
		name_cgroups(count);
	if (!err)
		err = tracker_stats_read(tracker, &snap);
	for (size_t i = 0; i < count->counts.cnt; i++)
		snap.calls += count->counts.rows[i].total_calls;
	snap.calls += count->counts.ended_calls;
	if (!err)
		err = snapshot_own(&snap);
	if (err)
		snapshot_deinit(&snap);
	else
		*ret = snap;
	return err;
}

static int count_source__maintain(struct source *base, const struct snapshot *snap,
				  bool is_reported)
{
	struct count_source *count = count_source_of(base);

	drop_ended(count, counts_fd(count));
	tracing_maintain(&count->tracing, snap->calls);
	return 0;
}

/* Does nothing: counts have no age, so there is no baseline. */
static uint64_t count_source__set_baseline(struct source *base, uint64_t now_ns)
{
	return 0;
}

static void count_source__free(struct source *base)
{
	struct count_source *count = count_source_of(base);

	user_symbols_deinit(&count->symbols);
	tracing_deinit(&count->tracing);
	for (size_t i = 0; i < count->counts.cnt; i++)
		free(count->counts.rows[i].name);
	free(count->counts.rows);
	free(count->mount);
	free(count);
}

static const struct source_ops count_source_ops = {
	.start = count_source__start,
	.describe = count_source__describe,
	.poll_fd = count_source__poll_fd,
	.dispatch = count_source__dispatch,
	.drain = count_source__drain,
	.ended = count_source__ended,
	.read = count_source__read,
	.maintain = count_source__maintain,
	.set_baseline = count_source__set_baseline,
	.free = count_source__free,
};

int count_source__new(const struct options *opts, struct symbolizer *symbolizer, const pid_t *pids,
		      size_t pid_cnt, uint64_t start_ns, struct source **ret)
{
	struct count_source *count = calloc(1, sizeof(*count));
	const struct tracing_request request = {
		.opts = opts,
		.symbolizer = symbolizer,
		.pids = pids,
		.pid_cnt = pid_cnt,
		.choose = choose,
		.arg = count,
		.start_ns = start_ns,
	};
	int err;

	if (!count)
		return -ENOMEM;
	count->symbols = user_symbols_of(&count->tracing.set);
	count->source = (struct source){&count_source_ops, &count->symbols.backend};
	count->counts.by = opts->count_by;
	err = tracing_init(&count->tracing, &request);
	if (err) {
		count_source__free(&count->source);
		return err;
	}
	*ret = &count->source;
	return 0;
}
