/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a process in an input of fuzz_census: how many regions there are, in one byte,
 * their descriptions, and what they begin with, one after another; the rest of each is zeros.
 */
#ifndef TESTS_FUZZ_CENSUS_IMAGE_H
#define TESTS_FUZZ_CENSUS_IMAGE_H

#include <stdint.h>

#define IMAGE_REGIONS_MAX 8U

enum image_kind { IMAGE_FILE, IMAGE_BREAK, IMAGE_ANONYMOUS, IMAGE_KINDS };

struct image_region {
	uint64_t start; /* rounded down to a page */
	uint32_t pages; /* at least one */
	uint16_t kind;  /* modulo IMAGE_KINDS */
	uint16_t bytes; /* that are stored */
};

#endif
