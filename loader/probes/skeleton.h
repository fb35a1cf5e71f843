/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens the BPF objects that are embedded in memleak. The build compresses each object with gzip
 * and places it between the symbols NAME_gz and NAME_gz_end. Skeletons from bpftool describe the
 * maps and programs of the objects.
 */
#ifndef LOADER_PROBES_SKELETON_H
#define LOADER_PROBES_SKELETON_H

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "bpf/memleak.h"

/*
 * Opens a compressed BPF object; otherwise like bpf_object__open_skeleton(). Removes instructions
 * that the running kernel does not know (see features_have_exchange()); BPF programs never reach
 * these instructions on such a kernel. Returns 0 or a negative errno.
 */
int skeleton_open(struct bpf_object_skeleton *skeleton, const unsigned char *packed, size_t size);

/* Like name##__open(): returns NULL and sets errno on failure. */
#define SKELETON_OPEN(name)                                                                        \
	({                                                                                         \
		extern const unsigned char name##_gz[], name##_gz_end[];                           \
		struct name *skel_ = calloc(1, sizeof(*skel_));                                    \
		int err_ = skel_ ? name##__create_skeleton(skel_) : -ENOMEM;                       \
		if (!err_)                                                                         \
			err_ = skeleton_open(skel_->skeleton, name##_gz,                           \
					     (size_t)(name##_gz_end - name##_gz));                 \
		if (err_) {                                                                        \
			name##__destroy(skel_);                                                    \
			skel_ = NULL;                                                              \
			errno = -err_;                                                             \
		}                                                                                  \
		skel_;                                                                             \
	})

/* Puts all loaded programs into a tail-call table. Returns 0 or a negative errno. */
int skeleton_put_tail_calls(const struct bpf_map *map,
			    const struct bpf_program *const programs[MEMLEAK_TAIL_CNT]);

#endif
