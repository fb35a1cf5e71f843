/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the numbers of the ABI to those of snapshots. */
#ifndef LOADER_TABLES_TRANSLATE_H
#define LOADER_TABLES_TRANSLATE_H

#include <stdint.h>

#include "bpf/memleak.h"
#include "report/terms.h"

/* kind: enum memleak_kind */
enum block_kind kind_from(uint32_t kind);

/* end: enum unwind_end, perhaps beyond it */
enum stack_end stack_end_from(unsigned int end);

/* FAMILY_CNT: the shape is of no allocator's function. */
enum family family_from(enum memleak_shape shape);

void losses_from(const uint64_t counters[MEMLEAK_LOST_CNT], uint64_t ret[LOSS_CNT]);

/* Adds calls, which are by shape, to those of their families; returns how many they are. */
uint64_t calls_from(const uint64_t calls[MEMLEAK_SHAPE_CNT], uint64_t calls_of[FAMILY_CNT]);

#endif
