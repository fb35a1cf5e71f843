/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What forked children have of their ancestors, with --follow; a part of the ABI. Nothing is copied
 * when a process forks: a child has whatever its parent had then and the child has not freed since.
 */
#ifndef BPF_INHERITANCE_H
#define BPF_INHERITANCE_H

#include <linux/types.h>

/* Kept for each image that has forked, or was forked, as long as somebody may have blocks of it. */
struct memleak_image_refs {
	__u64 forked_ns; /* when it last forked */
	__u32 parent;    /* the image that it is a copy of; 0: it executed a program */
	__u32 users;     /* itself until its last report, and each child as long as that has users
			  */
};

/* A block that was freed after a child was forked: descendants of the image may have it still. */
struct memleak_left_key {
	__u64 addr;
	__u64 birth_ns;
	__u32 image;
	__u32 reserved;
};

struct memleak_left {
	__u64 freed_ns;
	__u64 size;
	__u64 site;
	__u32 tid;
	__u32 reserved;
};

#endif
