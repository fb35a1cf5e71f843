/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs for links of entries alone, where those of sessions hold all other probes. They are
 * few's need: loaded when the first probe wants them, into an object that shares all tables with
 * the first one.
 */
#ifndef ENTRY_PROGRAMS_H
#define ENTRY_PROGRAMS_H

#include <bpf/libbpf.h>

struct entry_programs;
struct user_bpf;

/* The tables are those of an object that is loaded, and stays until this one is freed. */
struct entry_programs *entry_programs__new(struct user_bpf *shared);
void entry_programs__free(struct entry_programs *programs);

/* The entry program, loaded now if it is not yet. NULL: it cannot be, and that was said. */
struct bpf_program *entry_programs__get(struct entry_programs *programs);

#endif
