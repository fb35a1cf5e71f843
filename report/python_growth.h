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
	PYTHON_KEY,      /* its key in a dictionary: "items" */
	PYTHON_HOLDER,   /* the variable with the object that holds it: "app.store" */
	PYTHON_VARIABLE, /* the variable or attribute: "app.kept", "Store.items" */
	PYTHON_NAME_CNT,
};

/* The allocator that most objects come from. */
enum python_allocator {
	PYTHON_ALLOCATOR_UNKNOWN,
	PYTHON_ALLOCATOR_POOLS, /* CPython's own: only its arenas of 1 MiB are blocks */
	PYTHON_ALLOCATOR_HEAP,  /* the C library's: each object is a block */
	PYTHON_ALLOCATOR_CNT,
};

/* A line of a script. */
struct python_place {
	char function[PYTHON_TEXT_BYTES]; /* qualified name; "" if the place is not known */
	char file[PYTHON_TEXT_BYTES];     /* the end of the path if it is too long */
	uint32_t line;
};

/* Copies a text; of one that is too long, only the end: the last folders of a path. */
static inline void python_text_copy(char ret[PYTHON_TEXT_BYTES], const char *text, size_t len)
{
	size_t cut = len < PYTHON_TEXT_BYTES ? 0 : len - PYTHON_TEXT_BYTES + 1;

	memcpy(ret, text + cut, len - cut);
	ret[len - cut] = '\0';
}

/* Not all objects were counted, and it is not known how many are missing. */
#define PYTHON_UNCOUNTED_UNKNOWN UINT64_MAX

struct python_growth {
	enum python_allocator allocator;
	/*
	 * Number of objects that were counted in the previous reading, but not in time in this one;
	 * 0 if all objects were counted.
	 */
	uint64_t uncounted;
	/* Classes with more objects than at the first reading, most bytes gained first. */
	struct python_class {
		char name[PYTHON_TEXT_BYTES];
		uint64_t count;
		uint64_t more;       /* increase of count since the first reading */
		uint64_t more_bytes; /* size of the added objects, without memory they point to */
		uint64_t for_ns;     /* time since the first reading */
		/* where the objects wait, or the code that they share */
		struct python_place place;
	} classes[PYTHON_CLASSES_MAX];
	size_t class_cnt;
	/* Lists, dictionaries, sets and deques that keep growing, most items gained first. */
	struct python_container {
		enum python_name named_by;
		char name[PYTHON_TEXT_BYTES]; /* "" if not known */
		char class[PYTHON_TEXT_BYTES];
		uint64_t items;
		uint64_t more;   /* increase of items since it was first seen */
		uint64_t for_ns; /* time since it was first seen */
		/* id of the site whose block has the items; 0 if not known */
		uint64_t site;
		uint64_t addr; /* address of the number of items; 0 if not known */
		/* line that adds the most items, seen by a watch; function is "" if unknown */
		struct python_place adder;
	} containers[PYTHON_CONTAINERS_MAX];
	size_t container_cnt;
};

#endif
