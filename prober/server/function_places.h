/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the probe places of functions in a file: reads the code of functions and passes it to
 * probe_place.c. The file is hostile: reads are bounded, whatever sizes its symbols state.
 */
#ifndef PROBER_SERVER_FUNCTION_PLACES_H
#define PROBER_SERVER_FUNCTION_PLACES_H

#include "prober/server/elf_functions.h"
#include "prober/server/probe_place.h"

/*
 * Chooses the probe place of each of cnt functions. argument_cnts[i]: number of arguments that the
 * probe of functions[i] reads. ret: array of cnt places. at_entry: place all probes at the entry.
 * Never fails: if code cannot be read, chooses the entry.
 */
void function_places_find(int fd, uint16_t machine, const struct elf_function *functions,
			  const unsigned int *argument_cnts, size_t cnt, bool at_entry,
			  struct probe_place *ret);

void function_places_deinit(struct probe_place *places, size_t cnt);

#endif
