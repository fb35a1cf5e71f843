/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares a snapshot of random test data (world.h) with its copy from a recording. */
#ifndef TESTS_UNIT_RECORDING_SAME_H
#define TESTS_UNIT_RECORDING_SAME_H

#include "tests/unit/recording/world.h"

void world_compare(struct world *world, const struct snapshot *a, const struct snapshot *b,
		   struct symbol_backend *symbols);

#endif
