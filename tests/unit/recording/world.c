// SPDX-License-Identifier: GPL-2.0-or-later
/* Random test data for recordings: snapshots of sites. */
#include "tests/unit/recording/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/snapshot_own.h"
#include "tests/unit/lib/random.h"

static uint64_t world_random(struct world *world, uint64_t below)
{
	return random_next(&world->seed) % below;
}

/* Returns a random number; each order of magnitude is equally likely. */
static uint64_t world_wild(struct world *world)
{
	return random_next(&world->seed) >> world_random(world, 64);
}

static int world_prepare(struct symbol_backend *self, const struct site *const *sites, size_t cnt,
			 uint64_t deadline_ns)
{
	return 0;
}

const struct sym_location *world_lookup(struct symbol_backend *self, const struct site *site,
					uint64_t frame)
{
	const struct world *world = (const struct world *)self;
	size_t at = frame % (2 * WORLD_LOCATIONS);

	return at < WORLD_LOCATIONS && (int)at < world->step ? &world->locations[at] : NULL;
}

static void world_make_locations(struct world *world)
{
	static const char *const names[] = {NULL,         "", "main", "operator new(unsigned long)",
					    "\xff\x1b\n", "a"};

	for (size_t i = 0; i < WORLD_LOCATIONS; i++) {
		struct sym_location *location = &world->locations[i];

		for (size_t j = 0; j < 3; j++)
			world->location_frames[i][j] = (struct sym_frame){
				.symbol = names[world_random(world, 6)],
				.offset = world_wild(world),
				.file = names[world_random(world, 6)],
				.line = (unsigned int)(world_wild(world) >> 33),
				.inlined = world_random(world, 2),
			};
		*location = (struct sym_location){
			.addr = world_wild(world),
			.module = names[world_random(world, 6)],
			.known_as = i % 2 ? "known" : NULL,
			.module_offset = world_wild(world),
			.build_id = names[world_random(world, 6)],
			.frame_cnt = 1 + world_random(world, 3),
			.frames = world->location_frames[i],
		};
	}
}

struct world *world_new(uint64_t seed, unsigned int what)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	world->symbols = (struct symbol_backend){.prepare = world_prepare, .lookup = world_lookup};
	world->seed = seed;
	world->what = what;
	world->t0_ns = 1ULL << 50;
	world->site_cnt = WORLD_SITES;
	world_make_locations(world);
	for (size_t i = 0; i < WORLD_PROCESSES; i++) {
		snprintf(world->comms[i], sizeof(world->comms[i]), "comm%zu", i / 2);
		world->processes[i] = (struct process){
			.image = (uint32_t)(1 + i),
			.pid = (pid_t)(1000 + i),
			.comm = i ? world->comms[i] : NULL,
			.cgroup = i % 2 ? (char *)"/a/b" : NULL,
		};
	}
	return world;
}

void world_free(struct world *world)
{
	peak_deinit(&world->peak);
	free(world);
}

/* Replaces a site with a new random site. */
static void world_make_site(struct world *world, struct world_site *at)
{
	struct site *site = &at->site;

	*at = (struct world_site){0};
	site->id = random_next(&world->seed);
	site->space = (enum address_space)world_random(world, SPACE_CNT);
	site->kind = (enum block_kind)world_random(world, KIND_CNT);
	site->end = (enum stack_end)world_random(world, STACK_END_CNT);
	site->process = world_random(world, 9)
				? &world->processes[world_random(world, WORLD_PROCESSES)]
				: NULL;
	site->frame_cnt = world_random(world, WORLD_FRAMES);
	for (size_t i = 0; i < site->frame_cnt; i++)
		at->frames[i] = world_wild(world);
	site->frames = at->frames;
	site->origin.interrupt = world_random(world, 2);
}

static uint64_t world_birth(struct world *world)
{
	return world->t0_ns - world_random(world, 1ULL << world_random(world, 50));
}

static void world_change_blocks(struct world *world, struct world_site *at)
{
	struct block *largest = &at->site.largest;

	at->block_cnt = 1 + world_random(world, WORLD_BLOCKS);
	for (size_t i = 0; i < at->block_cnt; i++)
		at->blocks[i] = (struct block){
			.addr = 1 + world_wild(world) / 2,
			.size = world_wild(world),
			.sampled_size = world_wild(world),
			.age_ns = world_birth(world),
			.tid = (pid_t)world_random(world, 1 << 20),
			.inherited = world_random(world, 2),
		};
	*largest = at->blocks[0];
}

static struct reach_sum world_sum(struct world *world)
{
	return (struct reach_sum){world_wild(world), world_wild(world)};
}

static void world_change_reach(struct world *world, struct site_reach *reach)
{
	reach->proved = world_random(world, 2);
	for (size_t i = 0; i < REACH_CNT; i++)
		reach->of[i] = world_sum(world);
	reach->lost = world_random(world, 2) ? world_sum(world) : (struct reach_sum){0};
	reach->hanging = world_sum(world);
	reach->lost_per_s = (double)world_wild(world) / 7;
}

static void world_change_site(struct world *world, struct world_site *at)
{
	struct site *site = &at->site;

	site->bytes = world_wild(world);
	site->count = world_wild(world);
	site->bytes_variance = (double)world_random(world, 3) * 1.7;
	site->count_variance = (double)world_random(world, 3) / 3;
	site->inherited_bytes = world_random(world, 3) ? 0 : world_wild(world);
	site->inherited_count = world_random(world, 3);
	site->kept[world_random(world, AGE_CLASS_CNT)] = (uint32_t)world_wild(world);
	site->oldest_ns = world_birth(world);
	site->newest_ns = world_birth(world);
	for (size_t i = 0; i < 5; i++)
		site->ages.bytes[world_random(world, AGE_CLASS_CNT)] = world_wild(world);
	site->ages.count[world_random(world, AGE_CLASS_CNT)] = (uint32_t)world_wild(world);
	at->births.bytes[world_random(world, AGE_CLASS_CNT)] = world_wild(world);
	at->births.count[world_random(world, AGE_CLASS_CNT)] = (uint32_t)world_wild(world);
	site->origin.last_pid = (pid_t)world_random(world, 5);
	snprintf(at->comm, sizeof(at->comm), "last%d", (int)world_random(world, 4));
	site->origin.last_comm = world_random(world, 2) ? at->comm : NULL;
	site->origin.owner_pid = (pid_t)world_random(world, 3);
	site->origin.owner_comm = world_random(world, 2) ? "owner" : NULL;
	site->origin.cache = world_random(world, 2) ? "kmalloc-64" : NULL;
	site->origin.several_pids = world_random(world, 2);
	site->origin.several_caches = world_random(world, 2);
	site->origin.reclaimable = world_random(world, 2);
	site->pinned_bytes = world_random(world, 1 << 30);
	site->origin.unseen_frees = (uint64_t)site->origin.last_pid * 7;
	world_change_reach(world, &site->reach);
	if (world->what & RECORDING_AGES)
		world_change_blocks(world, at);
}

void world_step(struct world *world)
{
	world->step++;
	world->t0_ns += 1 + world_random(world, 1 << 30);
	for (size_t i = 0; i < world->site_cnt; i++) {
		struct world_site *at = &world->sites[i];

		if (!at->site.id || (!at->present && !world_random(world, 100)))
			world_make_site(world, at);
		if (!world_random(world, at->present ? 50 : 20))
			at->present = !at->present;
		if (at->present && !world_random(world, 4))
			world_change_site(world, at);
		/* Sometimes change a frame, as memleak does for a frame of other code. */
		if (at->site.frame_cnt && !world_random(world, 200))
			at->frames[0] = world_wild(world);
	}
	if (!world_random(world, 20))
		snprintf(world->comms[world_random(world, WORLD_PROCESSES)], 16, "comm%d",
			 world->step);
	world->lost += world_random(world, 3);
}

static void world_add_site(struct world *world, const struct world_site *at, struct snapshot *snap)
{
	static const struct ages no_births;
	struct site *site = &snap->sites[snap->site_cnt];
	bool ages = world->what & RECORDING_AGES;

	*site = at->site;
	if (ages && at->site.id % 2)
		site->births = at->site.id % 4 == 1 ? &no_births : &at->births;
	site->oldest_ns = ages ? world->t0_ns - site->oldest_ns : AGE_UNKNOWN;
	site->newest_ns = ages ? world->t0_ns - site->newest_ns : AGE_UNKNOWN;
	if (site->reach.lost.count)
		site->reach.lost_for_ns = world_random(world, 1 << 30);
	if (ages && site->largest.addr)
		site->largest.age_ns = world->t0_ns - site->largest.age_ns;
	for (size_t i = 0; world->what & RECORDING_BLOCKS && i < at->block_cnt; i++) {
		struct block *block = &snap->blocks[snap->block_cnt++];

		*block = at->blocks[i];
		block->site = snap->site_cnt;
		block->age_ns = world->t0_ns - block->age_ns;
	}
	snap->site_cnt++;
}

static void world_add_summaries(struct world *world, struct snapshot *snap)
{
	snap->summaries = calloc(WORLD_PROCESSES, sizeof(*snap->summaries));
	assert_non_null(snap->summaries);
	for (size_t i = 0; i < WORLD_PROCESSES; i++) {
		struct process_summary *summary;

		if (!world_random(world, 4))
			continue;
		summary = &snap->summaries[snap->summary_cnt++];
		summary->process = &world->processes[i];
		summary->allocated = world_wild(world);
		summary->freed = world_wild(world);
		summary->outstanding = world_wild(world);
		summary->peak = world_wild(world);
		summary->largest = world_wild(world);
		summary->calls = world_wild(world);
		summary->calls_of[world_random(world, FAMILY_CNT)] = world_wild(world);
	}
}

static void world_add_tallies(struct world *world, struct snapshot *snap)
{
	uint64_t number;

	snap->tallies = calloc(1, sizeof(*snap->tallies));
	assert_non_null(snap->tallies);
	number = world_wild(world);
	snap->tallies[snap->tally_cnt++] =
		(struct process_tally){.process = &world->processes[1],
				       .refused = number,
				       .earlier = {~number, number / 2, number / 3},
				       .footprint = {.is_known = number % 2,
						     .is_stopped = number % 3 == 1,
						     .has_traced_children = number % 7 < 3,
						     .has_other_network = number % 5 < 3,
						     .parts = {number, number / 2, number / 3,
							       number / 4, number / 5, ~number},
						     .mappings_max = number / 7,
						     .virtual_max = number / 11},
				       .ended = number % 3 == 0,
				       .ended_here = number % 5 < 2};
	if (number % 3)
		strcpy(snap->tallies->footprint.mapped, "index.dat");
	if (number % 5 > 1)
		strcpy(snap->tallies->footprint.orphan, "a worker\n");
	for (size_t i = 0; number % 5 && i < RSS_PART_CNT; i++)
		snap->tallies->rss.parts[i] = number / (16 + i) + 1;
	snap->tallies->rss.arenas = number % 5;
	snap->tallies->rss.torn_arenas = number % 3;
	snap->tallies->rss.huge = number % 11;
	snap->tallies->rss.swapped = number % 13;
	snap->tallies->rss.main_top = number % 17;
	snap->tallies->rss.room = number % 19;
	snap->tallies->rss.has_blocks = number % 2;
	snap->tallies->rss.pinned_by_older = number % 7;
	if (number % 2)
		snap->tallies->rss.older[number % HEAP_CLASSES] = (struct reach_sum){number, 1};
}

static void world_add_python(const struct world *world, struct snapshot *snap)
{
	static struct python_growth python;
	uint64_t number = world->t0_ns / 43;

	python = (struct python_growth){
		.allocator = (enum python_allocator)(number % PYTHON_ALLOCATOR_CNT),
		.uncounted = number % 7 ? 0 : UINT64_MAX - number % 3,
		.container_cnt = number % (PYTHON_CONTAINERS_MAX + 1),
		.class_cnt = number / 11 % (PYTHON_CLASSES_MAX + 1),
	};
	for (size_t i = 0; i < python.container_cnt; i++) {
		python.containers[i] = (struct python_container){
			.named_by = (enum python_name)(number / 2 % PYTHON_NAME_CNT),
			.class = "list",
			.items = number / 3,
			.more = ~number,
			.for_ns = number / 5 + i,
			.site = number / 7,
			.adder = {"keep", "/app.py", (uint32_t)number},
		};
		memset(python.containers[i].name, 'n', number % PYTHON_TEXT_BYTES);
	}
	for (size_t i = 0; i < python.class_cnt; i++)
		python.classes[i] = (struct python_class){
			.name = "Entry",
			.count = ~number,
			.more = number / 3,
			.more_bytes = number / 5,
			.for_ns = number + i,
			.place = {"Entry.__init__", "/app.py", (uint32_t)number}};
	if (number % 5)
		snap->python = &python;
}

static void world_add_growths(const struct world *world, struct snapshot *snap)
{
	static const char *const names[] = {"dentry", "kmalloc-64", "mm/slub.c:1 alloc_slab_page"};
	static struct kernel_growth growths[KERNEL_GROWTH_KIND_CNT * KERNEL_GROWTHS_MAX];
	uint64_t number = world->t0_ns / 47;

	snap->kernel_growth_cnt = number % (sizeof(growths) / sizeof(growths[0]) + 1);
	for (size_t i = 0; i < snap->kernel_growth_cnt; i++)
		growths[i] = (struct kernel_growth){
			.kind = (enum kernel_growth_kind)((number + i) % KERNEL_GROWTH_KIND_CNT),
			.name = names[(number + i) % 3],
			.bytes = ~number - i,
			.grown_bytes = number / 3 + i,
			.reclaim = (enum reclaim)((number + i) % RECLAIM_CNT),
		};
	snap->kernel_growths = snap->kernel_growth_cnt ? growths : NULL;
}

static void world_add_proof(struct world *world, struct snapshot *snap)
{
	static struct proof_facts facts;

	facts = (struct proof_facts){
		.method = PROOF_STILL + (enum proof_method)world_random(world, 4),
		.stopped_ns = world_wild(world),
		.scanned_bytes = world_wild(world),
		.pictures = 1 + world_random(world, 2),
		.processes = world_wild(world),
		.unproved = world_wild(world),
	};
	for (size_t i = 0; i < REACH_CNT; i++)
		facts.of[i] = world_sum(world);
	snap->proof = &facts;
}

static void world_add_census(struct world *world, struct snapshot *snap)
{
	static struct heap_census census;

	/* The struct consists of uint64_t only. */
	for (size_t i = 0; i < sizeof(census) / sizeof(uint64_t); i++)
		((uint64_t *)&census)[i] = world_wild(world);
	snap->census = &census;
}

/* Adds chains of holders of random kinds to some sites; a holder may be a block of another site. */
static void world_add_holders(struct world *world, struct snapshot *snap)
{
	for (size_t i = 0; i < snap->site_cnt; i++) {
		size_t cnt = world_random(world, 6);
		struct holder *chain;

		if (!cnt || world_random(world, 4))
			continue;
		chain = arena_take(&snap->arena, cnt * sizeof(*chain));
		assert_non_null(chain);
		for (size_t j = 0; j < cnt; j++) {
			chain[j] = (struct holder){
				.kind = (enum holder_kind)world_random(world, HOLDER_KIND_CNT),
				.addr = world_wild(world),
				.tid = (pid_t)world_random(world, 3),
				.path = "/lib/\xff\x1b.so",
			};
			if (chain[j].kind != HOLDER_BLOCK)
				continue;
			chain[j].repeats = world_wild(world);
			if (world_random(world, 5))
				chain[j].site = &snap->sites[world_random(world, snap->site_cnt)];
		}
		snap->sites[i].reach.held_by = chain;
		snap->sites[i].reach.held_by_cnt = cnt;
	}
}

static int by_id(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/*
 * For some sites, adds how much is reachable only from blocks of the site with the next higher id.
 */
static void world_add_hanging(struct world *world, struct snapshot *snap)
{
	struct hanging_sum *sums = arena_take(&snap->arena, WORLD_SITES * sizeof(*sums));
	uint64_t ids[WORLD_SITES];

	assert_non_null(sums);
	for (size_t i = 0; i < snap->site_cnt; i++)
		ids[i] = snap->sites[i].id;
	qsort(ids, snap->site_cnt, sizeof(*ids), by_id);
	for (size_t i = 0; i + 1 < snap->site_cnt; i += 1 + world_random(world, 3))
		sums[snap->hanging_cnt++] = (struct hanging_sum){
			.site = ids[i], .head = ids[i + 1], .of = world_sum(world)};
	snap->hanging = sums;
}

static void world_take_peak(struct world *world, const struct snapshot *snap)
{
	struct snapshot copy = *snap;

	copy.sites = calloc(WORLD_SITES, sizeof(struct site));
	assert_non_null(copy.sites);
	memcpy(copy.sites, snap->sites, snap->site_cnt * sizeof(struct site));
	for (size_t i = 0; i < copy.site_cnt; i++)
		copy.sites[i].births = NULL;
	copy.blocks = NULL;
	copy.summaries = NULL;
	copy.tallies = NULL;
	copy.summary_cnt = copy.tally_cnt = 0;
	assert_int_equal(snapshot_own(&copy), 0);
	peak_deinit(&world->peak);
	world->peak = peak_from(&copy);
	world->has_peak = true;
}

/* Adds the results of a proof, and in half of the cases those of a census of the heap. */
static void world_add_results(struct world *world, struct snapshot *ret)
{
	world_add_proof(world, ret);
	if (world_random(world, 2))
		world_add_census(world, ret);
	world_add_holders(world, ret);
	world_add_hanging(world, ret);
}

void world_snapshot(struct world *world, struct snapshot *ret)
{
	*ret = (struct snapshot){
		.run = {.had_begun = world->what & RECORDING_HAD_BEGUN,
			.was_young = world->what & RECORDING_WAS_YOUNG,
			.has_size_filters = world->what & RECORDING_SIZE_FILTERS},
		.wall_ns = (int64_t)world->t0_ns + 12345,
		.t0_ns = world->t0_ns,
		.walk_ns = world_wild(world),
		.elapsed_ns = world->t0_ns - (1ULL << 49),
		.sampling = {world->step % 2 ? SAMPLING_COUNT : SAMPLING_STEPS, 7},
		.cost = {.elapsed_ns = world->t0_ns / 7,
			 .calls = world->t0_ns / 11,
			 .cpu_ns = world->t0_ns / 13,
			 .ns = world->t0_ns / 17,
			 .trap_ns = world->t0_ns / 19,
			 .is_least = world->step % 2,
			 .most_share = world->step % 2 ? 0.035 : 0,
			 .sample_bytes = world->t0_ns / 21},
		.calls = world_wild(world),
		.replaced = world_wild(world),
		.gone_with_page = world_wild(world),
		.beyond_caches = world->t0_ns / 3,
		.frees_hidden = world->step % 2,
		.vmalloc_hidden = world->t0_ns / 5,
		.kernel_memory = {world->t0_ns / 23, world->t0_ns / 29, world->t0_ns / 31},
		.kernel_memory_before = {world->t0_ns / 37, 1, world->t0_ns / 41},
		.sites = calloc(WORLD_SITES, sizeof(struct site)),
		.blocks = calloc(WORLD_SITES * WORLD_BLOCKS, sizeof(struct block)),
	};
	assert_non_null(ret->sites);
	assert_non_null(ret->blocks);
	if (world->what & RECORDING_AGES)
		ret->earlier = world->earlier;
	moments_add(&world->earlier, ret->elapsed_ns);
	ret->lost[world_random(world, LOSS_CNT)] = world->lost;
	for (size_t i = 0; i < world->site_cnt; i++)
		if (world->sites[i].present)
			world_add_site(world, &world->sites[i], ret);
	if (world->what & RECORDING_AGES) {
		ret->stats[0] = (struct stats){.known = true, .calls = world_wild(world)};
		ret->stats[0].calls_of[1] = world_wild(world);
		ret->stats[1].fills[TABLE_CNT - 1].size = world_wild(world);
	}
	if (world->what & RECORDING_SUMMARY)
		world_add_summaries(world, ret);
	if (!world_random(world, 10))
		world_add_tallies(world, ret);
	if (world->step % 5 < 2)
		world_add_python(world, ret);
	if (world->step % 3)
		world_add_growths(world, ret);
	if (world->what & RECORDING_PEAK && !world_random(world, 10))
		world_take_peak(world, ret);
	ret->peak = world->has_peak ? &world->peak : NULL;
	if (!world_random(world, 3))
		world_add_results(world, ret);
	assert_int_equal(snapshot_own(ret), 0);
}
