/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attaches the BPF programs for exec, fork, thread exit, and cgroup moves and creation. */
#ifndef LOADER_USER_LIFECYCLE_H
#define LOADER_USER_LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>

struct bpf_link;
struct bpf_program;
struct user_bpf;

/* Maximum links: two for each of the events exec, fork, exit, cgroup move and cgroup creation. */
#define LIFECYCLE_LINKS 10

struct lifecycle {
	struct bpf_link *links[LIFECYCLE_LINKS];
	size_t cnt;
};

/*
 * Attaches the BPF programs; those for cgroup moves and creation only if by_cgroup is set. Returns
 * 0, or a negative errno after logging the failure; call lifecycle_deinit() either way.
 */
int lifecycle_init(struct lifecycle *lifecycle, const struct user_bpf *skel, bool by_cgroup);
/* True if this BPF program is the second of the two for its event. */
bool lifecycle_is_second(const struct bpf_program *program);
void lifecycle_deinit(struct lifecycle *lifecycle);

#endif
