/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attaches the BPF programs for exec, fork, thread exit, and cgroup moves and creation. */
#ifndef LOADER_USER_LIFECYCLE_H
#define LOADER_USER_LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>

struct bpf_link;
struct bpf_program;
struct user_bpf;

/* Two programs for each event: exec, fork, exit, and with cgroups also moves and mkdir. */
#define LIFECYCLE_LINKS 10

struct lifecycle {
	struct bpf_link *links[LIFECYCLE_LINKS];
	size_t cnt;
};

/* Returns 0, or a negative errno after logging the failure; call lifecycle_deinit() either way. */
int lifecycle_init(struct lifecycle *lifecycle, const struct user_bpf *skel, bool by_cgroup);
/* True if the program is the second one of its event. */
bool lifecycle_is_second(const struct bpf_program *program);
void lifecycle_deinit(struct lifecycle *lifecycle);

#endif
