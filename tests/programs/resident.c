// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * resident SCENE: fills a heap, and prints its true sizes:
 *
 *	live BYTES      live blocks with their headers
 *	trimmed BYTES   memory that malloc_trim() frees in a forked child
 *	free BYTES      all free memory in the arenas, resident or not
 *	arenas COUNT    number of arenas
 *	unread BYTES    blocks of an arena that memleak cannot parse
 *
 * The scene `damaged` prints only `unread` and, for its other arena, `live`; all other scenes print
 * everything except `unread`.
 */
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "truth.h"

#define BLOCKS 200000
#define THREADS 200
#define HEADER 8 /* bytes of a used chunk that belong to the allocator */

static char *blocks[BLOCKS];
static size_t live;

static size_t room_of(char *block)
{
	return malloc_usable_size(block) + HEADER;
}

static void take(size_t i, size_t size)
{
	blocks[i] = malloc(size);
	must(blocks[i] != NULL, "malloc");
	memset(blocks[i], 1, size);
}

static void drop(size_t i)
{
	free(blocks[i]);
	blocks[i] = NULL;
}

/* Frees every second block, so that nearly all pages still contain live blocks. */
static void fragmented(void)
{
	for (size_t i = 0; i < BLOCKS; i++)
		take(i, 500);
	for (size_t i = 0; i < BLOCKS; i += 2)
		drop(i);
}

/* Leaves large free chunks between live blocks: whole pages can be returned to the kernel. */
static void trimmable(void)
{
	for (size_t i = 0; i < 2000; i++)
		take(i, 60000);
	for (size_t i = 0; i < 2000; i++)
		if (i % 10)
			drop(i);
}

/* Fills the heap and frees nothing. */
static void full(void)
{
	for (size_t i = 0; i < BLOCKS; i++)
		take(i, 200 + i % 100);
}

/* Frees memory at the end of the heap. It stays in the heap, because trimming is off. */
static void top(void)
{
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	for (size_t i = 0; i < BLOCKS; i++)
		take(i, 400);
	for (size_t i = BLOCKS / 10; i < BLOCKS; i++)
		drop(i);
}

static void *take_last(void *unused)
{
	(void)unused;
	take(BLOCKS - 1, 400);
	return NULL;
}

/* Like top(), with a block in a second arena. */
static void top_of_two(void)
{
	pthread_t thread;

	top();
	must(!pthread_create(&thread, NULL, take_last, NULL), "pthread_create");
	must(!pthread_join(thread, NULL), "pthread_join");
}

/* Allocates blocks so large that malloc() maps each separately. They count as live. */
static void large(void)
{
	for (size_t i = 0; i < 50; i++)
		take(i, 1 << 20);
}

/* Maps memory for which the kernel may use huge pages. */
static void huge(void)
{
	size_t bytes = 64 << 20;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(memory != MAP_FAILED, "mmap");
	madvise(memory, bytes, MADV_HUGEPAGE);
	memset(memory, 1, bytes);
}

static pthread_barrier_t barrier;

static void *fill_arena(void *arg)
{
	size_t first = (size_t)arg * (BLOCKS / THREADS);

	pthread_barrier_wait(&barrier);
	for (size_t i = first; i < first + BLOCKS / THREADS; i++)
		take(i, 600);
	for (size_t i = first; i < first + BLOCKS / THREADS; i++)
		if (i % 3)
			drop(i);
	pthread_barrier_wait(&barrier);
	pause();
	return NULL;
}

static void arenas(void)
{
	pthread_t thread;

	mallopt(M_ARENA_MAX, THREADS + 1);
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (size_t i = 0; i < THREADS; i++)
		must(!pthread_create(&thread, NULL, fill_arena, (void *)i), "pthread_create");
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
}

/*
 * Returns the header of the chunk before the chunk of `block`: searches backwards for a size that
 * equals its own distance from the header of `block`.
 */
static size_t *header_before(void *block)
{
	size_t *header = (size_t *)block - 1;
	size_t words = 2;

	while ((header[-words] & ~15UL) != words * sizeof(*header))
		words += 2;
	return header - words;
}

/*
 * Fills the thread's arena, and then writes a wrong size to the header of the arena's first chunk,
 * which contains the thread's cache. After that, memleak cannot parse the arena.
 */
static void *damage(void *arg)
{
	void *volatile first = malloc(600); /* hides the wrong write from the compiler */
	size_t bytes = 0;

	while (bytes < 32 << 20) {
		char *block = malloc(600);

		must(block != NULL, "malloc");
		bytes += room_of(memset(block, 1, 600));
	}
	*header_before(first) = 1;
	say("unread %zu\n", bytes);
	pthread_barrier_wait(&barrier);
	pause();
	return arg;
}

static void damaged(void)
{
	pthread_t thread;

	take(0, 100 << 10);
	pthread_barrier_init(&barrier, NULL, 2);
	must(!pthread_create(&thread, NULL, damage, NULL), "pthread_create");
	pthread_barrier_wait(&barrier);
}

static char *churned[BLOCKS / 20];

static void renew(size_t i)
{
	free(churned[i]);
	churned[i] = malloc(16 + i % 3000);
}

/* Frees random blocks and allocates them again, for ever. */
static void *churn(void *arg)
{
	unsigned int seed = 1;

	for (;;)
		renew((size_t)rand_r(&seed) % ARRAY_SIZE(churned));
	return arg;
}

/* Like fragmented(), but another thread keeps allocating and freeing in the same arena. */
static void busy(void)
{
	pthread_t thread;

	mallopt(M_ARENA_MAX, 1);
	fragmented();
	for (size_t i = 0; i < ARRAY_SIZE(churned); i++) {
		renew(i);
		live += room_of(churned[i]);
	}
	must(!pthread_create(&thread, NULL, churn, NULL), "pthread_create");
}

#define RISE_BYTES (1UL << 30)
#define RISEN_BYTES (32UL << 20) /* bytes allocated when the program prints `ready` */

/* Allocates RISE_BYTES, as fast as possible, and frees nothing. */
static void *rise(void *arg)
{
	for (size_t done = 0; done < RISE_BYTES; done += 1000) {
		if (done == RISEN_BYTES / 1000 * 1000)
			pthread_barrier_wait(&barrier);
		memset(malloc(1000), 1, 1000);
	}
	return arg;
}

/*
 * While memleak reads the heaps, a thread extends heaps of its own arena by mprotect(), and adds
 * heaps.
 */
static void rising_thread(void)
{
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	must(!pthread_create(&thread, NULL, rise, NULL), "pthread_create");
	pthread_barrier_wait(&barrier);
}

/* While memleak reads the main arena, a thread extends the arena by brk(). */
static void rising(void)
{
	mallopt(M_ARENA_MAX, 1);
	rising_thread();
}

static size_t free_bytes(void)
{
#if __GLIBC_PREREQ(2, 33)
	return mallinfo2().fordblks;
#else
	return (size_t)mallinfo().fordblks;
#endif
}

static size_t anonymous_bytes(void)
{
	char line[256];
	size_t kib = 0;
	FILE *file = fopen("/proc/self/smaps_rollup", "r");

	must(file != NULL, "smaps_rollup");
	while (fgets(line, sizeof(line), file))
		sscanf(line, "Anonymous: %zu", &kib);
	fclose(file);
	return kib << 10;
}

/* Returns the bytes that malloc_trim() frees in a forked child, which has a copy of the heap. */
static size_t trimmed_bytes(void)
{
	int ends[2];
	size_t trimmed = 0;
	pid_t pid;

	must(!pipe(ends), "pipe");
	pid = fork();
	must(pid >= 0, "fork");
	if (!pid) {
		size_t before = anonymous_bytes();

		malloc_trim(0);
		trimmed = before - anonymous_bytes();
		_exit(write(ends[1], &trimmed, sizeof(trimmed)) != sizeof(trimmed));
	}
	must(read(ends[0], &trimmed, sizeof(trimmed)) == sizeof(trimmed), "the child's answer");
	waitpid(pid, NULL, 0);
	return trimmed;
}

static void say_free(size_t arenas)
{
	size_t trimmed = trimmed_bytes();

	say("trimmed %zu\nfree %zu\narenas %zu\n", trimmed, free_bytes(), arenas);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fill)(void);
		size_t arenas;
	} scenes[] = {
		{"fragmented", fragmented, 1}, {"trimmable", trimmable, 1}, {"full", full, 1},
		{"busy", busy, 1}, {"top", top, 1},
		{"top_of_two", top_of_two, 2}, {"large", large, 1}, {"huge", huge, 1},
		{"damaged", damaged, 0}, {"arenas", arenas, THREADS + 1},
		{"rising", rising, 1}, {"rising_thread", rising_thread, 2},
	};

	/* a fixed threshold, so that glibc does not adapt it */
	mallopt(M_MMAP_THRESHOLD, 512 << 10);
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		if (argc < 2 || strcmp(argv[1], scenes[i].name) != 0)
			continue;
		scenes[i].fill();
		for (size_t j = 0; j < BLOCKS; j++)
			live += blocks[j] ? room_of(blocks[j]) : 0;
		say("live %zu\n", live);
		if (scenes[i].arenas)
			say_free(scenes[i].arenas);
		ready();
		return 0;
	}
	return 99;
}
