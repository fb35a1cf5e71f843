/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the probe places of functions in a file: reads the code of the functions and passes it to
 * probe_place.c. The file is hostile: the amount of code that is read is limited, whatever sizes
 * the symbols state.
 */
#ifndef PROBER_SERVER_FUNCTION_PLACES_H
#define PROBER_SERVER_FUNCTION_PLACES_H

#include "prober/server/elf_functions.h"
#include "prober/server/probe_place.h"

/*
 * Chooses the probe place of each of the cnt functions, and stores that of functions[i] in ret[i].
 * argument_cnts[i]: number of arguments that the probe of functions[i] reads. at_entry: place all
 * probes at the entries. Never fails: if code cannot be read, chooses the entry. The caller frees
 * the places with function_places_deinit(), or takes over their `insn`.
 */
void function_places_find(int fd, uint16_t machine, const struct elf_function *functions,
			  const unsigned int *argument_cnts, size_t cnt, bool at_entry,
			  struct probe_place *ret);

void function_places_deinit(struct probe_place *places, size_t cnt);

#endif
