/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts programs where others call them at their end. */
#ifndef ENDINGS_H
#define ENDINGS_H

#include <bpf/libbpf.h>

#include "bpf/memleak.h"

/* Those that were not loaded are left out. Returns 0 or a negative errno. */
int endings_put(const struct bpf_map *map,
		const struct bpf_program *const programs[MEMLEAK_ENDING_CNT]);

#endif
