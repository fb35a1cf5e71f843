/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What loading kernel programs needs to know. Which programs there are, and how they are attached,
 * it does not know.
 */
#ifndef LOADER_KERNEL_LOADING_H
#define LOADER_KERNEL_LOADING_H

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <sys/types.h>

#include "bpf/kernel.h"
#include "loader/kernel/functions.h"
#include "options/options.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct kernel_loading {
	const struct options *opts;
	const struct kernel_functions *functions;
	uint32_t target_cnt;
	struct btf *btf; /* the kernel's; NULL: none */
	struct memleak_value_places at;
	uint32_t stack_depth;
};

/* Fills in what is constant for the programs of an object and sets the sizes of its tables. */
int kernel_loading_prepare(const struct kernel_loading *loading, struct bpf_object *object,
			   struct memleak_config *config,
			   struct memleak_kernel_config *kernel_config);

/* The program called PREFIX_EVENT; NULL: none. */
struct bpf_program *kernel_loading_program(const struct bpf_object *object, const char *prefix,
					   const char *event);

#endif
