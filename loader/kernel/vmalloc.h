/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much memory vmalloc() holds, by /proc/meminfo. It does not know who has asked for it. */
#ifndef LOADER_KERNEL_VMALLOC_H
#define LOADER_KERNEL_VMALLOC_H

#include <stdint.h>
#include <stdio.h>

/* In bytes, from /proc/meminfo or a file like it; 0: it does not say. */
uint64_t vmalloc_bytes(FILE *meminfo);

#endif
