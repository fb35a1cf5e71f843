// SPDX-License-Identifier: GPL-2.0-or-later
/* --count: chooses the programs that count, and reads what they have. */
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "loader/cgroups.h"
#include "loader/cleanup.h"
#include "loader/clock.h"
#include "loader/log.h"
#include "loader/multi_link.h"
#include "loader/tracker_figures.h"
#include "loader/user_source_impl.h"

/* Cgroups or processes, at most; others are counted together. */
#define ROWS_MAX 10240
/* The kernel's number of the highest cgroup of each hierarchy. */
#define HIERARCHY_ROOT 1

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
		[MEMLEAK_SHAPE_LIBRARIES] = skel->progs.count_of_libraries,
	};
	int err = 0;

	memcpy(programs->shapes, shapes, sizeof(shapes));
	for (size_t i = 0; i < MEMLEAK_SHAPE_CNT; i++)
		if (shapes[i])
			err |= bpf_program__set_autoload(shapes[i], programs->kind == LINK_SHAPE);
	return err;
}

/* In a namespace of cgroups others are not to be seen. */
static bool is_whole(const char *mount)
{
	struct stat st;

	return mount && !stat(mount, &st) && st.st_ino == HIERARCHY_ROOT;
}

/* Numbers of cgroups are those of one hierarchy. */
static int choose_hierarchy(struct user_count *count, struct memleak_config *config)
{
	bool unified;
	int err = 0;

	count->mount = cgroup_memory_mount(&unified);
	count->mount_whole = is_whole(count->mount);
	config->count_subsys = MEMLEAK_CGROUP_UNIFIED;
	if (!unified)
		err = members_find_subsys("memory", &config->count_subsys);
	if (err)
		log_error("cannot tell cgroups apart: the kernel does not say which is the memory "
			  "controller: %s",
			  strerror(-err));
	else
		log_verbose("cgroups are those of %s", count->mount ? count->mount : "nowhere");
	return err;
}

int user_count__choose(struct user_source *source)
{
	struct user_bpf *skel = source->ctx.skel;
	struct memleak_config *config = (struct memleak_config *)&skel->rodata->config;
	struct probe_programs *programs = &source->ctx.programs;
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
	config->count = source->ctx.opts->count_by;
	config->count_targets = source->ctx.pool != NULL;
	if (!err && config->count == MEMLEAK_COUNT_CGROUP)
		err = choose_hierarchy(&source->count, config);
	return err;
}

int user_count__start(struct user_source *source)
{
	int fd = bpf_map__fd(source->ctx.skel->maps.counts), cpus = libbpf_num_possible_cpus();
	cleanup_free struct memleak_count *zeros = NULL;
	uint64_t others = MEMLEAK_COUNT_OTHERS;

	source->count.counts.by = source->ctx.opts->count_by;
	source->count.last_ns = clock_ns(CLOCK_MONOTONIC);
	if (cpus < 0)
		return cpus;
	zeros = calloc((size_t)cpus, sizeof(*zeros));
	if (!zeros)
		return -ENOMEM;
	return bpf_map_update_elem(fd, &others, zeros, BPF_ANY) ? -errno : 0;
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

static struct count_row *add_row(struct user_count *count, uint64_t key)
{
	struct counts *counts = &count->counts;
	struct count_row *grown;

	if (counts->cnt == count->cap) {
		size_t cap = count->cap ? count->cap * 2 : 64;

		grown = reallocarray(counts->rows, cap, sizeof(*grown));
		if (!grown)
			return NULL;
		counts->rows = grown;
		count->cap = cap;
	}
	grown = &counts->rows[counts->cnt++];
	*grown = (struct count_row){.key = key};
	return grown;
}

/* Those of what had ended before it was read for the last time. */
static void drop_ended(struct user_count *count, int fd)
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

/* A process may have another name by now, if it lives. */
static void name_process(struct count_row *row, const char *met)
{
	cleanup_free char *path = NULL;
	cleanup_fclose FILE *file = NULL;
	char comm[64];

	if (asprintf(&path, "/proc/%" PRIu64 "/comm", row->key) < 0) {
		path = NULL;
		return;
	}
	file = fopen(path, "re");
	if (file && fgets(comm, sizeof(comm), file)) {
		comm[strcspn(comm, "\n")] = '\0';
		met = comm;
	} else if (row->name) {
		return;
	}
	free(row->name);
	row->name = strdup(met);
}

static void name_row(enum memleak_count_by by, struct count_row *row, const char *comm)
{
	const char *function;

	if (row->key == MEMLEAK_COUNT_OTHERS)
		return;
	if (by == MEMLEAK_COUNT_PROCESS)
		name_process(row, comm);
	if (by != MEMLEAK_COUNT_FUNCTION || row->name)
		return;
	function = shape_name((enum memleak_shape)row->key);
	row->name = function ? strdup(function) : NULL;
}

/* Adds up what the CPUs have. */
static void read_row(struct user_count *count, struct count_row *row,
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

static bool is_cgroup_gone(const struct user_count *count, const struct count_row *row)
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

/* row: as it was at the last report; NULL: it is new. */
static bool has_ended(const struct user_count *count, const struct count_row *row, uint64_t key)
{
	if (key == MEMLEAK_COUNT_OTHERS)
		return false;
	if (count->counts.by == MEMLEAK_COUNT_PROCESS)
		return kill((pid_t)key, 0) && errno == ESRCH;
	return row && count->mount && count->counts.by == MEMLEAK_COUNT_CGROUP &&
	       is_cgroup_gone(count, row);
}

static int read_rows(struct user_count *count, int fd, struct memleak_count *values, int cpus)
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
		/* One that was renamed may seem to be gone. */
		row->ended = ended && (count->counts.by == MEMLEAK_COUNT_PROCESS || !row->calls);
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

/* Only if there is a new one: they keep their names when they are gone. */
static void name_cgroups(struct user_count *count)
{
	struct counts *counts = &count->counts;
	bool is_new = false;

	for (size_t i = 0; i < counts->cnt; i++) {
		struct count_row *row = &counts->rows[i];

		is_new |= !row->sought && row->key != MEMLEAK_COUNT_OTHERS;
		row->sought = true;
	}
	if (is_new)
		cgroup_visit_all(count->mount, name_cgroup, counts);
}

int user_count__take(struct user_source *source, struct snapshot *ret)
{
	int fd = bpf_map__fd(source->ctx.skel->maps.counts), cpus = libbpf_num_possible_cpus();
	struct user_count *count = &source->count;
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
	snap.elapsed_ns = snap.t0_ns - source->tracker.start_ns;
	count->counts.interval_ns = snap.t0_ns - count->last_ns;
	count->last_ns = snap.t0_ns;
	drop_ended(count, fd);
	err = read_rows(count, fd, values, cpus);
	if (!err && count->mount)
		name_cgroups(count);
	if (!err)
		err = tracker_figures_read(&source->tracker, &snap);
	for (size_t i = 0; i < count->counts.cnt; i++)
		snap.calls += count->counts.rows[i].total_calls;
	snap.calls += count->counts.ended_calls;
	if (!err)
		*ret = snap;
	return err;
}

void user_count__deinit(struct user_count *count)
{
	for (size_t i = 0; i < count->counts.cnt; i++)
		free(count->counts.rows[i].name);
	free(count->counts.rows);
	free(count->mount);
}
