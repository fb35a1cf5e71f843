// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kernel [-t THREADS] THING[:COUNT[:SIZE]]...: makes the kernel allocate exact amounts of memory.
 * Before the first phase all things are made and freed once, so that the kernel's caches are
 * filled. In the first phase COUNT things of each kind are made, and in the second phase as many
 * again (growth). Then all things are freed, one kind per phase. In each phase prints truth lines,
 * which say what memleak must report:
 *
 *	kernel THING COUNT BYTES KIND         BYTES is "-" if it depends on the kernel
 *
 * The lines name things instead of kernel functions, which differ between kernels; the test cases
 * know which function allocates for a thing. If this machine cannot make a thing, the program
 * prints "missing WHY".
 */
#include <pthread.h>

#include "kernel_things.h"

#define ROUNDS 2

struct held {
	const struct thing *thing;
	int cnt, size;
	int made;
};

static struct held held[16];
static int held_cnt, thread_cnt = 1;

struct share {
	struct held *held;
	int from, to;
};

/* Returns the range of handles (indexes of things) that the given thread makes. */
static struct share share_of(struct held *h, int thread)
{
	return (struct share){
		.held = h,
		.from = h->made + h->cnt * thread / thread_cnt,
		.to = h->made + h->cnt * (thread + 1) / thread_cnt,
	};
}

static void *make_share(void *arg)
{
	struct share *share = arg;

	for (int i = share->from; i < share->to; i++)
		share->held->thing->make(i, share->held->size);
	return NULL;
}

static void make(struct held *h)
{
	struct share shares[64];
	pthread_t threads[64];

	for (int i = 0; i < thread_cnt; i++)
		shares[i] = share_of(h, i);
	if (thread_cnt == 1) {
		make_share(&shares[0]);
	} else {
		for (int i = 0; i < thread_cnt; i++)
			must(!pthread_create(&threads[i], NULL, make_share, &shares[i]), "thread");
		for (int i = 0; i < thread_cnt; i++)
			pthread_join(threads[i], NULL);
	}
	h->made += h->cnt;
}

static void drop(struct held *h)
{
	for (int i = 0; i < h->made; i++)
		h->thing->drop(i, h->size);
	h->made = 0;
}

static void say_truth(void)
{
	for (int i = 0; i < held_cnt; i++) {
		const struct thing *thing = held[i].thing;
		int cnt = held[i].made * (thing->blocks ? thing->blocks(held[i].size) : 1);
		long each = thing->bytes ? thing->bytes(held[i].size) : 0;

		if (each)
			say("kernel %s %d %ld %s\n", thing->name, cnt, each * cnt, thing->kind);
		else
			say("kernel %s %d - %s\n", thing->name, cnt, thing->kind);
	}
	ready();
}

static const struct thing *find_thing(const struct thing *thing, const char *name, size_t len)
{
	for (; thing->name; thing++)
		if (strlen(thing->name) == len && !strncmp(thing->name, name, len))
			return thing;
	return NULL;
}

static void parse(const char *arg)
{
	struct held *h = &held[held_cnt++];
	const char *colon = strchr(arg, ':');
	size_t len = colon ? (size_t)(colon - arg) : strlen(arg);

	must(held_cnt < (int)ARRAY_SIZE(held), "number of things");
	h->thing = find_thing(slab_things, arg, len) ?: find_thing(page_things, arg, len);
	must(h->thing != NULL, "name of a thing");
	h->cnt = 100;
	h->size = h->thing->size;
	if (colon)
		sscanf(colon, ":%d:%d", &h->cnt, &h->size);
}

int main(int argc, char **argv)
{
	int first = 1;

	if (argc > 2 && !strcmp(argv[1], "-t")) {
		thread_cnt = atoi(argv[2]);
		must(thread_cnt > 0 && thread_cnt <= 64, "number of threads");
		first = 3;
	}
	for (int i = first; i < argc; i++)
		parse(argv[i]);
	for (int i = 0; i < held_cnt; i++) {
		held[i].thing->init(held[i].cnt * ROUNDS, held[i].size);
		for (int round = 0; round < ROUNDS; round++)
			make(&held[i]);
		drop(&held[i]);
	}
	ready();

	/* A loop, so that make() has the same stack in both rounds. */
	for (volatile int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < held_cnt; i++)
			make(&held[i]);
		say_truth();
	}
	for (int i = 0; i < held_cnt; i++) {
		drop(&held[i]);
		say_truth();
	}
	return 0;
}
