/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hooks for what the tracepoints do not show: bulk allocations and frees, and frees by RCU. The
 * tables are those of the tracepoints' programs, of which it knows nothing else.
 */
#ifndef LOADER_KERNEL_HOOKS_H
#define LOADER_KERNEL_HOOKS_H

#include "loader/kernel/loading.h"

struct hooks_bpf;

#define KERNEL_HOOK_LINKS 12

struct kernel_hooks {
	struct hooks_bpf *skel; /* NULL: none can be had */
	struct bpf_object *object;
	bool pages; /* those that are allocated in bulk are seen */
	struct bpf_link *links[KERNEL_HOOK_LINKS];
	size_t link_cnt;
};

/*
 * Attaches them; nothing is recorded yet. Without them what they tell follows from what the
 * tracepoints show, mostly: so having none is no error, but told under -v. hooks is all zeros.
 */
void kernel_hooks_init(const struct kernel_loading *loading, const struct bpf_object *tables,
		       struct kernel_hooks *hooks);
void kernel_hooks_deinit(struct kernel_hooks *hooks);
/* Begins to record. */
void kernel_hooks_start(struct kernel_hooks *hooks);

/* How many events the hooks left out, at most. */
uint64_t kernel_hooks_missed(const struct kernel_hooks *hooks);

#endif
