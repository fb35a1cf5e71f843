/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches on the item counts of growing containers: hardware breakpoints whose program counts which
 * lines of a script add items. Part of the ABI.
 */
#ifndef BPF_ITEM_WATCH_H
#define BPF_ITEM_WATCH_H

#include "bpf/script.h"

/* Maximum watches at a time. A processor may have only four breakpoints, for debuggers too. */
#define MEMLEAK_ITEM_WATCHES 2

/*
 * Number of writes after which a watch ends until the next report, to limit its cost. The main loop
 * must be free to end it, so there are no watches while a report is made.
 */
#define MEMLEAK_ITEM_WRITES 256

/* Maximum items that one write counts as, since the word may be no item count any more. */
#define MEMLEAK_ITEMS_MAX 1024

/* Maximum script frames that are stored, innermost first. */
#define MEMLEAK_ADDER_FRAMES 8

/* Maximum different stacks that add items. */
#define MEMLEAK_ADDERS 256

/* A watch; the key is the address of the item count. */
struct memleak_item_watch {
	__u32 tgid;
	__u32 space;  /* image whose mappings the process uses */
	__u64 items;  /* highest item count so far */
	__u64 writes; /* number of writes since the watch was armed */
};

/* The frames of a thread that has added items. The value is the number of items. */
struct memleak_adder {
	__u64 addr; /* address of the item count */
	/* unused frames are 0 */
	struct memleak_script_frame frames[MEMLEAK_ADDER_FRAMES];
};

#endif
