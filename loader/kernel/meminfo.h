/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads how much memory the kernel uses in total. Does not know for whom. */
#ifndef LOADER_KERNEL_MEMINFO_H
#define LOADER_KERNEL_MEMINFO_H

#include <stdio.h>

#include "report/snapshot.h"

/* Returns the amounts in a file in the format of /proc/meminfo; 0 for those that it does not list.
 */
struct kernel_memory meminfo_read(FILE *meminfo);

#endif
