/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the classes and the containers that grow in the heap of a running CPython process, by
 * counting the objects several times. From version 3.10 on, CPython takes blocks of up to 512 bytes
 * from pools of 16 KiB (Objects/obmalloc.c). Larger objects, and all objects with
 * PYTHONMALLOC=malloc, are in the heap of the C library, which must be glibc.
 */
#ifndef PROOF_PYTHON_HEAP_H
#define PROOF_PYTHON_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "proof/memory.h"
#include "report/python_growth.h"

struct options;
struct python_layout;

/* Results of earlier readings of a process. */
struct python_heap;

/*
 * opts: has the paths of --own, may be NULL, and must outlive the results. Returns NULL if memory
 * runs out.
 */
struct python_heap *python_heap__new(const struct options *opts);
void python_heap__free(struct python_heap *heap);

/* True if CPython's executable or library is mapped. */
bool python_heap_is_in(const struct proc_maps *maps);

/*
 * Makes one reading: counts the objects, until deadline_ns (CLOCK_MONOTONIC). now_ns: the current
 * time. layout: layout of the interpreter's structures, the same in all readings; NULL if source
 * lines cannot be read. ret->class_cnt and ret->container_cnt are 0 until growth is seen, which
 * takes at least two readings. ret_items: for each element of ret->containers, the address of the
 * memory that has the container's items (of a deque: its last part); 0 if unknown. If counting
 * takes too long, or if the census of the C library's heap skips an arena, the remaining objects
 * are left out: classes are not compared, and ret->uncounted is set. Returns 0 or -ENOMEM.
 */
int python_heap__read(struct python_heap *heap, const struct memory *memory,
		      const struct python_layout *layout, uint64_t now_ns, uint64_t deadline_ns,
		      struct python_growth *ret, uint64_t ret_items[PYTHON_CONTAINERS_MAX]);

#endif
