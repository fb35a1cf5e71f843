/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the lines of a Python script that add items to growing containers, by hardware breakpoints
 * on the item counts. Changes nothing in the process.
 */
#ifndef LOADER_USER_ITEM_WATCH_H
#define LOADER_USER_ITEM_WATCH_H

#include "bpf/item_watch.h"
#include "report/python_growth.h"

struct process_set;

/*
 * Maximum threads for which a breakpoint is set, for each container. Threads that inherit it do not
 * count.
 */
#define ITEM_WATCH_THREADS 64

struct item_watches {
	uint32_t image; /* image of the process whose containers are watched */
	struct item_watch {
		uint64_t addr;               /* address of the item count */
		int fds[ITEM_WATCH_THREADS]; /* breakpoints of the threads */
		size_t fd_cnt;
	} items[MEMLEAK_ITEM_WATCHES];
};

/* Implements find_adders() of loader/source.h. */
void item_watches_find(struct item_watches *watches, struct process_set *set, uint32_t image,
		       struct python_container *containers, size_t cnt);

/* Removes the breakpoints of an item count, until the next item_watches_find(). */
void item_watches_pause(struct item_watches *watches, uint64_t addr);

/* Removes all breakpoints, until the next item_watches_find(). */
void item_watches_pause_all(struct item_watches *watches);

#endif
