/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the probes of functions of a file go: reads their code for probe_place. The file is
 * hostile: what is read is bounded, whatever its symbols claim.
 */
#ifndef PROBER_SERVER_FUNCTION_PLACES_H
#define PROBER_SERVER_FUNCTION_PLACES_H

#include "prober/server/elf_functions.h"
#include "prober/server/probe_place.h"

/*
 * The place of each of cnt functions of the file, argument_cnts[i] of whose arguments are read
 * there; ret has room for them. Never fails: what cannot be read is probed at its entry, as is
 * everything if at_entry.
 */
void function_places_find(int fd, uint16_t machine, const struct elf_function *functions,
			  const unsigned int *argument_cnts, size_t cnt, bool at_entry,
			  struct probe_place *ret);

void function_places_deinit(struct probe_place *places, size_t cnt);

#endif
