/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the BPF objects that bpftool has put into headers, as the running kernel takes them. */
#ifndef SKELETON_H
#define SKELETON_H

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

/*
 * A bpf_object__open_skeleton() that leaves out instructions which the kernel does not know, if it
 * does not: see features_have_exchange(). The programs never get to them then. 0 or a negative
 * errno.
 */
int skeleton_open(struct bpf_object_skeleton *skeleton);

/* As name##__open() would: NULL and errno on failure. */
#define SKELETON_OPEN(name)                                                                        \
	({                                                                                         \
		struct name *skel_ = calloc(1, sizeof(*skel_));                                    \
		int err_ = skel_ ? name##__create_skeleton(skel_) : -ENOMEM;                       \
		if (!err_)                                                                         \
			err_ = skeleton_open(skel_->skeleton);                                     \
		if (err_) {                                                                        \
			name##__destroy(skel_);                                                    \
			skel_ = NULL;                                                              \
			errno = -err_;                                                             \
		}                                                                                  \
		skel_;                                                                             \
	})

#endif
