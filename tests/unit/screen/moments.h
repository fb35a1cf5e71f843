/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Eight snapshots of a program that leaks, fills a cache and allocates short-lived blocks: test
 * data for the live screen.
 */
#ifndef TESTS_UNIT_SCREEN_MOMENTS_H
#define TESTS_UNIT_SCREEN_MOMENTS_H

#include "report/snapshot.h"

#define MOMENTS 8

extern const struct snapshot moments[MOMENTS];

#endif
