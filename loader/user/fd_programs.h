/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --fds: the BPF programs that trace system calls. */
#ifndef LOADER_USER_FD_PROGRAMS_H
#define LOADER_USER_FD_PROGRAMS_H

#include <stdbool.h>

#include "options/options.h"

struct bpf_link;
struct bpf_program;
struct user_bpf;

#define FD_PROGRAM_CNT 4

struct fd_programs {
	struct bpf_link *links[FD_PROGRAM_CNT];
};

/* Configures the BPF programs and maps before they are loaded. Returns 0 or a negative errno. */
int fd_programs_prepare(const struct options *opts, struct user_bpf *skel);
/*
 * Attaches the BPF programs after they were loaded. Returns 0, or a negative errno after logging
 * the failure.
 */
int fd_programs_attach(struct fd_programs *programs, const struct user_bpf *skel);
void fd_programs_detach(struct fd_programs *programs);

/*
 * True if this is a BPF program of --fds. Such programs may miss descriptors: these are found in
 * /proc.
 */
bool fd_programs_have(const struct bpf_program *program);

#endif
