/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts constants of the BPF programs' ABI to those of snapshots. */
#ifndef LOADER_TABLES_TRANSLATE_H
#define LOADER_TABLES_TRANSLATE_H

#include <stdint.h>

#include "bpf/memleak.h"
#include "report/terms.h"

/* Converts an enum memleak_kind; unknown values become KIND_CNT. */
enum block_kind kind_from(uint32_t kind);

/* Converts an enum unwind_end; unknown values become STACK_END_UNKNOWN. */
enum stack_end stack_end_from(unsigned int end);

/* Returns the family of a shape, or FAMILY_CNT if it is not the shape of an allocator function. */
enum family family_from(enum memleak_shape shape);

void losses_from(const uint64_t counters[MEMLEAK_LOST_CNT], uint64_t ret[LOSS_CNT]);

/* Adds calls by shape to calls by family. Returns the sum of calls. */
uint64_t calls_from(const uint64_t calls[MEMLEAK_SHAPE_CNT], uint64_t calls_of[FAMILY_CNT]);

#endif
