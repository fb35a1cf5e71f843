/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the probes of functions of a file go: reads their code for probe_place. The file is
 * hostile: what is read is bounded, whatever its symbols claim.
 */
#ifndef LOADER_PROBES_FUNCTION_PLACES_H
#define LOADER_PROBES_FUNCTION_PLACES_H

#include <stddef.h>

#include "loader/probes/probe_place.h"
#include "loader/target/elf_functions.h"

/*
 * The place of each of cnt functions of the file, argument_cnts[i] of whose arguments are read
 * there; ret has room for them. Never fails: what cannot be read is probed at its entry, as is
 * everything with TEST_KNOB_PLACE.
 */
void function_places_find(int fd, const struct elf_function *functions,
			  const unsigned int *argument_cnts, size_t cnt, struct probe_place *ret);

void function_places_deinit(struct probe_place *places, size_t cnt);

#endif
