/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A random number generator that gives the same numbers in every run: splitmix64. */
#ifndef TESTS_UNIT_LIB_RANDOM_H
#define TESTS_UNIT_LIB_RANDOM_H

#include <stdint.h>

uint64_t random_next(uint64_t *seed);

#endif
