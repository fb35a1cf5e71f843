// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/symbolizer/patient.h"

#include "symbolizer/state.h"
#include "tests/unit/lib/process.h"

void be_patient(struct symbolizer *sym)
{
	sym->client.hang_ns = PATIENCE_NS;
}

bool was_resolved(const struct symspace *space, uint64_t addr)
{
	return locations_get(&space->process.locations, &(struct sym_query){.addr = addr});
}
