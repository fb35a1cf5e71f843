/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that forked children inherit, with --follow. Part of the ABI. No entries of tables are
 * copied at a fork: a child has the blocks that its parent had at the fork, except those that the
 * child has freed since.
 */
#ifndef BPF_INHERITANCE_H
#define BPF_INHERITANCE_H

#include <linux/types.h>

/*
 * References to an image that has forked or was forked. They are kept as long as any image may have
 * blocks of this image.
 */
struct memleak_image_refs {
	__u64 forked_ns; /* when the image last forked */
	__u32 parent;    /* image that this one was forked from; 0 after exec */
	__u32 users;     /* children whose `users` is not 0, plus 1 until the image's last report */
};

/* A block that was freed after a fork: descendants of the image may still have it. */
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
