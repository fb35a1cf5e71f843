// SPDX-License-Identifier: GPL-2.0-or-later
/* Simulates programs that allocate and free blocks, and takes snapshots of these programs. */
#include "tests/unit/lib/made_program.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/order.h"
#include "tests/unit/lib/random.h"

#define SECOND 1000000000.0
#define OLDER_S 0.5

int made_program_init(struct made_program *ret)
{
	*ret = (struct made_program){.blocks = calloc(MADE_BLOCKS, sizeof(*ret->blocks))};
	return ret->blocks ? 0 : -1;
}

void made_program_deinit(struct made_program *program)
{
	free(program->blocks);
}

void made_program_begin(struct made_program *program, uint64_t seed)
{
	*program =
		(struct made_program){.random = seed, .blocks = program->blocks, .interval_s = 5};
}

double made_uniform(struct made_program *program)
{
	return (double)(random_next(&program->random) >> 11) / 9007199254740992.0;
}

double made_between(struct made_program *program, double low, double high)
{
	return low + (high - low) * made_uniform(program);
}

double made_scale(struct made_program *program, double low, double high)
{
	return low * pow(high / low, made_uniform(program));
}

double made_exponential(struct made_program *program, double mean)
{
	return -mean * log(1 - made_uniform(program));
}

double made_lognormal(struct made_program *program, double mean, double sigma)
{
	double radius = sqrt(-2 * log(1 - made_uniform(program)));
	double normal = radius * cos(2 * M_PI * made_uniform(program));

	return mean * exp(sigma * normal - sigma * sigma / 2);
}

void made_block(struct made_program *program, uint32_t site, double birth_s, double life_s,
		uint32_t size)
{
	assert_true(program->cnt < MADE_BLOCKS);
	program->blocks[program->cnt++] = (struct made_block){
		.birth_s = birth_s, .death_s = birth_s + life_s, .size = size, .site = site};
}

void made_churn(struct made_program *program, uint32_t site, double from_s, double to_s,
		double per_second, double life_s, uint32_t size)
{
	for (double at = from_s + made_exponential(program, 1 / per_second); at < to_s;
	     at += made_exponential(program, 1 / per_second))
		made_block(program, site, at, made_exponential(program, life_s),
			   size / 2 + (uint32_t)(made_uniform(program) * size));
}

void made_leak(struct made_program *program, uint32_t site, double from_s, double to_s,
	       double per_second, uint32_t size)
{
	made_churn(program, site, from_s, to_s, per_second, FOREVER, size);
}

static int by_birth(const void *left, const void *right)
{
	const struct made_block *a = left, *b = right;

	return ORDER(a->birth_s, b->birth_s);
}

/* Sorts the blocks by birth. Most programs already add them in that order. */
static void sort_blocks(struct made_program *program)
{
	for (size_t i = 1; i < program->cnt; i++) {
		if (program->blocks[i - 1].birth_s <= program->blocks[i].birth_s)
			continue;
		qsort(program->blocks, program->cnt, sizeof(*program->blocks), by_birth);
		return;
	}
}

/* Blocks that are alive at the current time of the simulation. */
struct living {
	const struct made_block **blocks;
	size_t cnt;
	size_t next; /* index of the next block to allocate, in order of birth */
	struct earlier_frees earlier;
};

static void see_end(const struct made_program *program, const struct made_block *made,
		    struct earlier_frees *earlier)
{
	if (!program->attached || made->birth_s >= 0)
		return;
	earlier->cnt++;
	if (!program->sized)
		return;
	earlier->sized++;
	earlier->bytes += made->size;
}

static void look_at(struct made_program *program, const struct made_block *made, double at_s,
		    double last_s, struct site *site)
{
	uint64_t bytes = made->size + (uint64_t)(made->bytes_per_s * (at_s - made->birth_s));
	double birth_s = made->replaced ? at_s - OLDER_S : made->birth_s;

	if (made->sigma)
		bytes = (uint64_t)made_lognormal(program, (double)bytes, made->sigma);
	site->bytes += bytes;
	site->count++;
	if (birth_s <= last_s - OLDER_S)
		site->kept[age_class((uint64_t)((last_s - birth_s) * SECOND))]++;
	ages_add(&site->ages, (uint64_t)((at_s - birth_s) * SECOND), bytes);
}

static void look(struct made_program *program, struct living *living, double at_s, double last_s,
		 struct site *sites)
{
	size_t kept = 0;

	while (living->next < program->cnt &&
	       program->blocks[living->next].birth_s <= at_s - OLDER_S)
		living->blocks[living->cnt++] = &program->blocks[living->next++];
	for (size_t i = 0; i < living->cnt; i++) {
		const struct made_block *made = living->blocks[i];

		if (made->death_s <= at_s) {
			see_end(program, made, &living->earlier);
			continue;
		}
		living->blocks[kept++] = made;
		if (!program->attached || made->birth_s >= 0)
			look_at(program, made, at_s, last_s, &sites[made->site]);
	}
	living->cnt = kept;
}

/* Passes a snapshot to the ranking: as in a real run, only sites with blocks. */
static void report(struct ranking *ranking, const struct site *sites,
		   const struct process_tally *tally, double at_s, struct growth *ret)
{
	struct site holding[MADE_SITES];
	struct growth growth[MADE_SITES];
	struct process_tally tallies[] = {*tally};
	struct snapshot now = {
		.sites = holding,
		.elapsed_ns = (uint64_t)(at_s * SECOND),
		.tallies = tallies,
		.tally_cnt = 1,
	};

	for (size_t i = 0; i < MADE_SITES; i++)
		if (sites[i].count)
			holding[now.site_cnt++] = sites[i];
	assert_int_equal(ranking__update(ranking, &now, growth), 0);
	for (size_t i = 0, next = 0; i < MADE_SITES; i++)
		ret[i] = sites[i].count ? growth[next++] : (struct growth){.history = NULL};
}

void made_program_run(struct made_program *program, double until_s, made_report_fn *report_fn,
		      void *arg)
{
	struct process process = {.image = 1, .pid = 1};
	struct living living = {.blocks = calloc(program->cnt + 1, sizeof(*living.blocks))};
	struct process_tally tally = {.process = &process};
	struct growth growth[MADE_SITES];
	struct site sites[MADE_SITES];
	struct ranking *ranking;
	double last_s = 0;

	assert_non_null(living.blocks);
	assert_int_equal(ranking__new(&ranking), 0);
	sort_blocks(program);
	for (double at_s = program->interval_s; at_s <= until_s; at_s += program->interval_s) {
		for (uint32_t i = 0; i < MADE_SITES; i++)
			sites[i] = (struct site){.id = i + 1, .process = &process};
		look(program, &living, at_s, last_s, sites);
		tally.earlier = living.earlier;
		report(ranking, sites, &tally, at_s, growth);
		report_fn(arg, at_s, sites, growth);
		last_s = at_s;
	}
	ranking__free(ranking);
	free(living.blocks);
}

static void keep_trends(void *arg, double at_s, const struct site *sites,
			const struct growth *growth)
{
	struct trend *ret = arg;

	for (size_t i = 0; i < MADE_SITES; i++)
		ret[i] = growth[i].history ? growth[i].history->trend : (struct trend){0};
}

void made_program_judge(struct made_program *program, double until_s, struct trend *ret)
{
	made_program_run(program, until_s, keep_trends, ret);
}
