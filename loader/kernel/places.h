/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the kernel's allocation events have their values: which argument of the tracepoint, by
 * the kernel's BTF; which field of its record, by tracefs where there is no BTF.
 */
#ifndef LOADER_KERNEL_PLACES_H
#define LOADER_KERNEL_PLACES_H

#include <bpf/btf.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/kernel.h"

/* The tracepoint is in this kernel's BTF. */
bool kernel_places_has(const struct btf *btf, const char *tracepoint);

/*
 * Fills in the arguments of the tracepoints that btf knows. 0, or -EPROTO: one of them has not
 * the arguments that any kernel is known to have; *ret_event says which.
 */
int kernel_places_by_btf(const struct btf *btf, struct memleak_value_places *ret,
			 const char **ret_event);

/* The same from the format files below a tracefs's events folder. -ENOENT: an event has none. */
int kernel_places_by_format(const char *events_folder, struct memleak_value_places *ret,
			    const char **ret_event);

/* How far behind its run queue a CPU has its count of interrupts; 0: it is not known. */
int64_t kernel_places_preempt_count(const struct btf *btf);

#endif
