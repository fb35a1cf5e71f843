// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes snapshots of the user source from the tracker's tables and the loader's mappings. */
#include "loader/user/snapshot.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "bpf/summary.h"
#include "loader/tables/tracker_sites.h"
#include "loader/tables/tracker_walk.h"
#include "loader/tables/translate.h"
#include "loader/target/footprint.h"
#include "loader/target/shared_files.h"
#include "loader/user/descriptors.h"

struct mapping_walk {
	struct tracker_walk *walk;
	const struct user_process *process;
};

static int walk_mapping(void *arg, const struct range_block *found)
{
	const struct mapping_walk *at = arg;
	const struct user_process *process = at->process;
	const struct block_owner owner = {.process = &process->info,
					  .ended = process->ended || process->at_end};
	const struct range *range = found->range;
	const struct block block = {
		.addr = found->addr,
		.size = found->bytes,
		.sampled_size = range->mapped_size,
		.tid = range->tid,
	};
	uint64_t site = range->site;

	if (found->kind != (range->reserved ? MEMLEAK_KIND_RESERVE : range->kind))
		site = tracker_sites_of_kind(at->walk->tracker, site, found->kind);
	if (!site)
		return -ENOMEM;
	return (range->descendant_of ? tracker_walk_inherit : tracker_walk_add)(
		at->walk, &owner, site, &block, range->birth_ns);
}

static int walk_mappings(struct tracker_walk *walk, const struct user_process *process)
{
	struct mapping_walk at = {walk, process};

	return ranges_visit(&process->ranges, walk_mapping, &at);
}

/*
 * Reads the sums of a process. BPF programs may update the sums while this function reads them, so
 * a block may already be in one sum and not yet in another.
 */
static void fill_summary(const struct memleak_summary *sums, struct process_summary *ret)
{
	ret->allocated = sums->allocated;
	ret->outstanding = sums->outstanding;
	if (ret->outstanding > ret->allocated)
		ret->outstanding = ret->allocated;
	ret->freed = ret->allocated - ret->outstanding;
	ret->peak = sums->peak;
	ret->largest = sums->largest;
	ret->calls = calls_from((const uint64_t *)sums->calls, ret->calls_of);
}

static int take_summaries(const struct process_set *set, struct snapshot *snap)
{
	snap->summaries = calloc(set->table.cnt + 1, sizeof(*snap->summaries));
	if (!snap->summaries)
		return -ENOMEM;
	for (size_t i = 0; i < set->table.cnt; i++) {
		const struct process *process = &set->table.items[i]->info;
		struct memleak_summary sums = {0};

		/* A process without allocator calls has no entry (ENOENT): its sums are 0. */
		if (bpf_map_lookup_elem(set->programs->tracker.summaries_fd, &process->image,
					&sums) &&
		    errno != ENOENT)
			return -errno;
		snap->summaries[i].process = process;
		fill_summary(&sums, &snap->summaries[i]);
	}
	snap->summary_cnt = set->table.cnt;
	return 0;
}

static struct earlier_frees earlier_of(const struct memleak_earlier *counts)
{
	return (struct earlier_frees){counts->frees, counts->sized, counts->bytes};
}

/*
 * True if a child counts in the footprint of its parent. Traced children count only with -f: then
 * all children are traced, and a growing number of them is a leak, too.
 */
static bool is_counted(const void *arg, pid_t child)
{
	const struct process_set *set = arg;

	return set->programs->ctx.opts->follow ||
	       (!process_table_find_pid(&set->table, child) && !process_set_has_sharer(set, child));
}

static bool is_traced(const void *arg, pid_t pid)
{
	const struct process_set *set = arg;

	return process_table_find_pid(&set->table, pid);
}

/*
 * Reads the parts of a footprint that would take too long for many processes. Mappings are counted
 * only if there are few processes: the kernel lists all of them.
 */
static void read_details(struct process_set *set, struct user_process *process,
			 struct footprint *ret)
{
	pid_t pid = process->info.pid;

	footprint_read_children(pid, is_counted, set, ret);
	footprint_read_timers(pid, ret);
	footprint_read_queues(pid, ret);
	orphans_read(&set->machine.programs, pid, is_traced, set, ret);
	ret->parts[FOOTPRINT_UNMAPPED] = shared_files_bytes(pid, -1);
	ret->parts[FOOTPRINT_TMPFS] = tmpfs_files_of(&set->machine.tmpfs, pid);
	socket_queues_read(&set->machine.sockets, pid, ret);
	if (set->table.cnt <= MAPPING_COUNTS_MAX)
		mapping_counts_read(&process->mapping_counts, pid, ret);
}

static struct footprint footprint_of(struct process_set *set, struct user_process *process)
{
	const struct options *opts = set->programs->ctx.opts;
	struct footprint ret = {0};

	if (process->ended || process->is_no_target || process->gone_ns)
		return ret;
	ret = footprint_read(process->info.pid);
	ret.is_stopped &= !process->at_end;
	ret.has_traced_children = opts->follow;
	ret.parts[FOOTPRINT_TOO_YOUNG] = process->too_young;
	if (ret.is_known && !options_find_processes(opts))
		read_details(set, process, &ret);
	return ret;
}

static int take_tallies(struct process_set *set, struct snapshot *snap)
{
	const struct memleak_earlier *earlier = set->programs->ctx.skel->bss->earlier;
	bool finds = options_find_processes(set->programs->ctx.opts);

	if (!finds)
		machine_begin_report(&set->machine);
	snap->tallies = calloc(set->table.cnt + 1, sizeof(*snap->tallies));
	if (!snap->tallies)
		return -ENOMEM;
	for (size_t i = 0; i < set->table.cnt; i++) {
		const struct process *process = &set->table.items[i]->info;
		const struct process_tally tally = {
			.process = process,
			.refused = quotas_refused(&set->programs->tracker.quotas, process->image),
			.earlier = earlier_of(&earlier[memleak_earlier_at(process->image)]),
			.footprint = footprint_of(set, set->table.items[i]),
			.python = scripts_version(&set->programs->unwind.scripts, process->image,
						  set->table.items[i]->base),
			.ended = finds && set->table.items[i]->ended,
			.ended_here = !finds && set->table.items[i]->ended_before_report,
			.killed_by = (int)(set->table.items[i]->death & MEMLEAK_KILLED_BY),
			.out_of_memory = set->table.items[i]->death & MEMLEAK_KILLED_FOR_MEMORY,
		};

		if (tally.refused || tally.earlier.cnt || tally.footprint.is_known || tally.ended ||
		    tally.ended_here)
			snap->tallies[snap->tally_cnt++] = tally;
	}
	return 0;
}

static void add_losses(const struct process_set *set, struct snapshot *snap)
{
	snap->lost[LOSS_MAPPINGS] += set->mappings_lost;
	snap->lost[LOSS_EXEC] += set->exec_gaps;
	snap->lost[LOSS_PROCESSES] += set->processes_lost;
	snap->lost[LOSS_INHERITED] += set->programs->descendants.lost;
	for (size_t i = 0; i < set->table.cnt; i++) {
		snap->lost[LOSS_MAPPINGS] +=
			set->table.items[i]->mappings_lost + set->table.items[i]->ranges.lost;
		snap->lost[LOSS_EXEC] += set->table.items[i]->exec_gaps;
		snap->lost[LOSS_PROCESSES] += set->table.items[i]->late;
	}
	snap->lost[LOSS_UNWIND] += set->programs->deferred.cut;
}

int user_snapshot_read(struct process_set *set, uint64_t t0_ns, const struct peak *peak,
		       struct snapshot *ret)
{
	struct tracker *tracker = &set->programs->tracker;
	struct tracker_walk walk;
	struct snapshot snap;
	int err = process_set_find_descendants(set);

	if (err)
		return err;
	if (tracker->is_gone)
		descriptors_read(set);
	for (size_t i = 0; i < set->table.cnt; i++)
		set->table.items[i]->too_young = 0;
	err = tracker_walk_begin(tracker, t0_ns, &walk, &snap);
	snap.peak = peak;
	for (size_t i = 0; !err && i < set->table.cnt; i++)
		err = walk_mappings(&walk, set->table.items[i]);
	/* Finish the stacks of blocks that were allocated after the source was drained. */
	process_set_finish_all_stacks(set);
	if (!err && tracker->walker.opts->summary)
		err = take_summaries(set, &snap);
	if (!err)
		err = take_tallies(set, &snap);
	if (!err && tracker->is_gone)
		snap.descriptors = descriptors_compare(set);
	err = tracker_walk_end(&walk, err, &snap);
	if (err)
		return err;
	add_losses(set, &snap);
	*ret = snap;
	return 0;
}
