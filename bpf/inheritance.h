/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What children have of their parents, with --follow; a part of the ABI. Nothing is copied when a
 * process forks: a child has whatever its parent had then that it has not freed since.
 */
#ifndef MEMLEAK_INHERITANCE_H
#define MEMLEAK_INHERITANCE_H

#include <linux/types.h>

/* Of each image that has forked, or was forked, as long as somebody may have blocks of it. */
struct memleak_estate {
	__u64 forked_ns; /* last */
	__u32 parent;    /* the image that it is a copy of; 0: it executed a program */
	__u32 users;     /* itself while it is, and its children as long as they have an estate */
};

/* A block that was freed, and was there when a child was forked: whose heirs have it still. */
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
