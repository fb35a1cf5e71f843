// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares a snapshot of random test data with its copy from a recording. */
#include "tests/unit/recording/same.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "report/held_by.h"

static void same_string(const char *a, const char *b)
{
	assert_int_equal(!a, !b);
	if (a)
		assert_string_equal(a, b);
}

static void same_process(const struct process *a, const struct process *b, bool cgroup)
{
	assert_int_equal(!a, !b);
	if (!a)
		return;
	assert_int_equal(a->image, b->image);
	assert_int_equal(a->pid, b->pid);
	same_string(a->comm, b->comm);
	if (cgroup)
		same_string(a->cgroup, b->cgroup);
}

static void same_block(const struct block *a, const struct block *b)
{
	assert_int_equal(a->addr, b->addr);
	assert_int_equal(a->size, b->size);
	assert_int_equal(a->sampled_size, b->sampled_size);
	assert_int_equal(a->age_ns, b->age_ns);
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->inherited, b->inherited);
}

static void same_location(const struct sym_location *a, const struct sym_location *b)
{
	assert_int_equal(!a, !b);
	if (!a)
		return;
	assert_int_equal(a->addr, b->addr);
	same_string(a->module, b->module);
	same_string(a->known_as, b->known_as);
	assert_int_equal(a->module_offset, b->module_offset);
	same_string(a->build_id, b->build_id);
	assert_int_equal(a->frame_cnt, b->frame_cnt);
	for (size_t i = 0; i < a->frame_cnt; i++) {
		same_string(a->frames[i].symbol, b->frames[i].symbol);
		assert_int_equal(a->frames[i].offset, b->frames[i].offset);
		same_string(a->frames[i].file, b->frames[i].file);
		assert_int_equal(a->frames[i].line, b->frames[i].line);
		assert_int_equal(a->frames[i].inlined, b->frames[i].inlined);
	}
}

static void same_sum(const struct reach_sum *a, const struct reach_sum *b)
{
	assert_int_equal(a->bytes, b->bytes);
	assert_int_equal(a->count, b->count);
}

/* A recording stores holders other than blocks as text. */
static void same_holder(const struct site *site, const struct holder *a, const struct holder *b)
{
	cleanup_free char *words = NULL;

	assert_int_equal(a->kind, b->kind);
	if (a->kind == HOLDER_BLOCK) {
		assert_int_equal(!a->site, !b->site);
		if (a->site)
			assert_int_equal(a->site->id, b->site->id);
		assert_int_equal(a->repeats, b->repeats);
		assert_null(b->words);
		return;
	}
	words = held_by_words(site, a, NULL, 0);
	same_string(words, b->words);
}

static void same_reach(const struct site *site, const struct site_reach *a,
		       const struct site_reach *b)
{
	assert_int_equal(a->proved, b->proved);
	for (size_t i = 0; i < REACH_CNT; i++)
		same_sum(&a->of[i], &b->of[i]);
	same_sum(&a->lost, &b->lost);
	same_sum(&a->hanging, &b->hanging);
	assert_memory_equal(&a->lost_per_s, &b->lost_per_s, sizeof(double));
	assert_int_equal(a->lost_for_ns, b->lost_for_ns);
	assert_int_equal(a->held_by_cnt, b->held_by_cnt);
	for (size_t i = 0; i < a->held_by_cnt; i++)
		same_holder(site, &a->held_by[i], &b->held_by[i]);
}

static void same_proof(const struct proof_facts *a, const struct proof_facts *b)
{
	assert_int_equal(!a, !b);
	if (!a)
		return;
	assert_int_equal(a->method, b->method);
	assert_int_equal(a->stopped_ns, b->stopped_ns);
	assert_int_equal(a->scanned_bytes, b->scanned_bytes);
	assert_int_equal(a->pictures, b->pictures);
	assert_int_equal(a->processes, b->processes);
	assert_int_equal(a->unproved, b->unproved);
	for (size_t i = 0; i < REACH_CNT; i++)
		same_sum(&a->of[i], &b->of[i]);
}

static void same_hanging(const struct snapshot *a, const struct snapshot *b)
{
	assert_int_equal(a->hanging_cnt, b->hanging_cnt);
	for (size_t i = 0; i < a->hanging_cnt; i++) {
		assert_int_equal(a->hanging[i].site, b->hanging[i].site);
		assert_int_equal(a->hanging[i].head, b->hanging[i].head);
		same_sum(&a->hanging[i].of, &b->hanging[i].of);
	}
}

static void same_census(const struct heap_census *a, const struct heap_census *b)
{
	assert_int_equal(!a, !b);
	if (a)
		assert_memory_equal(a, b, sizeof(*a));
}

static void same_site(const struct site *a, const struct site *b)
{
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->space, b->space);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->end, b->end);
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->bytes, b->bytes);
	assert_int_equal(a->count, b->count);
	assert_memory_equal(&a->bytes_variance, &b->bytes_variance, sizeof(double));
	assert_memory_equal(&a->count_variance, &b->count_variance, sizeof(double));
	assert_int_equal(a->inherited_bytes, b->inherited_bytes);
	assert_int_equal(a->inherited_count, b->inherited_count);
	assert_int_equal(a->oldest_ns, b->oldest_ns);
	assert_int_equal(a->newest_ns, b->newest_ns);
	assert_memory_equal(&a->ages, &b->ages, sizeof(a->ages));
	assert_int_equal(!a->births, !b->births);
	if (a->births)
		assert_memory_equal(a->births, b->births, sizeof(*a->births));
	assert_memory_equal(a->kept, b->kept, sizeof(a->kept));
	same_block(&a->largest, &b->largest);
	assert_int_equal(a->origin.last_pid, b->origin.last_pid);
	same_string(a->origin.last_comm, b->origin.last_comm);
	assert_int_equal(a->origin.owner_pid, b->origin.owner_pid);
	same_string(a->origin.owner_comm, b->origin.owner_comm);
	same_string(a->origin.cache, b->origin.cache);
	assert_int_equal(a->origin.several_pids, b->origin.several_pids);
	assert_int_equal(a->origin.interrupt, b->origin.interrupt);
	assert_int_equal(a->origin.several_caches, b->origin.several_caches);
	assert_int_equal(a->origin.reclaimable, b->origin.reclaimable);
	assert_int_equal(a->origin.unseen_frees, b->origin.unseen_frees);
	assert_int_equal(a->pinned_bytes, b->pinned_bytes);
	same_reach(a, &a->reach, &b->reach);
	assert_int_equal(a->frame_cnt, b->frame_cnt);
	assert_memory_equal(a->frames, b->frames, a->frame_cnt * sizeof(*a->frames));
}

/* The recorder looks missing names up again only now and then, so a recording may get some late. */
static void same_names(struct world *world, const struct site *a, const struct site *b,
		       struct symbol_backend *symbols)
{
	for (size_t i = 0; i < a->frame_cnt; i++) {
		const struct sym_location *named = symbols->lookup(symbols, b, b->frames[i]);

		if (named || world->step == 200)
			same_location(world_lookup(&world->symbols, a, a->frames[i]), named);
	}
}

static const struct site *find_site(const struct site *sites, size_t cnt, uint64_t id)
{
	for (size_t i = 0; i < cnt; i++)
		if (sites[i].id == id)
			return &sites[i];
	fail_msg("site %" PRIx64 " is missing", id);
	return NULL;
}

static void same_blocks(const struct snapshot *a, size_t first, const struct snapshot *b,
			const struct site *site)
{
	size_t index = (size_t)(site - b->sites), at = 0;

	while (at < b->block_cnt && b->blocks[at].site < index)
		at++;
	for (size_t i = first; i < a->block_cnt && a->blocks[i].site == a->blocks[first].site;
	     i++) {
		assert_true(at < b->block_cnt && b->blocks[at].site == index);
		same_block(&a->blocks[i], &b->blocks[at++]);
	}
	assert_true(at == b->block_cnt || b->blocks[at].site > index);
}

static void world_compare_peak(struct world *world, const struct peak *a, const struct peak *b,
			       struct symbol_backend *symbols)
{
	assert_int_equal(!a, !b);
	if (!a)
		return;
	assert_int_equal(a->wall_ns, b->wall_ns);
	assert_int_equal(a->t0_ns, b->t0_ns);
	assert_int_equal(a->bytes, b->bytes);
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->highest_bytes, b->highest_bytes);
	assert_int_equal(a->site_cnt, b->site_cnt);
	for (size_t i = 0; i < a->site_cnt; i++) {
		const struct site *site = find_site(b->sites, b->site_cnt, a->sites[i].id);

		assert_int_equal(a->sites[i].bytes, site->bytes);
		assert_int_equal(a->sites[i].count, site->count);
		same_names(world, site, site, symbols);
	}
}

static void same_cost(const struct tracing_cost *a, const struct tracing_cost *b)
{
	assert_int_equal(a->elapsed_ns, b->elapsed_ns);
	assert_int_equal(a->calls, b->calls);
	assert_int_equal(a->cpu_ns, b->cpu_ns);
	assert_int_equal(a->ns, b->ns);
	assert_int_equal(a->trap_ns, b->trap_ns);
	assert_int_equal(a->is_least, b->is_least);
	assert_true(a->most_share == b->most_share);
	assert_int_equal(a->sample_bytes, b->sample_bytes);
}

static void same_footprint(const struct footprint *a, const struct footprint *b)
{
	assert_memory_equal(a->parts, b->parts, sizeof(a->parts));
	assert_int_equal(a->mappings_max, b->mappings_max);
	assert_int_equal(a->virtual_max, b->virtual_max);
	assert_string_equal(a->mapped, b->mapped);
	assert_string_equal(a->orphan, b->orphan);
}

static void same_tally(const struct process_tally *a, const struct process_tally *b)
{
	assert_int_equal(a->refused, b->refused);
	assert_memory_equal(&a->earlier, &b->earlier, sizeof(a->earlier));
	assert_int_equal(a->ended, b->ended);
	assert_int_equal(a->ended_here, b->ended_here);
	assert_int_equal(a->footprint.is_known, b->footprint.is_known);
	assert_int_equal(a->footprint.is_stopped, b->footprint.is_stopped);
	assert_int_equal(a->footprint.has_traced_children, b->footprint.has_traced_children);
	assert_int_equal(a->footprint.has_other_network, b->footprint.has_other_network);
	if (a->footprint.is_known)
		same_footprint(&a->footprint, &b->footprint);
	if (rss_total(&a->rss))
		assert_memory_equal(&a->rss, &b->rss, sizeof(a->rss));
	else
		assert_int_equal(rss_total(&b->rss), 0);
}

static void same_python(const struct python_growth *a, const struct python_growth *b)
{
	assert_int_equal(!a, !b);
	if (!a)
		return;
	assert_int_equal(a->allocator, b->allocator);
	assert_true(a->uncounted == b->uncounted);
	assert_int_equal(a->container_cnt, b->container_cnt);
	for (size_t i = 0; i < a->container_cnt; i++) {
		assert_int_equal(a->containers[i].named_by, b->containers[i].named_by);
		assert_string_equal(a->containers[i].name, b->containers[i].name);
		assert_string_equal(a->containers[i].class, b->containers[i].class);
		assert_string_equal(a->containers[i].adder.function,
				    b->containers[i].adder.function);
		assert_string_equal(a->containers[i].adder.file, b->containers[i].adder.file);
		assert_int_equal(a->containers[i].adder.line, b->containers[i].adder.line);
		assert_int_equal(a->containers[i].items, b->containers[i].items);
		assert_int_equal(a->containers[i].more, b->containers[i].more);
		assert_int_equal(a->containers[i].for_ns, b->containers[i].for_ns);
		assert_int_equal(a->containers[i].site, b->containers[i].site);
	}
	assert_int_equal(a->class_cnt, b->class_cnt);
	for (size_t i = 0; i < a->class_cnt; i++) {
		assert_string_equal(a->classes[i].name, b->classes[i].name);
		assert_int_equal(a->classes[i].count, b->classes[i].count);
		assert_int_equal(a->classes[i].more, b->classes[i].more);
		assert_int_equal(a->classes[i].more_bytes, b->classes[i].more_bytes);
		assert_int_equal(a->classes[i].for_ns, b->classes[i].for_ns);
		assert_string_equal(a->classes[i].place.function, b->classes[i].place.function);
		assert_string_equal(a->classes[i].place.file, b->classes[i].place.file);
		assert_int_equal(a->classes[i].place.line, b->classes[i].place.line);
	}
}

static void same_growths(const struct snapshot *a, const struct snapshot *b)
{
	assert_int_equal(a->kernel_growth_cnt, b->kernel_growth_cnt);
	for (size_t i = 0; i < a->kernel_growth_cnt; i++) {
		const struct kernel_growth *x = &a->kernel_growths[i], *y = &b->kernel_growths[i];

		assert_int_equal(x->kind, y->kind);
		assert_string_equal(x->name, y->name);
		assert_int_equal(x->bytes, y->bytes);
		assert_int_equal(x->grown_bytes, y->grown_bytes);
		assert_int_equal(x->reclaim, y->reclaim);
	}
}

void world_compare(struct world *world, const struct snapshot *a, const struct snapshot *b,
		   struct symbol_backend *symbols)
{
	size_t block = 0;

	assert_memory_equal(&a->run, &b->run, sizeof(a->run));
	assert_int_equal(a->wall_ns, b->wall_ns);
	assert_int_equal(a->t0_ns, b->t0_ns);
	assert_int_equal(a->walk_ns, b->walk_ns);
	same_cost(&a->cost, &b->cost);
	assert_int_equal(a->elapsed_ns, b->elapsed_ns);
	assert_int_equal(a->earlier.cnt, b->earlier.cnt);
	assert_memory_equal(a->earlier.ns, b->earlier.ns, a->earlier.cnt * sizeof(uint64_t));
	assert_int_equal(a->sampling.mode, b->sampling.mode);
	assert_int_equal(a->sampling.rate, b->sampling.rate);
	assert_memory_equal(a->lost, b->lost, sizeof(a->lost));
	assert_int_equal(a->calls, b->calls);
	assert_int_equal(a->replaced, b->replaced);
	assert_int_equal(a->gone_with_page, b->gone_with_page);
	assert_int_equal(a->beyond_caches, b->beyond_caches);
	assert_int_equal(a->frees_hidden, b->frees_hidden);
	assert_int_equal(a->vmalloc_hidden, b->vmalloc_hidden);
	assert_memory_equal(&a->kernel_memory, &b->kernel_memory, sizeof(a->kernel_memory));
	assert_memory_equal(&a->kernel_memory_before, &b->kernel_memory_before,
			    sizeof(a->kernel_memory_before));
	assert_memory_equal(a->stats, b->stats, sizeof(a->stats));
	same_proof(a->proof, b->proof);
	same_census(a->census, b->census);
	same_python(a->python, b->python);
	same_growths(a, b);
	same_hanging(a, b);
	assert_int_equal(a->site_cnt, b->site_cnt);
	assert_int_equal(a->block_cnt, b->block_cnt);
	for (size_t i = 0; i < a->site_cnt; i++) {
		const struct site *site = find_site(b->sites, b->site_cnt, a->sites[i].id);

		same_site(&a->sites[i], site);
		same_process(a->sites[i].process, site->process, true);
		same_names(world, &a->sites[i], site, symbols);
		while (block < a->block_cnt && a->blocks[block].site < i)
			block++;
		if (block < a->block_cnt && a->blocks[block].site == i)
			same_blocks(a, block, b, site);
	}
	assert_int_equal(a->summary_cnt, b->summary_cnt);
	for (size_t i = 0; i < a->summary_cnt; i++) {
		same_process(a->summaries[i].process, b->summaries[i].process, true);
		assert_memory_equal(&a->summaries[i].allocated, &b->summaries[i].allocated,
				    sizeof(a->summaries[i]) -
					    offsetof(struct process_summary, allocated));
	}
	assert_int_equal(a->tally_cnt, b->tally_cnt);
	for (size_t i = 0; i < a->tally_cnt; i++)
		same_tally(&a->tallies[i], &b->tallies[i]);
	world_compare_peak(world, a->peak, b->peak, symbols);
}
