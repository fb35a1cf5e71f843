/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BPF programs for entry links, which probe only the entries of functions. A few processes need
 * entry links in addition to session links. The programs are loaded when the first entry link is
 * needed, into a second BPF object that uses the maps of the main object.
 */
#ifndef LOADER_PROBES_ENTRY_PROGRAMS_H
#define LOADER_PROBES_ENTRY_PROGRAMS_H

#include <bpf/libbpf.h>

struct entry_programs;
struct user_bpf;

/*
 * Prepares the entry programs without loading them. shared: the main object. It must be loaded
 * before entry_programs__get() is called, and must outlive the entry programs. Returns NULL if out
 * of memory.
 */
struct entry_programs *entry_programs__new(struct user_bpf *shared);
void entry_programs__free(struct entry_programs *programs);

/*
 * Returns the entry program, and loads it at the first call. If it cannot be loaded, logs the error
 * and returns NULL.
 */
struct bpf_program *entry_programs__get(struct entry_programs *programs);

/*
 * Fills the tail-call table for links other than session links. enter: the program that handles the
 * entry of a call once it is known that the call is not nested. Returns 0 or a negative errno.
 */
int entry_programs_put_tail_calls(const struct user_bpf *skel, const struct bpf_program *enter);

#endif
