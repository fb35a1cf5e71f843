/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The programs that hear of exec, fork, the end of threads, and of cgroups that are made. */
#ifndef LOADER_USER_LIFECYCLE_H
#define LOADER_USER_LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>

struct bpf_link;
struct bpf_program;
struct user_bpf;

/* Two for each event: exec, fork, exit, and with cgroups their moves and mkdir. */
#define LIFECYCLE_LINKS 10

struct lifecycle {
	struct bpf_link *links[LIFECYCLE_LINKS];
	size_t cnt;
};

/* 0 or a negative errno, and it has said what failed; to be deinited either way. */
int lifecycle_init(struct lifecycle *lifecycle, const struct user_bpf *skel, bool by_cgroup);
/* Is it the second program of its event? */
bool lifecycle_is_second(const struct bpf_program *program);
void lifecycle_deinit(struct lifecycle *lifecycle);

#endif
