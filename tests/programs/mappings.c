// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mappings NAME: runs one test of mappings. new_map() makes the mappings that a test cuts up, so
 * all remaining parts are reported as mapped by new_map(). over_map() makes mappings that replace
 * existing ones.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "truth.h"

#define PAGE 4096UL
#define RW (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define VAST (ANON | MAP_NORESERVE)
#define GIB (1UL << 30)

static char *area; /* a free range of addresses, found before memleak is attached */

OWN_FRAME static char *new_map(char *where, size_t pages)
{
	char *p;

	p = keep(mmap(where, pages * PAGE, RW, ANON | (where ? MAP_FIXED : 0), -1, 0)); /* LEAK */
	must(p != MAP_FAILED, "mmap");
	return p;
}

OWN_FRAME static void over_map(char *where, size_t pages)
{
	char *p;

	p = keep(mmap(where, pages * PAGE, RW, ANON | MAP_FIXED, -1, 0)); /* LEAK */
	must(p == where, "mmap over");
}

static void unmap(char *p, size_t pages)
{
	must(munmap(p, pages * PAGE) == 0, "munmap");
}

static char *remap(char *p, size_t old_pages, size_t pages, int flags, char *where)
{
	char *q;

	q = keep(mremap(p, old_pages * PAGE, pages * PAGE, flags, where));
	must(q != MAP_FAILED, "mremap");
	return q;
}

static void say_new(size_t count, size_t pages)
{
	maps("new_map", count, pages * PAGE, "mmap");
}

static void whole(void)
{
	unmap(new_map(NULL, 16), 16);
}

static void front(void)
{
	unmap(new_map(NULL, 16), 4);
	say_new(1, 12);
}

static void middle(void)
{
	unmap(new_map(NULL, 16) + 6 * PAGE, 4);
	say_new(2, 12);
}

static void tail(void)
{
	unmap(new_map(NULL, 16) + 12 * PAGE, 4);
	say_new(1, 12);
}

static void pieces(void)
{
	char *p = new_map(NULL, 16);

	for (int i = 0; i < 16; i += 2)
		unmap(p + i * PAGE, 1);
	say_new(8, 8);
}

/* Unmaps the end of a mapping and the start of the next one by a single munmap(). */
static void across(void)
{
	new_map(area, 4);
	new_map(area + 4 * PAGE, 4);
	unmap(area + 2 * PAGE, 4);
	say_new(2, 4);
}

/* Unmaps a mapping, parts of both neighbours and the holes between them by a single munmap(). */
static void around(void)
{
	new_map(area, 4);
	new_map(area + 8 * PAGE, 4);
	new_map(area + 16 * PAGE, 4);
	unmap(area + 1 * PAGE, 16);
	say_new(2, 4);
}

static void byte_length(void)
{
	must(munmap(new_map(NULL, 1), 100) == 0, "munmap of 100 bytes");
}

static void fixed_over(void)
{
	over_map(new_map(NULL, 16) + 4 * PAGE, 8);
	say_new(2, 8);
	maps("over_map", 1, 8 * PAGE, "mmap");
}

static void fixed_over_all(void)
{
	over_map(new_map(NULL, 16), 16);
	maps("over_map", 1, 16 * PAGE, "mmap");
}

static void file_over(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);

	must(fd >= 0, "open");
	must(mmap(new_map(NULL, 2), PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) != MAP_FAILED,
	     "mmap of a file");
	say_new(1, 1);
}

static void fixed_fails(void)
{
	char *p = new_map(NULL, 4);

	must(mmap(p, 4 * PAGE, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED, "EEXIST");
	must(mmap(p + 1, PAGE, RW, ANON | MAP_FIXED, -1, 0) == MAP_FAILED, "odd address");
	must(mmap(p, PAGE, RW, MAP_PRIVATE | MAP_FIXED, -1, 0) == MAP_FAILED, "no file");
	say_new(1, 4);
}

static void grow(void)
{
	remap(new_map(NULL, 4), 4, 4000, MREMAP_MAYMOVE, NULL);
	say_new(1, 4000);
}

static void shrink(void)
{
	remap(new_map(NULL, 16), 16, 5, 0, NULL);
	say_new(1, 5);
}

static void move(void)
{
	remap(new_map(NULL, 4), 4, 4, MREMAP_MAYMOVE | MREMAP_FIXED, area);
	unmap(area, 1);
	say_new(1, 3);
}

static void move_over(void)
{
	new_map(area, 8);
	remap(new_map(NULL, 4), 4, 4, MREMAP_MAYMOVE | MREMAP_FIXED, area + 2 * PAGE);
	say_new(3, 8);
}

static void move_part(void)
{
	remap(new_map(NULL, 16) + 4 * PAGE, 4, 4, MREMAP_MAYMOVE | MREMAP_FIXED, area);
	say_new(3, 16);
}

static void move_and_leave(void)
{
	remap(new_map(NULL, 4), 4, 4, MREMAP_MAYMOVE | 4 /* MREMAP_DONTUNMAP */, NULL);
	say_new(2, 8);
}

static void mremap_fails(void)
{
	char *p = new_map(area, 4);

	new_map(area + 4 * PAGE, 1);
	must(mremap(p, 4 * PAGE, 8 * PAGE, 0) == MAP_FAILED, "no room to grow");
	must(mremap(p, 4 * PAGE, 0, MREMAP_MAYMOVE) == MAP_FAILED, "size 0");
	must(mremap(p + 1, PAGE, PAGE, MREMAP_MAYMOVE) == MAP_FAILED, "odd address");
	say_new(2, 5);
}

static void munmap_fails(void)
{
	char *p = new_map(NULL, 4);

	must(munmap(p + 1, PAGE) == -1, "odd address");
	must(munmap(p, 0) == -1, "no length");
	must(munmap(p, ~0UL) == -1, "huge length");
	say_new(1, 4);
}

OWN_FRAME static void free_block(void *p)
{
	/* puts the return address of free() where map_in_hole() will have its array `hole` */
	char room[64];

	keep(room);
	free(p);
	keep(room);
}

OWN_FRAME static void *map_in_hole(void *old, size_t pages)
{
	char hole[4096];
	void *p;

	keep(hole);
	if (old)
		unmap(old, 5);
	p = keep(mmap(NULL, pages * PAGE, RW, ANON, -1, 0)); /* LEAK */
	must(p != MAP_FAILED, "mmap");
	keep(hole);
	return p;
}

/*
 * The frame of map_in_hole() lies where the frame of free_block() was, and does not overwrite the
 * return address of free() there. Mappings made by map_in_hole() must not be taken for free()'s.
 */
static void after_free(void)
{
	void *block = keep(malloc(100)), *p;

	p = map_in_hole(NULL, 5);
	free_block(block);
	map_in_hole(p, 7);
	maps("map_in_hole", 1, 7 * PAGE, "mmap");
}

/*
 * In the second phase, moves a mapping made in the first phase. memleak must keep the mapping's
 * age.
 */
static void move_later(void)
{
	char *p = new_map(NULL, 4);

	say_new(1, 4);
	ready();
	remap(p, 4, 400, MREMAP_MAYMOVE, NULL);
	say_new(1, 400);
}

/* Unmaps a range in which memleak has counted no mapping: the sums must not change. */
static void not_ours(void)
{
	new_map(NULL, 4);
	unmap(area, 16);
	say_new(1, 4);
}

OWN_FRAME static void reserve(void)
{
	void *p = keep(mmap(NULL, 2048 * GIB, PROT_NONE, VAST, -1, 0)); /* LEAK */

	must(p != MAP_FAILED, "reserve");
	maps("reserve", 1, 2048 * GIB, "reserve");
}

OWN_FRAME static char *new_reserve(size_t pages)
{
	char *p = keep(mmap(NULL, pages * PAGE, PROT_NONE, VAST, -1, 0)); /* LEAK */

	must(p != MAP_FAILED, "reserve");
	return p;
}

static void protect(char *p, size_t pages, int prot)
{
	must(mprotect(p, pages * PAGE, prot) == 0, "mprotect");
}

static void say_reserve(unsigned int count, size_t pages)
{
	maps("new_reserve", count, pages * PAGE, "reserve");
}

static void say_used(unsigned int count, size_t pages)
{
	maps("new_reserve", count, pages * PAGE, "mmap");
}

static void used_whole(void)
{
	protect(new_reserve(8), 8, RW);
	say_used(1, 8);
}

/* Tests that a reservation counts as one block, however many of its parts are used. */
static void used_parts(void)
{
	char *p = new_reserve(64);

	protect(p, 2, RW);
	protect(p + 10 * PAGE, 3, PROT_READ);
	protect(p + 63 * PAGE, 1, RW);
	say_used(1, 6);
	say_reserve(1, 58);
}

static void used_no_more(void)
{
	char *p = new_reserve(64);

	protect(p, 8, RW);
	say_used(1, 8);
	say_reserve(1, 56);
	ready();
	protect(p, 6, PROT_NONE);
	protect(p + 32 * PAGE, 1, RW);
	say_used(1, 3);
	say_reserve(1, 61);
}

static void used_unmapped(void)
{
	char *p = new_reserve(64);

	protect(p, 8, RW);
	say_used(1, 8);
	say_reserve(1, 56);
	ready();
	unmap(p, 7);
	unmap(p + 20 * PAGE, 1);
	say_used(1, 1);
	say_reserve(2, 55);
}

static void used_moved(void)
{
	char *p = new_reserve(8);

	protect(p, 8, RW);
	say_used(1, 8);
	ready();
	remap(p, 8, 400, MREMAP_MAYMOVE, NULL);
	say_used(1, 400);
}

/*
 * Tests that a forked child inherits a reservation and its used parts, and that later changes by
 * the child affect only the child's own count.
 */
static void used_forked(void)
{
	char *p = new_reserve(8);
	pid_t child;

	protect(p, 3, RW);
	child = fork();
	must(child >= 0, "fork");
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		protect(p, 1, PROT_NONE);
		raise(SIGSTOP);
		_exit(0);
	}
	must(waitpid(child, NULL, WUNTRACED) == child, "waitpid");
	say_used(2, 3 + 2);
	say_reserve(2, 5 + 6);
}

/*
 * Returns the kind that memleak must report for an accessible mapping (not PROT_NONE): "reserve" if
 * it is larger than the machine's memory, else "mmap".
 */
static const char *kind_of(size_t bytes)
{
	size_t memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);

	return bytes > memory ? "reserve" : "mmap";
}

OWN_FRAME static void huge(void)
{
	for (int i = 0; i < 3; i++) {
		void *p = keep(mmap(NULL, 400 * GIB, RW, VAST, -1, 0)); /* LEAK */

		must(p != MAP_FAILED, "400 GiB");
	}
	maps("huge", 3, 1200 * GIB, kind_of(400 * GIB));
}

static void used_huge(void)
{
	size_t pages = 2048 * GIB / PAGE;

	protect(new_reserve(pages), pages, RW);
	maps("new_reserve", 1, pages * PAGE, kind_of(pages * PAGE));
}

/*
 * Maps huge and small areas in one function. With -C, memleak packs the count and the bytes of a
 * stack into one 64-bit word: neither may overflow into the other.
 */
OWN_FRAME static void huge_and_small(void)
{
	size_t pages[] = {1, 100 * GIB / PAGE, 7, 400 * GIB / PAGE, 1000 * GIB / PAGE, 3};
	size_t total[2] = {0}, count[2] = {0};

	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		void *p = keep(mmap(NULL, pages[i] * PAGE, RW, VAST, -1, 0)); /* LEAK */
		bool is_reserve = !strcmp(kind_of(pages[i] * PAGE), "reserve");

		must(p != MAP_FAILED, "mapping");
		total[is_reserve] += pages[i];
		count[is_reserve]++;
	}
	maps("huge_and_small", count[0], total[0] * PAGE, "mmap");
	if (count[1])
		maps("huge_and_small", count[1], total[1] * PAGE, "reserve");
}

/*
 * Tests that file mappings and shared mappings are not reported, but only the private anonymous
 * mapping made by new_map().
 */
static void files(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);

	must(fd >= 0, "open");
	must(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED, "private file");
	must(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED, "shared file");
	must(mmap(NULL, PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED, "shared");
	new_map(NULL, 2);
	say_new(1, 2);
}

OWN_FRAME static void stack(void)
{
	void *p = keep(mmap(NULL, 256 * PAGE, RW, ANON | MAP_STACK, -1, 0)); /* LEAK */

	must(p != MAP_FAILED, "stack");
	maps("stack", 1, 256 * PAGE, "stack");
}

static void *nothing(void *arg)
{
	(void)arg;
	return NULL;
}

/*
 * Tests that the stacks of ended threads, which libpthread caches, are not reported as leaks. A
 * report that shows these stacks must show them as stacks.
 */
static void thread_stacks(void)
{
	pthread_t threads[4];

	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		must(pthread_create(&threads[i], NULL, nothing, NULL) == 0, "pthread_create");
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	new_map(NULL, 2);
	say_new(1, 2);
}

/* Unmaps memory by a direct system call. Only /proc/PID/maps shows that the memory is gone. */
static void unmap_unseen(char *p, size_t pages)
{
	must(syscall(SYS_munmap, p, pages * PAGE) == 0, "munmap");
}

static void unseen_whole(void)
{
	unmap_unseen(new_map(NULL, 16), 16);
}

static void unseen_parts(void)
{
	char *p = new_map(NULL, 16);

	for (int i = 0; i < 16; i += 4)
		unmap_unseen(p + i * PAGE, 2);
	say_new(4, 8);
}

/* Replaces memory by pages of this program's file. Memleak does not see the call. */
static void map_file_unseen(char *p, size_t pages)
{
	int fd = open("/proc/self/exe", O_RDONLY);

	must(fd >= 0, "open");
	must((char *)syscall(SYS_mmap, p, pages * PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd,
			     0) == p,
	     "mmap of a file");
}

static void unseen_file_over(void)
{
	map_file_unseen(new_map(NULL, 4), 1);
	say_new(1, 3);
}

static void *load_and_unload(void *arg)
{
	for (;;) {
		void *library = dlopen("libm.so.6", RTLD_NOW);

		must(library != NULL, "dlopen");
		dlclose(library);
		usleep(500);
	}
	return arg;
}

/*
 * Loads a library again and again until the program ends. The library never gets the address of the
 * replaced memory.
 */
static void unseen_while_loading(void)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, load_and_unload, NULL) == 0, "pthread_create");
	map_file_unseen(new_map(NULL, 2), 2);
}

/* Attaches a segment over mapped pages twice, and detaches it once. */
static void unseen_segment_over(void)
{
	int id = shmget(IPC_PRIVATE, 2 * PAGE, IPC_CREAT | 0600);
	char *p = new_map(NULL, 6);

	must(id >= 0, "shmget");
	must(shmat(id, p, SHM_REMAP) == p, "shmat over");
	must(shmat(id, p + 2 * PAGE, SHM_REMAP) == p + 2 * PAGE, "shmat over");
	must(shmdt(p) == 0 && shmctl(id, IPC_RMID, NULL) == 0, "shmdt");
	say_new(1, 2);
}

/* Tests that pages still count after they have become inaccessible, because they stay mapped. */
static void unseen_reserve(void)
{
	char *p = new_map(NULL, 8);

	must(mprotect(p + 2 * PAGE, 2 * PAGE, PROT_NONE) == 0, "mprotect");
	must((char *)syscall(SYS_mmap, p + 6 * PAGE, PAGE, PROT_NONE, ANON | MAP_FIXED, -1, 0) ==
		     p + 6 * PAGE,
	     "mmap of nothing");
	say_new(1, 8);
}

/*
 * Makes and unmaps many mappings in quick succession: memleak's ring buffer must not lose or
 * reorder any record.
 */
static void many(void)
{
	for (int i = 0; i < 20000; i++) {
		char *p = new_map(NULL, 3);

		unmap(p + PAGE, 1);
		unmap(p, 3);
	}
	new_map(NULL, 2);
	say_new(1, 2);
}

/*
 * Makes five mappings more than memleak can track. The kernel also limits the number of mappings,
 * but merges adjacent ones, so its limit is not reached.
 */
static void too_many(void)
{
	for (int i = 0; i < 262144 + 5; i++)
		new_map(NULL, 1);
	say_new(262144, 1);
}

static const struct {
	const char *name;
	void (*run)(void);
} things[] = {
	{"whole", whole},
	{"front", front},
	{"middle", middle},
	{"tail", tail},
	{"pieces", pieces},
	{"across", across},
	{"around", around},
	{"byte_length", byte_length},
	{"fixed_over", fixed_over},
	{"fixed_over_all", fixed_over_all},
	{"file_over", file_over},
	{"fixed_fails", fixed_fails},
	{"grow", grow},
	{"shrink", shrink},
	{"move", move},
	{"move_over", move_over},
	{"move_part", move_part},
	{"move_and_leave", move_and_leave},
	{"mremap_fails", mremap_fails},
	{"munmap_fails", munmap_fails},
	{"after_free", after_free},
	{"move_later", move_later},
	{"not_ours", not_ours},
	{"reserve", reserve},
	{"used_whole", used_whole},
	{"used_parts", used_parts},
	{"used_no_more", used_no_more},
	{"used_unmapped", used_unmapped},
	{"used_moved", used_moved},
	{"used_huge", used_huge},
	{"used_forked", used_forked},
	{"huge", huge},
	{"huge_and_small", huge_and_small},
	{"files", files},
	{"stack", stack},
	{"thread_stacks", thread_stacks},
	{"many", many},
	{"too_many", too_many},
	{"unseen_whole", unseen_whole},
	{"unseen_while_loading", unseen_while_loading},
	{"unseen_parts", unseen_parts},
	{"unseen_file_over", unseen_file_over},
	{"unseen_segment_over", unseen_segment_over},
	{"unseen_reserve", unseen_reserve},
};

int main(int argc, char **argv)
{
	must(argc == 2, "usage");
	area = mmap(NULL, 64 * PAGE, PROT_NONE, ANON, -1, 0);
	must(area != MAP_FAILED && munmap(area, 64 * PAGE) == 0, "area");
	area += 16 * PAGE;
	ready();
	for (size_t i = 0; i < ARRAY_SIZE(things); i++)
		if (!strcmp(argv[1], things[i].name)) {
			things[i].run();
			marker();
			ready();
			return 0;
		}
	must(0, argv[1]);
}
