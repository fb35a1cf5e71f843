/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What loading the kernel's programs needs to know; for kernel_programs.c and kernel_hooks.c. */
#ifndef KERNEL_LOADING_H
#define KERNEL_LOADING_H

#include <bpf/btf.h>

#include "loader/kernel_programs.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct kernel_loading {
	const struct options *opts;
	const struct kernel_functions *functions;
	pid_t command;
	uint32_t target_cnt;
	struct btf *btf; /* the kernel's; NULL: none */
	struct memleak_value_places at;
	struct kernel_programs *ret;
};

/* Fills in what is constant for the programs of an object and sets the sizes of its tables. */
int kernel_loading_prepare(const struct kernel_loading *loading, struct bpf_object *object,
			   struct memleak_config *config,
			   struct memleak_kernel_config *kernel_config);

/* The program called PREFIX_EVENT; NULL: none. */
struct bpf_program *kernel_loading_program(const struct bpf_object *object, const char *prefix,
					   const char *event);

/*
 * Hooks for what the tracepoints do not show. Without them it follows from what they do show,
 * mostly: so having none is no error, but told under -v.
 */
void kernel_hooks_add(struct kernel_loading *loading);
void kernel_hooks_start(struct kernel_programs *programs);
void kernel_hooks_deinit(struct kernel_programs *programs);

#endif
