/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input format of fuzz_census, which describes the memory of a process: one byte with the
 * number of regions, their descriptions, then the first bytes of each region. The rest of each
 * region is zeros.
 */
#ifndef TESTS_FUZZ_CENSUS_IMAGE_H
#define TESTS_FUZZ_CENSUS_IMAGE_H

#include <stdint.h>

#define IMAGE_REGIONS_MAX 8U

enum image_kind { IMAGE_FILE, IMAGE_BREAK, IMAGE_ANONYMOUS, IMAGE_KINDS };

struct image_region {
	uint64_t start; /* start address; rounded down to a page */
	uint32_t pages; /* number of pages minus one, modulo PAGES_MAX of fuzz_census */
	uint16_t kind;  /* enum image_kind, modulo IMAGE_KINDS */
	uint16_t bytes; /* number of the region's bytes in the input */
};

#endif
