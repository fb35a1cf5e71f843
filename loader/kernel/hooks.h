/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaches hooks for events without tracepoints: bulk allocations and frees, and frees by RCU. The
 * hooks share the maps of the tracepoint programs, and know nothing else about those programs.
 */
#ifndef LOADER_KERNEL_HOOKS_H
#define LOADER_KERNEL_HOOKS_H

#include "loader/kernel/loading.h"

struct hooks_bpf;

#define KERNEL_HOOK_LINKS 12

struct kernel_hooks {
	struct hooks_bpf *skel; /* object with the hooks; NULL if hooks are not available */
	struct bpf_object *object;
	bool pages; /* true if bulk allocations of pages are traced */
	struct bpf_link *links[KERNEL_HOOK_LINKS];
	size_t link_cnt;
};

/*
 * Attaches the hooks; recording starts with kernel_hooks_start(). A failure is no error and is
 * logged only with -v: without hooks, bulk allocations are missed, but bulk frees and frees by RCU
 * are noticed when the memory is reused. hooks must be zeroed.
 */
void kernel_hooks_init(const struct kernel_loading *loading, const struct bpf_object *tables,
		       struct kernel_hooks *hooks);
void kernel_hooks_deinit(struct kernel_hooks *hooks);
/* Starts recording. */
void kernel_hooks_start(struct kernel_hooks *hooks);

/* Returns the maximum number of events that the hooks may have missed. */
uint64_t kernel_hooks_missed(const struct kernel_hooks *hooks);

#endif
