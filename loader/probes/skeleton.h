/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens the BPF objects that are in memleak, as the running kernel takes them. The build packs
 * each with gzip, between the symbols NAME_gz and NAME_gz_end; the headers that bpftool makes know
 * their maps and programs. Does not know what any of them is for.
 */
#ifndef LOADER_PROBES_SKELETON_H
#define LOADER_PROBES_SKELETON_H

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "bpf/memleak.h"

/*
 * A bpf_object__open_skeleton() of a packed object. Instructions that the kernel does not know are
 * left out, see features_have_exchange(): the programs never get to them then. 0 or a negative
 * errno.
 */
int skeleton_open(struct bpf_object_skeleton *skeleton, const unsigned char *packed, size_t size);

/* As name##__open() would: NULL and errno on failure. */
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

/*
 * Puts programs into the array that others call them from at their end. What was not loaded is
 * left out. 0 or a negative errno.
 */
int skeleton_put_tail_calls(const struct bpf_map *map,
			    const struct bpf_program *const programs[MEMLEAK_TAIL_CNT]);

#endif
