/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shapes of calls to probed functions. Part of the ABI. */
#ifndef BPF_SHAPE_H
#define BPF_SHAPE_H

/* The shape of a call: where its arguments and its result are. */
enum memleak_shape {
	MEMLEAK_SHAPE_SIZE,              /* p = f(size) */
	MEMLEAK_SHAPE_COUNT_SIZE,        /* p = f(n, size) */
	MEMLEAK_SHAPE_ALIGN_SIZE,        /* p = f(align, size) */
	MEMLEAK_SHAPE_REALLOC,           /* p = f(old, size) */
	MEMLEAK_SHAPE_REALLOCARRAY,      /* p = f(old, n, size) */
	MEMLEAK_SHAPE_POSIX_MEMALIGN,    /* err = f(&p, align, size) */
	MEMLEAK_SHAPE_FREE,              /* f(p, ...) */
	MEMLEAK_SHAPE_MMAP,              /* p = f(addr, len, prot, flags, fd, offset) */
	MEMLEAK_SHAPE_MUNMAP,            /* err = f(addr, len) */
	MEMLEAK_SHAPE_MREMAP,            /* p = f(old, old_len, new_len, flags, ...) */
	MEMLEAK_SHAPE_HEAP_COUNT_SIZE,   /* p = f(heap, n, size) */
	MEMLEAK_SHAPE_HEAP_REALLOC,      /* p = f(heap, old, size) */
	MEMLEAK_SHAPE_HEAP_REALLOCARRAY, /* p = f(heap, old, n, size) */
	MEMLEAK_SHAPE_HEAP_FREE,         /* f(heap, p, ...) */
	MEMLEAK_SHAPE_RESIZE,            /* size = f(p, size, extra, ...): resizes p in place */
	MEMLEAK_SHAPE_HEAP_DESTROY,      /* f(heap): frees all blocks of the heap */
	MEMLEAK_SHAPE_STRING,            /* p = f(...): a string */
	MEMLEAK_SHAPE_PATH,              /* p = f(path, buffer): a string, if buffer is NULL */
	MEMLEAK_SHAPE_HEAP_PATH,         /* p = f(heap, path, buffer) */
	MEMLEAK_SHAPE_REALLOCF,          /* p = f(old, size), frees old on failure */
	MEMLEAK_SHAPE_HEAP_REALLOCF,     /* p = f(heap, old, size), frees old on failure */
	MEMLEAK_SHAPE_LIBRARIES,         /* f(): the dynamic loader's list of libraries changes */
	MEMLEAK_SHAPE_RETURN,            /* a return instruction, not a call */
	MEMLEAK_SHAPE_RAISE, /* f(): an exception is about to leave the enclosing calls */
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
