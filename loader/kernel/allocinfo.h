/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads how much memory each line of kernel code has allocated and not freed. */
#ifndef LOADER_KERNEL_ALLOCINFO_H
#define LOADER_KERNEL_ALLOCINFO_H

#include <stdio.h>

#include "loader/kernel/sizes.h"

/*
 * Reads a file in the format of /proc/allocinfo, and adds its sizes to the table. Names are like
 * "fs/dcache.c:1683 __d_alloc", with the module in brackets, if any, before the function. Skips
 * lines that it cannot parse, and lines without memory. On failure, empties the table. Returns 0,
 * -ENOMEM or -EIO.
 */
int allocinfo_read(FILE *allocinfo, struct named_sizes *ret);

#endif
