/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random test data for recordings: snapshots of sites that appear, grow, shrink, get names and
 * disappear. Numbers may have any value that fits into their field.
 */
#ifndef TESTS_UNIT_RECORDING_WORLD_H
#define TESTS_UNIT_RECORDING_WORLD_H

#include "recording/recording.h"
#include "report/peak.h"

#define WORLD_SITES 60
#define WORLD_FRAMES 40
#define WORLD_PROCESSES 8
#define WORLD_BLOCKS 6
#define WORLD_LOCATIONS 64

struct world_site {
	struct site site; /* the site; in place of ages, its fields have times of birth */
	uint64_t frames[WORLD_FRAMES];
	struct block blocks[WORLD_BLOCKS];
	size_t block_cnt;
	bool present;
	char comm[16];
	struct ages births;
};

struct world {
	struct symbol_backend symbols;
	uint64_t seed;
	unsigned int what;
	uint64_t t0_ns;
	int step;
	struct process processes[WORLD_PROCESSES];
	char comms[WORLD_PROCESSES][16];
	struct world_site sites[WORLD_SITES];
	size_t site_cnt;
	struct sym_frame location_frames[WORLD_LOCATIONS][3];
	struct sym_location locations[WORLD_LOCATIONS];
	struct peak peak;
	bool has_peak;
	uint64_t lost;
	struct moments earlier;
};

/* A symbol backend that finds the names of some addresses late, and the names of others never. */
const struct sym_location *world_lookup(struct symbol_backend *self, const struct site *site,
					uint64_t frame);

struct world *world_new(uint64_t seed, unsigned int what);
void world_free(struct world *world);

void world_step(struct world *world);

void world_snapshot(struct world *world, struct snapshot *ret);

#endif
