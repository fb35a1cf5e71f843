/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Describes how kernel programs are configured before loading. Does not know which programs exist
 * or how programs are attached.
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
	struct btf *btf; /* the kernel's BTF */
	struct memleak_value_places at;
	uint32_t stack_depth;
};

/* Sets the constants of an object's programs, and the sizes of its maps. */
int kernel_loading_prepare(const struct kernel_loading *loading, struct bpf_object *object,
			   struct memleak_config *config,
			   struct memleak_kernel_config *kernel_config);

/* Returns the program PREFIX_EVENT, or NULL if the object does not contain it. */
struct bpf_program *kernel_loading_program(const struct bpf_object *object, const char *prefix,
					   const char *event);

#endif
