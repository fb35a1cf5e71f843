/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the probe places of functions in a file: reads their code for probe_place. The file is
 * hostile: reads are bounded, whatever its symbols claim.
 */
#ifndef PROBER_SERVER_FUNCTION_PLACES_H
#define PROBER_SERVER_FUNCTION_PLACES_H

#include "prober/server/elf_functions.h"
#include "prober/server/probe_place.h"

/*
 * Finds the probe place of each of cnt functions. argument_cnts[i]: number of arguments that the
 * probe of functions[i] reads. ret has room for cnt places. Never fails: the place is the entry if
 * code cannot be read, and for all functions if at_entry.
 */
void function_places_find(int fd, uint16_t machine, const struct elf_function *functions,
			  const unsigned int *argument_cnts, size_t cnt, bool at_entry,
			  struct probe_place *ret);

void function_places_deinit(struct probe_place *places, size_t cnt);

#endif
