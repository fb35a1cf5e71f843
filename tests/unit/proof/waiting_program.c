// SPDX-License-Identifier: GPL-2.0-or-later
/* Includes tests/programs/prove_waits.c with its main() renamed. */
#include "tests/unit/proof/waiting_program.h"

#define main waiting_program_main
#include "tests/programs/prove_waits.c"
