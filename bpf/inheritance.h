/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --follow: blocks that forked children inherit. Part of the ABI. A fork copies no table entries: a
 * child has the blocks that its parent had at the fork, except those that the child has freed
 * since.
 */
#ifndef BPF_INHERITANCE_H
#define BPF_INHERITANCE_H

#include <linux/types.h>

/*
 * Counts the references to an image (see bpf/memleak.h) that has forked, or that a fork has
 * created. The entry is deleted when no image can have blocks of this image any more.
 */
struct memleak_image_refs {
	__u64 forked_ns; /* when the image last forked */
	__u32 parent;    /* image that this one was forked from; 0 after exec */
	__u32 users;     /* children whose `users` is not 0, plus 1 until the last report */
};

/* Key of a block that `image` freed after a fork; its descendants may still have the block. */
struct memleak_freed_key {
	__u64 addr;
	__u64 birth_ns;
	__u32 image;
	__u32 reserved;
};

struct memleak_freed {
	__u64 freed_ns;
	__u64 size;
	__u64 site;
	__u32 tid;
	__u32 reserved;
};

#endif
