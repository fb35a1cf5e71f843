/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BPF programs for links of entries alone, used when session links hold all other probes. Few
 * processes need them, so they are loaded with the first such probe, into an object that shares all
 * maps with the main one.
 */
#ifndef LOADER_PROBES_ENTRY_PROGRAMS_H
#define LOADER_PROBES_ENTRY_PROGRAMS_H

#include <bpf/libbpf.h>

struct entry_programs;
struct user_bpf;

/* Prepares the programs. shared must be loaded and outlive them; its maps are used. */
struct entry_programs *entry_programs__new(struct user_bpf *shared);
void entry_programs__free(struct entry_programs *programs);

/*
 * Returns the entry program, and loads it if needed. NULL after logging that it cannot be loaded.
 */
struct bpf_program *entry_programs__get(struct entry_programs *programs);

/*
 * Fills the tail-call table of programs whose links are not sessions. enter: the program that
 * continues an entry found not to be nested. Returns 0 or a negative errno.
 */
int entry_programs_put_tail_calls(const struct user_bpf *skel, const struct bpf_program *enter);

#endif
