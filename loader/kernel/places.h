/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds out, from the kernel's BTF, at which positions allocation events have their arguments. */
#ifndef LOADER_KERNEL_PLACES_H
#define LOADER_KERNEL_PLACES_H

#include <bpf/btf.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/kernel.h"

/* True if the kernel's BTF describes the tracepoint. */
bool kernel_places_has(const struct btf *btf, const char *tracepoint);

/*
 * Locates the arguments of the tracepoints in `btf`. Tracepoints of percpu memory are skipped
 * unless `percpu` is true. Returns 0. If the arguments of a tracepoint match no known kernel,
 * returns -EPROTO and sets *ret_event to the tracepoint's name.
 */
int kernel_places_by_btf(const struct btf *btf, bool percpu, struct memleak_value_places *ret,
			 const char **ret_event);

/* Returns the distance in bytes from a CPU's run queue to its preempt count; 0 if unknown. */
int64_t kernel_places_preempt_count(const struct btf *btf);

#endif
