/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads how much memory vmalloc() has allocated in total. Does not know for whom. */
#ifndef LOADER_KERNEL_VMALLOC_H
#define LOADER_KERNEL_VMALLOC_H

#include <stdint.h>
#include <stdio.h>

/*
 * Returns the bytes of vmalloc() from a file in the format of /proc/meminfo; 0 if they are not
 * listed.
 */
uint64_t vmalloc_bytes(FILE *meminfo);

#endif
