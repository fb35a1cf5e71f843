/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads where an ELF file has code. Reads only its ELF header and program headers. */
#ifndef PROBER_CODE_RANGES_H
#define PROBER_CODE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum number of executable segments of a file. Real files have fewer than four. */
#define CODE_RANGES_MAX 64

/* The file offsets of executable segments. */
struct code_ranges {
	struct {
		uint64_t start;
		uint64_t end; /* exclusive */
	} items[CODE_RANGES_MAX];
	size_t cnt;
};

/* Reads program headers. Sets *ret to no ranges if the file is not 64-bit ELF or unreadable. */
void code_ranges_read(int fd, struct code_ranges *ret);

/* True if the byte at this file offset is code. */
bool code_ranges_have(const struct code_ranges *ranges, uint64_t offset);

#endif
