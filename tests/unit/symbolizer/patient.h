/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_SYMBOLIZER_PATIENT_H
#define TESTS_UNIT_SYMBOLIZER_PATIENT_H

struct symbolizer;

/* Makes a symbolizer wait for its helper as long as tests wait for any event. */
void be_patient(struct symbolizer *sym);

#endif
