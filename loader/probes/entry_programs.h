/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs for links of entries alone, where links of sessions hold all other probes. Few
 * processes need them: they are loaded when the first probe wants them, into an object that shares
 * all tables with the main one.
 */
#ifndef LOADER_PROBES_ENTRY_PROGRAMS_H
#define LOADER_PROBES_ENTRY_PROGRAMS_H

#include <bpf/libbpf.h>

struct entry_programs;
struct user_bpf;

/* The tables are those of shared, which is loaded and outlives this one. */
struct entry_programs *entry_programs__new(struct user_bpf *shared);
void entry_programs__free(struct entry_programs *programs);

/* The entry program, loaded now if it is not yet. NULL: it cannot be loaded, which was logged. */
struct bpf_program *entry_programs__get(struct entry_programs *programs);

/*
 * Fills the array of what entry programs call at their end, for links that are no sessions.
 * enter: the program that continues an entry which is known not to be nested. 0 or a negative
 * errno.
 */
int entry_programs_put_tail_calls(const struct user_bpf *skel, const struct bpf_program *enter);

#endif
