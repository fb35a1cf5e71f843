/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Growing classes and containers of a CPython process. All texts are read from the process and are
 * untrusted. The process changes its objects while they are counted, so all numbers are
 * approximate.
 */
#ifndef REPORT_PYTHON_GROWTH_H
#define REPORT_PYTHON_GROWTH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PYTHON_TEXT_BYTES 160
#define PYTHON_CLASSES_MAX 3
#define PYTHON_CONTAINERS_MAX 2

/* How a container is named. Higher values are better names. */
enum python_name {
	PYTHON_UNNAMED,
	PYTHON_KEY,      /* the container's key in a dictionary: "items" */
	PYTHON_HOLDER,   /* the variable whose object holds the container: "app.store" */
	PYTHON_VARIABLE, /* the variable or attribute: "app.kept", "Store.items" */
	PYTHON_NAME_CNT,
};

/* The allocator that most objects come from. */
enum python_allocator {
	PYTHON_ALLOCATOR_UNKNOWN,
	PYTHON_ALLOCATOR_POOLS, /* CPython's own: memleak tracks only its arenas of 1 MiB */
	PYTHON_ALLOCATOR_HEAP,  /* the C library's: memleak tracks each object as a block */
	PYTHON_ALLOCATOR_CNT,
};

/* A line of a script. */
struct python_place {
	/* qualified name of the function; "" if the place is not known */
	char function[PYTHON_TEXT_BYTES];
	char file[PYTHON_TEXT_BYTES]; /* path of the script; only the end of a long path */
	uint32_t line;
};

/*
 * Copies a text. If it is too long, copies only its end: the last folders and the file of a path.
 */
static inline void python_text_copy(char ret[PYTHON_TEXT_BYTES], const char *text, size_t len)
{
	size_t cut = len < PYTHON_TEXT_BYTES ? 0 : len - PYTHON_TEXT_BYTES + 1;

	memcpy(ret, text + cut, len - cut);
	ret[len - cut] = '\0';
}

/*
 * Value of `uncounted` if not all objects were counted, but it is not known how many are missing.
 */
#define PYTHON_UNCOUNTED_UNKNOWN UINT64_MAX

struct python_growth {
	enum python_allocator allocator;
	/*
	 * Number of objects that were counted in the previous reading, but not in this one, because
	 * the time was up or an arena could not be read; 0 if all objects were counted.
	 */
	uint64_t uncounted;
	/*
	 * Classes with more objects than at the first reading. Those that gained most bytes come
	 * first.
	 */
	struct python_class {
		char name[PYTHON_TEXT_BYTES];
		uint64_t count;
		uint64_t more; /* increase of count since the first reading */
		/* bytes of the added objects, without memory that they point to */
		uint64_t more_bytes;
		uint64_t for_ns; /* time since the first reading */
		/*
		 * The line at which coroutines or generators are suspended; for functions, the line
		 * of their code; for other classes, the line of __init__ or of the first method.
		 */
		struct python_place place;
	} classes[PYTHON_CLASSES_MAX];
	size_t class_cnt;
	/*
	 * Lists, dictionaries, sets and deques that keep growing. Those that gained most items come
	 * first.
	 */
	struct python_container {
		enum python_name named_by;
		char name[PYTHON_TEXT_BYTES]; /* name of the container; "" if not known */
		char class[PYTHON_TEXT_BYTES];
		uint64_t items;
		uint64_t more;   /* increase of `items` since the container was first seen */
		uint64_t for_ns; /* time since the container was first seen */
		uint64_t site;   /* id of the site whose block stores the items; 0 if not known */
		uint64_t addr; /* address at which the number of items is stored; 0 if not known */
		/*
		 * The line that adds most items, as found by a watchpoint on `addr`; function is ""
		 * if not known.
		 */
		struct python_place adder;
	} containers[PYTHON_CONTAINERS_MAX];
	size_t container_cnt;
};

#endif
