/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes and reads the internal state of a symbolizer for tests of the loader, which cannot
 * include symbolizer/state.h.
 */
#ifndef TESTS_UNIT_SYMBOLIZER_PATIENT_H
#define TESTS_UNIT_SYMBOLIZER_PATIENT_H

#include <stdbool.h>
#include <stdint.h>

struct symbolizer;
struct symspace;

/* Makes the symbolizer wait for its helper as long as tests wait for any event. */
void be_patient(struct symbolizer *sym);

/* True if `addr` was looked up in the space as a return address. */
bool was_resolved(const struct symspace *space, uint64_t addr);

#endif
