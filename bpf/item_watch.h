/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches on the item counts of growing containers: the BPF program of hardware breakpoints counts
 * the items that each script stack adds. Part of the ABI.
 */
#ifndef BPF_ITEM_WATCH_H
#define BPF_ITEM_WATCH_H

#include "bpf/script.h"

/* Maximum watches at a time. A CPU may have only four hardware breakpoints; debuggers need some. */
#define MEMLEAK_ITEM_WATCHES 2

/*
 * Number of writes to an item count after which the loader removes its breakpoints until the next
 * report, to limit the cost. It cannot do so while it makes a report, so it removes all breakpoints
 * before each report.
 */
#define MEMLEAK_ITEM_WRITES 256

/*
 * Maximum items counted for one write. After a larger jump, the word is probably no longer an item
 * count.
 */
#define MEMLEAK_ITEMS_MAX 1024

/* Maximum number of script frames stored for a write to an item count: the innermost ones. */
#define MEMLEAK_ADDER_FRAMES 8

/* Maximum number of entries in the table of stacks that add items. */
#define MEMLEAK_ADDERS 256

/* A watch; the key is the address of the item count. */
struct memleak_item_watch {
	__u32 tgid;
	__u32 space;  /* image whose mappings the process uses */
	__u64 items;  /* highest item count so far */
	__u64 writes; /* number of writes since the breakpoints were set */
};

/* Key of the table of stacks that add items; the value is the number of items added. */
struct memleak_adder {
	__u64 addr;                                               /* address of the item count */
	struct memleak_script_frame frames[MEMLEAK_ADDER_FRAMES]; /* innermost first; 0 if unused */
};

#endif
