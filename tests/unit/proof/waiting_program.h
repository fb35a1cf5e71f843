/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program tests/programs/prove_waits.c as a function, for child processes of tests. */
#ifndef TESTS_UNIT_PROOF_WAITING_PROGRAM_H
#define TESTS_UNIT_PROOF_WAITING_PROGRAM_H

int waiting_program_main(int argc, char **argv);

#endif
