/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes what an administrator asks first about kernel memory: how much there is, what has grown,
 * how much the kernel can reclaim, and which caches hold it.
 */
#ifndef SINKS_KERNEL_LINE_H
#define SINKS_KERNEL_LINE_H

#include "sinks/json_writer.h"
#include "sinks/text_part.h"

/*
 * kernel_write_lines() and kernel_write_json() write nothing if no kernel memory is traced, or
 * /proc/meminfo cannot be read.
 */
void kernel_write_lines(const struct text_part *part);
/*
 * Writes a line for each of the largest reclaimable slab caches, at most `most`. These lines take
 * the place of the stacks of the caches' blocks. Also writes the options that show these stacks.
 */
void kernel_write_reclaimable(const struct text_part *part, size_t most);
/* Writes the keys "kernel_memory", "kernel_memory_before" and "kernel_growth". */
void kernel_write_json(struct json_writer *json, const struct snapshot *snap);

#endif
