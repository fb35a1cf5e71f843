// SPDX-License-Identifier: GPL-2.0-or-later
/* Eight snapshots of a program, 5 s apart: test data for the live screen. */
#include "tests/unit/screen/moments.h"

#include "tests/unit/lib/scenes.h"

static struct process worker = {.image = 9, .pid = 4712, .comm = (char *)"worker"};

#define AGED(cnt, size) .ages = {.count = {[12] = (cnt)}, .bytes = {[12] = (cnt) * (size)}}

#define SITES(leaked, cached, working, late)                                                       \
	(struct site[])                                                                            \
	{                                                                                          \
		{.id = 1,                                                                          \
		 .process = &leak,                                                                 \
		 .bytes = 30000 * (leaked),                                                        \
		 .count = 300 * (leaked),                                                          \
		 AGED(300 * (leaked), 100),                                                        \
		 .kept = {[12] = 300 * (leaked)-300},                                              \
		 AGES(MS, (leaked)*5000 * MS),                                                     \
		 STACK(small_stack),                                                               \
		 .end = STACK_END_COMPLETE},                                                       \
			{.id = 2,                                                                  \
			 .process = &leak,                                                         \
			 .bytes = 1048576 * (cached),                                              \
			 .count = (cached),                                                        \
			 AGED(cached, 1048576),                                                    \
			 .kept = {[12] = (cached)-1},                                              \
			 AGES(MS, (cached)*5000 * MS),                                             \
			 STACK(cxx_stack),                                                         \
			 .end = STACK_END_COMPLETE},                                               \
			{.id = 3,                                                                  \
			 .process = &leak,                                                         \
			 .kind = KIND_MMAP,                                                        \
			 .bytes = 4096 * (working),                                                \
			 .count = (working),                                                       \
			 AGED(working, 4096),                                                      \
			 AGES(MS, 900 * MS),                                                       \
			 STACK(odd_stack),                                                         \
			 .end = STACK_END_NO_RULE},                                                \
			{.id = 4,                                                                  \
			 .process = &worker,                                                       \
			 .bytes = 7000 * (late),                                                   \
			 .count = (late),                                                          \
			 AGED(late, 7000),                                                         \
			 AGES(MS, 900 * MS),                                                       \
			 STACK(big_stack),                                                         \
			 .end = STACK_END_COMPLETE},                                               \
			{.id = 5,                                                                  \
			 .process = &hostile,                                                      \
			 .bytes = 500,                                                             \
			 .count = 1,                                                               \
			 AGES(900 * MS, 900 * MS),                                                 \
			 STACK(hostile_stack),                                                     \
			 .end = STACK_END_COMPLETE},                                               \
	}
#define MOMENT(number, ...)                                                                        \
	{                                                                                          \
		.wall_ns = WALL_NS + (number)*5000 * (int64_t)MS,                                  \
		.t0_ns = (1000000 + (number)*5000) * MS, .elapsed_ns = (number)*5000 * MS,         \
		.sites = SITES(__VA_ARGS__), .site_cnt = 5, .calls = 1000 * (number),              \
		.lost = {[LOSS_UNWIND] = (number) > 6 ? 2 : 0},                                    \
	}

const struct snapshot moments[MOMENTS] = {
	MOMENT(1, 1, 2, 9, 0), MOMENT(2, 2, 4, 3, 0), MOMENT(3, 3, 6, 7, 0),  MOMENT(4, 4, 6, 2, 0),
	MOMENT(5, 5, 6, 8, 1), MOMENT(6, 6, 6, 1, 2), MOMENT(7, 7, 6, 10, 3), MOMENT(8, 8, 6, 5, 4),
};
