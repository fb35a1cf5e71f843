// SPDX-License-Identifier: GPL-2.0-or-later
/* Replaces test_knobs.c in builds without test knobs, which do not read the environment. */
#include <stddef.h>

#include "base/test_knobs.h"

const char *test_knob(enum test_knob knob)
{
	return NULL;
}

uint64_t patient_ns(uint64_t within_ns)
{
	return within_ns;
}
