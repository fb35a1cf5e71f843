/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hand-made snapshots and the symbols of their addresses: the input of the golden tests. Each
 * scene's expected text and JSON reports are in tests/golden/, in a folder of its name.
 */
#ifndef TESTS_UNIT_LIB_SCENES_H
#define TESTS_UNIT_LIB_SCENES_H

#include "report/peak.h"
#include "report/report.h"

#define MS 1000000ULL
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct scene {
	const char *name;
	struct options opts;
	const struct snapshot *before; /* previous snapshot; NULL if there is none */
	/* number of reports over which memory grew up to `snap`; 0: only one report */
	unsigned int growing;
	struct snapshot snap;
	bool final;
	const struct ended_processes *ended; /* processes that have ended; NULL: none */
	struct ranking_past watched;
	unsigned int rows; /* height of the terminal, which has 80 columns; 0: no terminal */
};

/* 2026-11-20T20:30:01.123Z */
#define WALL_NS 1795206601123456789LL
#define SNAPSHOT_OF(first_site, cnt, ...)                                                          \
	{                                                                                          \
		.wall_ns = WALL_NS, .t0_ns = 1000000 * MS, .walk_ns = 12 * MS,                     \
		.elapsed_ns = 5000123456, .sites = (first_site), .site_cnt = (cnt), .calls = 1234, \
		__VA_ARGS__                                                                        \
	}
#define SNAPSHOT(array, ...) SNAPSHOT_OF(array, LENGTH(array), __VA_ARGS__)
#define STACK(array) .frames = (array), .frame_cnt = LENGTH(array)
#define AGES(newest, oldest) .newest_ns = (newest), .oldest_ns = (oldest)
#define FRAMES(...)                                                                                \
	(const struct sym_frame[])                                                                 \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define PROGRAM .module = "/usr/bin/leak", .build_id = "0123456789abcdef0123456789abcdef01234567"
#define ONE(...) .frame_cnt = 1, .frames = FRAMES({__VA_ARGS__})
#define SMALL                                                                                      \
	{                                                                                          \
		.id = 0x9f3c000000000001, .process = &leak, .bytes = 80, .count = 5,               \
		AGES(600 * MS, 4900 * MS), STACK(small_stack), .end = STACK_END_COMPLETE           \
	}
#define BIG                                                                                        \
	{                                                                                          \
		.id = 0x2, .process = &leak, .bytes = 5242880, .count = 5,                         \
		AGES(600 * MS, 4900 * MS), STACK(big_stack), .end = STACK_END_COMPLETE             \
	}

extern const struct sym_location known_locations[19];
extern struct process leak;
extern struct process hostile;
extern const uint64_t small_stack[3];
extern const uint64_t big_stack[2];
extern const uint64_t cxx_stack[3];
extern const uint64_t odd_stack[8];
extern const uint64_t hostile_stack[3];
extern struct site hostile_sites[2];
extern struct site recursive_sites[3];
extern struct site kind_sites[7];
extern struct site sampled_sites[2];
extern struct site group_sites[9];
extern struct site thread_sites[2];
extern struct block thread_blocks[5];
extern struct site proved_sites[6];
extern const struct proof_facts proof_still;
extern const struct heap_census census_of_one;
extern const struct scene scenes[];
extern const size_t scene_cnt;

#endif
