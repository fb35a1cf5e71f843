/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first bytes of allocator functions in Debian's x86-64 builds of real libraries, and the best
 * offset for a probe. At this offset is an instruction that the kernel emulates, and that every
 * call reaches with unchanged arguments. The offset is 0 (the entry) if there is no such
 * instruction.
 */
#ifndef TESTS_UNIT_LOADER_PROBES_PROLOGUES_H
#define TESTS_UNIT_LOADER_PROBES_PROLOGUES_H

#include <stddef.h>
#include <stdint.h>

struct prologue {
	const char *function;
	unsigned int argument_cnt;
	uint64_t place;
	const uint8_t *bytes;
	size_t len;
};

extern const struct prologue prologues[];
extern const size_t prologue_cnt;

#endif
