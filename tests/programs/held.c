// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * held WAY: allocates blocks to which only older memory points: memory that was allocated before
 * memleak was attached. Prints `holder WORDS`; WORDS are how memleak must describe the variable
 * through which the blocks are reachable.
 *
 * A registry points to a table, the table to entries, and one in 20 entries to a value. The values
 * are the new blocks. WAY selects where registry, table and entries are stored.
 */
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "truth.h"

#define ENTRIES 20000
#define VALUES 1000
#define VALUE_BYTES 48
#define ARENA_BYTES (16UL << 20)

struct entry {
	uint64_t key;
	struct entry *next;
	void *value;
};

struct table {
	uint64_t mask;
	struct entry *entries[ENTRIES];
};

struct registry {
	char name[64];
	struct table *table;
};

static struct registry *registry;

/*
 * Start and end of the part of the arena that is not used yet. No pointer to the arena's own start
 * is stored anywhere.
 */
static char *arena_next, *arena_end;

static void *arena_take(size_t size)
{
	void *block = arena_next;

	arena_next += (size + 15) & ~15UL;
	must(arena_next < arena_end, "an arena of that size");
	return block;
}

static void *heap_take(size_t size)
{
	void *block = calloc(1, size);

	must(block != NULL, "calloc");
	return block;
}

/* Builds a registry. Only the registry points to the table, and only the table to the entries. */
OWN_FRAME static struct registry *build(void *(*take)(size_t size))
{
	struct registry *made = take(sizeof(*made));

	made->table = take(sizeof(*made->table));
	for (size_t i = 0; i < ENTRIES; i++) {
		made->table->entries[i] = take(sizeof(struct entry));
		made->table->entries[i]->key = i;
	}
	return made;
}

OWN_FRAME static void *new_value(void)
{
	return keep(malloc(VALUE_BYTES)); /* LEAK */
}

OWN_FRAME static void fill(struct registry *filled)
{
	for (size_t i = 0; i < VALUES; i++)
		filled->table->entries[i * (ENTRIES / VALUES)]->value = new_value();
}

/*
 * Waits, fills the registry, and waits again. The frame of its caller keep_in_frame(), with the
 * only pointer to the registry, is thus in use when memleak makes the proof.
 */
OWN_FRAME static void wait_below(struct registry **kept)
{
	volatile char room[512] = {0};

	ready();
	fill(*kept);
	leaks("new_value", VALUES, VALUES * VALUE_BYTES);
	ready();
	must(!room[0] && *kept, "a frame");
}

OWN_FRAME static void *keep_in_frame(void *arg)
{
	struct registry *kept = keep(build(arg));

	pthread_setname_np(pthread_self(), "keeper");
	wait_below(&kept);
	return NULL;
}

static void keep_in_variable(void *(*take)(size_t size), const char *words)
{
	registry = build(take);
	say("holder %s\n", words);
	ready();
	fill(registry);
	leaks("new_value", VALUES, VALUES * VALUE_BYTES);
	ready();
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	pthread_t thread;

	arena_next =
		mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(arena_next != MAP_FAILED, "mmap");
	arena_end = arena_next + ARENA_BYTES;
	if (!strcmp(way, "arena")) {
		keep_in_variable(arena_take, "registry held.c [held] (likely)");
	} else if (!strcmp(way, "heap")) {
		keep_in_variable(heap_take, "registry held.c [held]");
	} else if (!strcmp(way, "arena_frame") || !strcmp(way, "heap_frame")) {
		bool is_heap = !strcmp(way, "heap_frame");

		say("holder keep_in_frame held.c [held], stack of thread N (keeper)%s\n",
		    is_heap ? "" : " (likely)");
		must(!pthread_create(&thread, NULL, keep_in_frame,
				     is_heap ? heap_take : arena_take),
		     "a thread");
		pthread_join(thread, NULL);
	} else {
		must(0, "no such way");
	}
	return 0;
}
