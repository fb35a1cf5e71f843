/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads how much memory the kernel uses in total. */
#ifndef LOADER_KERNEL_MEMINFO_H
#define LOADER_KERNEL_MEMINFO_H

#include <stdio.h>

#include "report/snapshot.h"

/* Reads a file in the format of /proc/meminfo. Amounts that the file does not list are 0. */
struct kernel_memory meminfo_read(FILE *meminfo);

#endif
