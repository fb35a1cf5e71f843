/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Access to a symbolizer's state, for tests of the loader, which cannot include its state.h. */
#ifndef TESTS_UNIT_SYMBOLIZER_PATIENT_H
#define TESTS_UNIT_SYMBOLIZER_PATIENT_H

#include <stdbool.h>
#include <stdint.h>

struct symbolizer;
struct symspace;

/* Makes a symbolizer wait for its helper as long as tests wait for any event. */
void be_patient(struct symbolizer *sym);

/* True if a return address was looked up in the space. */
bool was_resolved(const struct symspace *space, uint64_t addr);

#endif
