/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shapes of calls to probed functions. Part of the ABI. */
#ifndef BPF_SHAPE_H
#define BPF_SHAPE_H

/* The shape of a call: where its arguments and its result are. */
enum memleak_shape {
	MEMLEAK_SHAPE_SIZE,              /* allocates: p = f(size) */
	MEMLEAK_SHAPE_COUNT_SIZE,        /* allocates an array: p = f(n, size) */
	MEMLEAK_SHAPE_ALIGN_SIZE,        /* allocates: p = f(align, size) */
	MEMLEAK_SHAPE_REALLOC,           /* reallocates: p = f(old, size) */
	MEMLEAK_SHAPE_REALLOCARRAY,      /* reallocates an array: p = f(old, n, size) */
	MEMLEAK_SHAPE_POSIX_MEMALIGN,    /* allocates: err = f(&p, align, size) */
	MEMLEAK_SHAPE_FREE,              /* frees: f(p, ...) */
	MEMLEAK_SHAPE_MMAP,              /* maps: p = f(addr, len, prot, flags, fd, offset) */
	MEMLEAK_SHAPE_MUNMAP,            /* unmaps: err = f(addr, len) */
	MEMLEAK_SHAPE_MREMAP,            /* remaps: p = f(old, old_len, new_len, flags, ...) */
	MEMLEAK_SHAPE_HEAP_COUNT_SIZE,   /* allocates in a heap: p = f(heap, n, size) */
	MEMLEAK_SHAPE_HEAP_REALLOC,      /* reallocates in a heap: p = f(heap, old, size) */
	MEMLEAK_SHAPE_HEAP_REALLOCARRAY, /* reallocates in a heap: p = f(heap, old, n, size) */
	MEMLEAK_SHAPE_HEAP_FREE,         /* frees in a heap: f(heap, p, ...) */
	MEMLEAK_SHAPE_RESIZE,            /* resizes p in place: size = f(p, size, extra, ...) */
	MEMLEAK_SHAPE_HEAP_DESTROY,      /* frees all blocks of the heap: f(heap) */
	MEMLEAK_SHAPE_STRING,            /* allocates a string: p = f(...) */
	MEMLEAK_SHAPE_PATH,          /* allocates unless a buffer is given: p = f(path, buffer) */
	MEMLEAK_SHAPE_HEAP_PATH,     /* MEMLEAK_SHAPE_PATH in a heap: p = f(heap, path, buffer) */
	MEMLEAK_SHAPE_REALLOCF,      /* reallocates, or frees `old` on failure: p = f(old, size) */
	MEMLEAK_SHAPE_HEAP_REALLOCF, /* REALLOCF in a heap: p = f(heap, old, size) */
	MEMLEAK_SHAPE_LIBRARIES, /* f(): called by the dynamic loader when its libraries change */
	MEMLEAK_SHAPE_RETURN,    /* a return instruction, not a call */
	MEMLEAK_SHAPE_RAISE,     /* f(): an exception is about to leave the enclosing calls */
	MEMLEAK_SHAPE_CODE,      /* f(code): an interpreter frees a code object */
	MEMLEAK_SHAPE_CNT,
};

/* Maps each shape to that of the best-known equivalent function, such as HEAP_FREE to FREE. */
static inline __attribute__((always_inline)) enum memleak_shape
shape_plain(enum memleak_shape shape)
{
	switch (shape) {
	case MEMLEAK_SHAPE_HEAP_COUNT_SIZE:
		return MEMLEAK_SHAPE_COUNT_SIZE;
	case MEMLEAK_SHAPE_HEAP_REALLOC:
	case MEMLEAK_SHAPE_REALLOCF:
	case MEMLEAK_SHAPE_HEAP_REALLOCF:
	case MEMLEAK_SHAPE_RESIZE:
		return MEMLEAK_SHAPE_REALLOC;
	case MEMLEAK_SHAPE_HEAP_REALLOCARRAY:
		return MEMLEAK_SHAPE_REALLOCARRAY;
	case MEMLEAK_SHAPE_HEAP_FREE:
		return MEMLEAK_SHAPE_FREE;
	case MEMLEAK_SHAPE_PATH:
	case MEMLEAK_SHAPE_HEAP_PATH:
		return MEMLEAK_SHAPE_STRING;
	default:
		return shape;
	}
}

#endif
