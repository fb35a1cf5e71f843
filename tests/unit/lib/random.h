/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random numbers that are the same in every run: splitmix64. */
#ifndef TESTS_UNIT_LIB_RANDOM_H
#define TESTS_UNIT_LIB_RANDOM_H

#include <stdint.h>

uint64_t random_next(uint64_t *seed);

#endif
