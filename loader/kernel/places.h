/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out where the kernel's allocation events have their values. If the kernel has BTF, the BTF
 * describes the arguments of the tracepoints; otherwise tracefs describes the fields of the events'
 * records.
 */
#ifndef LOADER_KERNEL_PLACES_H
#define LOADER_KERNEL_PLACES_H

#include <bpf/btf.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/kernel.h"

/* True if the kernel's BTF describes the tracepoint. */
bool kernel_places_has(const struct btf *btf, const char *tracepoint);

/*
 * Locates the arguments of the tracepoints in btf. Returns 0, or -EPROTO if the arguments of a
 * tracepoint match no known kernel; then *ret_event is the tracepoint's name.
 */
int kernel_places_by_btf(const struct btf *btf, struct memleak_value_places *ret,
			 const char **ret_event);

/*
 * Locates the fields of the events' records. Reads the format files in the events directory of
 * tracefs. Returns 0, -ENOENT if an event's format file or one of the fields is missing, or another
 * negative errno.
 */
int kernel_places_by_format(const char *events_folder, struct memleak_value_places *ret,
			    const char **ret_event);

/* Returns the distance in bytes from a CPU's run queue to its preempt count; 0 if unknown. */
int64_t kernel_places_preempt_count(const struct btf *btf);

#endif
