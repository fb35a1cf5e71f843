/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF programs on the kernel's allocation events: of the kinds there are, the best that the
 * kernel takes.
 */
#ifndef LOADER_KERNEL_PROGRAMS_H
#define LOADER_KERNEL_PROGRAMS_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <sys/types.h>

#include "bpf/kernel.h"
#include "loader/kernel/hooks.h"
#include "options/options.h"

struct kernel_bpf;
struct classic_bpf;

#define KERNEL_LINKS 40

/* What the loader changes in a loaded object. */
struct kernel_switches {
	volatile bool *tracking;
	volatile __u64 *direct_map;
	volatile struct memleak_stack_watch *stack_watch;
};

struct kernel_programs {
	struct bpf_object *object; /* the one with the tracepoints */
	const char *kind;          /* "tp_btf", "raw_tp", "classic" */
	struct kernel_bpf *kernel;
	struct classic_bpf *classic;
	struct kernel_hooks hooks;
	struct kernel_switches switches;
	struct bpf_link *links[KERNEL_LINKS];
	size_t link_cnt;
	uint32_t stack_depth;
};

/*
 * Loads and attaches them; nothing is recorded yet. Returns 0 or a negative errno; has said what
 * failed. ret needs deinit in either case.
 */
int kernel_programs_init(const struct options *opts, const struct kernel_functions *functions,
			 size_t target_cnt, struct kernel_programs *ret);
void kernel_programs_deinit(struct kernel_programs *programs);

/* Whether it only handles what another program missed. */
bool kernel_programs_is_second(const struct bpf_program *prog);

/* Begins to record. */
void kernel_programs_start(struct kernel_programs *programs);

#endif
