/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads the BPF programs for the kernel's allocation events. Tries several kinds of programs, and
 * uses the best kind that the kernel accepts.
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

#define KERNEL_LINKS 40

/* Variables of a loaded object that the loader reads or sets. */
struct kernel_switches {
	volatile bool *tracking;
	volatile __u64 *direct_map;
	volatile struct memleak_stack_watch *stack_watch;
};

struct kernel_programs {
	struct bpf_object *object; /* object with the tracepoint programs */
	const char *kind;          /* kind of the programs: "tp_btf" or "raw_tp" */
	struct kernel_bpf *kernel;
	struct kernel_hooks hooks;
	struct kernel_switches switches;
	struct bpf_link *links[KERNEL_LINKS];
	size_t link_cnt;
	uint32_t stack_depth;
};

/*
 * Loads and attaches the programs; recording starts with kernel_programs_start(). Returns 0 or a
 * negative errno; logs errors. Call kernel_programs_deinit() even on failure.
 */
int kernel_programs_init(const struct options *opts, const struct kernel_functions *functions,
			 size_t target_cnt, struct kernel_programs *ret);
void kernel_programs_deinit(struct kernel_programs *programs);

/*
 * True if the program is the second of the two programs on an event. It handles only events that
 * the first program missed.
 */
bool kernel_programs_is_second(const struct bpf_program *prog);

/* Starts recording. */
void kernel_programs_start(struct kernel_programs *programs);

#endif
