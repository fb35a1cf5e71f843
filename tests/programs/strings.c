// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * strings WAY: copies strings. WAY selects the strings and the functions that copy them.
 *
 *  mimalloc     strings of many lengths, by mimalloc's functions
 *  long         two strings that are longer than memleak reads, by mi_strdup
 *  pool         two strings, by a function that memleak does not know
 *  strdup       strings of many lengths, by strdup and __strdup of the C library, a sanitizer
 *               or a preloaded allocator
 *  libc         like strdup; also parts of strings, by strndup
 *  many N SIZE  N copies of SIZE bytes each, by mi_strdup
 */
#include <dlfcn.h>
#include <limits.h>

#include "truth.h"

typedef char *(*copier)(const char *);
typedef char *(*part_copier)(const char *, size_t);
typedef char *(*heap_copier)(void *, const char *);
typedef char *(*heap_part_copier)(void *, const char *, size_t);
typedef char *(*resolver)(const char *, char *);
typedef char *(*heap_resolver)(void *, const char *, char *);
typedef void *(*make_heap)(void);

char *__strdup(const char *string);

/*
 * Many of `lengths` are near PIECE or MOST. PIECE is one more than the number of bytes that memleak
 * reads in one step. MOST is the maximum number of bytes that memleak reads of a string.
 */
#define PIECE 65536
#define MOST (16 * (PIECE - 1))

static const size_t lengths[] = {0,         1,         2,     7,     1000,     4095,
				 4096,      PIECE - 2, PIECE - 1, PIECE, 2 * PIECE - 2, 2 * PIECE,
				 MOST - 2,  MOST - 1};
static char text[MOST + PIECE];

static const char *string_of(size_t len)
{
	return text + sizeof(text) - 1 - len;
}

static void *function(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	must(found != NULL, name);
	return found;
}

OWN_FRAME static char *copied(const char *by, const char *string)
{
	return keep(((copier)function(by))(string)); /* LEAK */
}

OWN_FRAME static char *part_copied(const char *string, size_t most)
{
	return keep(((part_copier)function("mi_strndup"))(string, most)); /* LEAK */
}

OWN_FRAME static char *copied_to_heap(void *heap, const char *string)
{
	return keep(((heap_copier)function("mi_heap_strdup"))(heap, string)); /* LEAK */
}

OWN_FRAME static char *part_copied_to_heap(void *heap, const char *string, size_t most)
{
	return keep(((heap_part_copier)function("mi_heap_strndup"))(heap, string, most)); /* LEAK */
}

OWN_FRAME static char *resolved(const char *path, char *buffer)
{
	return keep(((resolver)function("mi_realpath"))(path, buffer)); /* LEAK */
}

OWN_FRAME static char *resolved_to_heap(void *heap, const char *path, char *buffer)
{
	return keep(((heap_resolver)function("mi_heap_realpath"))(heap, path, buffer)); /* LEAK */
}

static void release(void *p)
{
	((void (*)(void *))function("mi_free"))(p);
}

/*
 * Makes calls that leave no copy: each call fails, uses the caller's buffer, or returns a copy that
 * is then freed.
 */
static void nothing(void *heap)
{
	static char buffer[PATH_MAX];

	must(!copied("mi_strdup", NULL) && !copied_to_heap(heap, NULL), "a copy of nothing");
	must(!resolved("/nonexistent", NULL), "the path of nothing");
	must(resolved("/usr/..", buffer) == buffer, "into a buffer");
	must(resolved_to_heap(heap, "/usr/..", buffer) == buffer, "into a buffer");
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		release(copied("mi_strdup", string_of(lengths[i])));
		release(part_copied_to_heap(heap, string_of(lengths[i]), 5000));
	}
	release(resolved("/usr/..", NULL));
}

static void mimalloc(void *heap)
{
	size_t cnt = ARRAY_SIZE(lengths), bytes = 0, part_bytes = 0;

	nothing(heap);
	for (size_t i = 0; i < cnt; i++) {
		size_t len = lengths[i];

		copied("mi_strdup", string_of(len));
		copied_to_heap(heap, string_of(len));
		part_copied(string_of(len), 5000);
		part_copied_to_heap(heap, string_of(len), (size_t)-1);
		bytes += len + 1;
		part_bytes += (len < 5000 ? len : 5000) + 1;
	}
	resolved("/usr/..", NULL);
	resolved_to_heap(heap, "/proc/sys/./kernel/..", NULL);
	leaks("copied", cnt, bytes);
	leaks("copied_to_heap", cnt, bytes);
	leaks("part_copied", cnt, part_bytes);
	leaks("part_copied_to_heap", cnt, bytes);
	leaks("resolved", 1, sizeof("/"));
	leaks("resolved_to_heap", 1, sizeof("/proc/sys"));
}

/*
 * Copies a string that is one byte longer than memleak reads, and a much longer string. Both are
 * counted with the length that memleak reads.
 */
static void too_long(void)
{
	copied("mi_strdup", string_of(MOST));
	copied("mi_strdup", string_of(MOST + 5000));
	leaks("copied", 2, 2 * MOST);
}

OWN_FRAME static char *duplicated(const char *string)
{
	return keep(strdup(string)); /* LEAK */
}

OWN_FRAME static char *duplicated_otherwise(const char *string)
{
	return keep(__strdup(string)); /* LEAK */
}

OWN_FRAME static char *part_duplicated(const char *string, size_t most)
{
	return keep(strndup(string, most)); /* LEAK */
}

static void by_strdup(void)
{
	size_t cnt = ARRAY_SIZE(lengths), bytes = 0;

	for (size_t i = 0; i < cnt; i++) {
		duplicated(string_of(lengths[i]));
		duplicated_otherwise(string_of(lengths[i]));
		free(duplicated(string_of(lengths[i])));
		bytes += lengths[i] + 1;
	}
	leaks("duplicated", cnt, bytes);
	leaks("duplicated_otherwise", cnt, bytes);
}

static void by_libc(void)
{
	by_strdup();
	for (int i = 0; i < 3; i++)
		part_duplicated(string_of(1000), 500);
	free(part_duplicated(string_of(1000), 500));
	leaks("part_duplicated", 3, 3 * 501);
}

static void many(size_t cnt, size_t size)
{
	for (size_t i = 0; i < cnt; i++)
		copied("mi_strdup", string_of(size - 1));
	leaks("copied", cnt, cnt * size);
}

/*
 * Copies a string into existing memory. memleak does not know this function unless an option names
 * it.
 */
OWN_FRAME static char *pool_copy(void *pool, const char *string)
{
	return keep(strcpy(pool, string));
}

OWN_FRAME static char *copied_to_pool(void *pool, const char *string)
{
	return pool_copy(pool, string); /* LEAK */
}

static void by_pool(void)
{
	static char pool[4096];

	copied_to_pool(pool, string_of(1000));
	copied_to_pool(pool + 2000, string_of(7));
	leaks("copied_to_pool", 2, 1009);
}

int main(int argc, char **argv)
{
	void *heap = NULL;

	memset(text, 'x', sizeof(text) - 1);
	must(argc >= 2, "usage");
	if (!strcmp(argv[1], "mimalloc"))
		heap = ((make_heap)function("mi_heap_new"))();
	ready();
	if (heap)
		mimalloc(heap);
	else if (!strcmp(argv[1], "long"))
		too_long();
	else if (!strcmp(argv[1], "pool"))
		by_pool();
	else if (!strcmp(argv[1], "strdup"))
		by_strdup();
	else if (!strcmp(argv[1], "libc"))
		by_libc();
	else if (!strcmp(argv[1], "many") && argc == 4)
		many(strtoul(argv[2], NULL, 0), strtoul(argv[3], NULL, 0));
	else
		must(0, "usage");
	marker();
	ready();
	return 0;
}
