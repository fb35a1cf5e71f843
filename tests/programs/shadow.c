// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shadow SEED OPERATIONS THREADS GROUP[,GROUP]...: allocates and frees memory at random in all
 * possible ways, and keeps records of the memory that is not freed. In each round, each thread runs
 * OPERATIONS operations; then all threads stop, and each process prints its blocks as `holds PID
 * FUNCTION COUNT BYTES KIND INHERITED`. A process that ends in this round prints `held` instead of
 * `holds`. INHERITED is the number of inherited blocks. With one thread, a seed always gives the
 * same operations.
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <wchar.h>

#include "shadow.h"

#define THREADS_MAX 16
#define CHILDREN 6
#define TEXT_BYTES 3000
#define FAR_TOO_MUCH ((size_t)PTRDIFF_MAX - PAGE)

/*
 * Groups of operations; the arguments select groups. To find the operations that memleak counts
 * wrongly, leave out one group after the other.
 */
enum group { PLAIN, ALIGNED, RESIZED, TEXTS, OPERATORS, ODD, MAPPED, CUT, MOVED, BRIEF, FORKED, SIGNALS,
	     STARVED, TRIMMED, DEEP, BURSTS, ENDED, EXECUTED, GROUPS };

static const char *const group_names[GROUPS] = {
	"plain", "aligned", "resized", "texts", "operators", "odd", "mapped", "cut", "moved", "brief",
	"forked", "signals", "starved", "trimmed", "deep", "bursts",
	"ended", "executed",
};

/* State shared by all processes. */
struct common {
	_Atomic unsigned round;
	_Atomic unsigned ready_cnt; /* number of children that have printed their blocks */
	_Atomic unsigned child_cnt; /* number of children that print in this round */
	_Atomic unsigned ending_cnt;
	/* pids of processes that end or execute in this round */
	_Atomic pid_t ending[CHILDREN * 4];
	_Atomic bool over;
	pid_t main;
};

extern void *new_plain(size_t) __asm__("_Znwm") __attribute__((weak));
extern void *new_array(size_t) __asm__("_Znam") __attribute__((weak));
extern void *new_aligned(size_t, size_t) __asm__("_ZnwmSt11align_val_t") __attribute__((weak));
extern void delete_plain(void *) __asm__("_ZdlPv") __attribute__((weak));
extern void delete_array(void *) __asm__("_ZdaPv") __attribute__((weak));
extern void delete_aligned(void *, size_t) __asm__("_ZdlPvSt11align_val_t") __attribute__((weak));

static struct common *common;
static bool groups[GROUPS];
static unsigned operation_cnt, skipped_updates;
static int thread_cnt;
static pthread_rwlock_t gate = PTHREAD_RWLOCK_INITIALIZER; /* write-locked while forking */
static pthread_barrier_t quiet;
static _Atomic int brief_cnt;
static char text[TEXT_BYTES + 1];
static wchar_t wide_text[TEXT_BYTES + 1];

static __thread uint64_t state;
static __thread sigjmp_buf back;
static __thread bool jumps;

static uint64_t next(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static size_t below(size_t limit)
{
	return next() % limit;
}

static bool one_in(size_t n)
{
	return !below(n);
}

/*
 * Returns a random size. Most sizes are small; some are many pages, for which allocators make
 * mappings. Size 0 occurs only in group ODD.
 */
static size_t any_size(void)
{
	if (groups[ODD] && one_in(30))
		return 0;
	if (one_in(40))
		return 1 + below(1 << 20);
	if (one_in(6))
		return 1 + below(20000);
	return 1 + below(300);
}

/* A call of an allocator function, which perform() makes for one of the functions site_NN. */
struct request {
	enum call { MALLOC, CALLOC, MEMALIGN, POSIX_MEMALIGN, ALIGNED_ALLOC, VALLOC, STRDUP, STRNDUP,
		    WCSDUP, REALLOC, REALLOCARRAY, NEW, NEW_ARRAY, NEW_ALIGNED, MMAP_CALL } call;
	void *p;
	size_t size;
	size_t count; /* number of elements, each of `size` bytes */
	size_t align;
	int prot;
	int flags;
};

OWN_FRAME static void *perform(const struct request *r)
{
	void *p = NULL;

	switch (r->call) {
	case MALLOC:
		return keep(malloc(r->size));
	case CALLOC:
		return keep(calloc(r->count, r->size));
	case MEMALIGN:
		return keep(memalign(r->align, r->size));
	case POSIX_MEMALIGN:
		return posix_memalign(&p, r->align, r->size) ? NULL : keep(p);
	case ALIGNED_ALLOC:
		return keep(aligned_alloc(r->align, r->size));
	case VALLOC:
		return keep(valloc(r->size));
	case STRDUP:
		return keep(strdup(text + TEXT_BYTES + 1 - r->size));
	case STRNDUP:
		return keep(strndup(text, r->size - 1));
	case WCSDUP:
		return keep(wcsdup(wide_text + TEXT_BYTES + 1 - r->size / sizeof(wchar_t)));
	case REALLOC:
		return keep(realloc(r->p, r->size));
	case REALLOCARRAY:
		return keep(reallocarray(r->p, r->count, r->size));
	case NEW:
		return keep(new_plain(r->size));
	case NEW_ARRAY:
		return keep(new_array(r->size));
	case NEW_ALIGNED:
		return keep(new_aligned(r->size, r->align));
	case MMAP_CALL:
		return keep(mmap(r->p, r->size, r->prot, r->flags, -1, 0));
	}
	return NULL;
}

#define SITE(number)                                                                               \
	OWN_FRAME static void *site_##number(const struct request *r)                              \
	{                                                                                          \
		return keep(perform(r));                                                           \
	}
SITE(00) SITE(01) SITE(02) SITE(03) SITE(04) SITE(05) SITE(06) SITE(07)
SITE(08) SITE(09) SITE(10) SITE(11) SITE(12) SITE(13) SITE(14) SITE(15)

typedef void *(*site_fn)(const struct request *r);

static const site_fn sites[SITES] = {site_00, site_01, site_02, site_03, site_04, site_05, site_06, site_07,
				     site_08, site_09, site_10, site_11, site_12, site_13, site_14, site_15};

OWN_FRAME static void *from_below(site_fn site, const struct request *r, size_t depth)
{
	char room[16 + 8 * (depth % 5)];

	keep(room);
	return keep(depth ? from_below(site, r, depth - 1) : site(r));
}

static void *call(int site, const struct request *r)
{
	return from_below(sites[site], r, groups[DEEP] && one_in(8) ? below(160) : below(3));
}

static bool take(atomic_flag *busy)
{
	return !atomic_flag_test_and_set_explicit(busy, memory_order_acquire);
}

static void release(atomic_flag *busy)
{
	atomic_flag_clear_explicit(busy, memory_order_release);
}

/* Heap operations. */

static void set_block(struct block *block, void *p, size_t size, int site)
{
	if (skipped_updates && one_in(skipped_updates))
		return;
	*block = (struct block){.busy = block->busy, .p = p, .size = size, .site = site,
				.family = block->family, .align = block->align};
}

static void free_block(struct block *block)
{
	switch (block->family) {
	case OF_MALLOC:
		free(block->p);
		break;
	case OF_NEW:
		delete_plain(block->p);
		break;
	case OF_ARRAY:
		delete_array(block->p);
		break;
	case OF_ALIGNED_NEW:
		delete_aligned(block->p, block->align);
		break;
	}
	block->p = NULL;
}

/* Changes a request so that it must fail, if its function has a case here. */
static void make_impossible(struct request *r)
{
	switch (r->call) {
	case CALLOC:
	case REALLOCARRAY:
		r->count = SIZE_MAX / 2;
		r->size = 4;
		break;
	case POSIX_MEMALIGN:
		if (one_in(2)) {
			r->align = 24;
			break;
		}
		/* fallthrough */
	case MALLOC:
	case MEMALIGN:
	case REALLOC:
		r->size = FAR_TOO_MUCH;
		break;
	default:
		break;
	}
}

static struct request new_request(void)
{
	struct request r = {.call = MALLOC, .size = any_size(), .count = 1};
	size_t dice = below(8);

	if (dice < 2) {
		r.call = CALLOC;
		r.count = 1 + below(4);
	} else if (groups[ALIGNED] && dice == 2) {
		r.align = (size_t)16 << below(9);
		r.call = (enum call[]){MEMALIGN, POSIX_MEMALIGN, ALIGNED_ALLOC, VALLOC}[below(4)];
		if (r.call == ALIGNED_ALLOC)
			r.size = (r.size + r.align) & ~(r.align - 1);
	} else if (groups[TEXTS] && dice == 3) {
		r.call = STRDUP + (int)below(3);
		r.size = 1 + below(TEXT_BYTES);
		if (r.call == WCSDUP)
			r.size *= sizeof(wchar_t);
	} else if (groups[OPERATORS] && new_plain && dice == 4) {
		r.call = NEW + (int)below(new_aligned ? 3 : 2);
		r.align = (size_t)32 << below(6);
		/*
		 * Round up, because operator new of the C++ library requests whole multiples of the
		 * alignment.
		 */
		if (r.call == NEW_ALIGNED)
			r.size = (r.size + r.align) & ~(r.align - 1);
		r.size += !r.size;
		return r;
	} else if (groups[RESIZED] && dice == 5) {
		r.call = REALLOC + (int)below(2);
	}
	if (groups[ODD] && one_in(50))
		make_impossible(&r);
	return r;
}

static void allocate(struct block *block)
{
	struct request r = new_request();
	int site = (int)below(SITES);
	void *p;

	/*
	 * In group STARVED, any thread may limit memory at any time, and operator new would throw:
	 * use malloc() instead.
	 */
	if (r.call >= NEW && r.call <= NEW_ALIGNED && groups[STARVED])
		r.call = MALLOC;
	p = call(site, &r);
	if (!p)
		return;
	block->family = r.call == NEW ? OF_NEW : r.call == NEW_ARRAY ? OF_ARRAY :
			r.call == NEW_ALIGNED ? OF_ALIGNED_NEW : OF_MALLOC;
	block->align = r.align;
	set_block(block, p, r.call == POSIX_MEMALIGN ? r.size : r.size * r.count, site);
}

static void resize(struct block *block)
{
	struct request r = {.call = REALLOC + (int)below(2), .p = block->p, .size = any_size(),
			    .count = 1};
	int site = (int)below(SITES);
	void *p;

	if (r.call == REALLOCARRAY)
		r.count = 1 + below(3);
	if (groups[ODD] && one_in(20))
		make_impossible(&r);
	p = call(site, &r);
	if (p)
		set_block(block, p, r.size * r.count, site);
	else if (!r.size)
		block->p = NULL;
}

static void do_heap(void)
{
	struct block *block = &blocks[below(BLOCKS)];

	if (!take(&block->busy))
		return;
	if (!block->p)
		allocate(block);
	else if (groups[RESIZED] && block->family == OF_MALLOC && one_in(3))
		resize(block);
	else
		free_block(block);
	release(&block->busy);
}

/*
 * Allocates and frees many blocks, so that addresses, and entries of memleak's table of blocks, are
 * reused.
 */
static void do_burst(void)
{
	void *p[64];
	size_t cnt = 1 + below(64), size = 1 + below(500);
	struct request r = {.call = MALLOC, .size = size};
	int site = (int)below(SITES);

	for (size_t i = 0; i < cnt; i++)
		p[i] = sites[site](&r);
	for (size_t i = 0; i < cnt; i++)
		free(p[i]);
}

/* Mapping operations. */

static enum kind random_kind(struct request *r)
{
	static const int flags[] = {MAP_PRIVATE, MAP_PRIVATE | MAP_STACK, MAP_SHARED};
	size_t which = one_in(3) ? below(3) : 0;

	r->flags |= flags[which] | MAP_ANONYMOUS;
	r->prot = one_in(4) ? PROT_NONE : PROT_READ | PROT_WRITE;
	if (flags[which] & MAP_SHARED)
		return UNTRACKED;
	if (flags[which] & MAP_STACK)
		return STACK;
	return r->prot == PROT_NONE ? RESERVE : MMAP;
}

static size_t mapping_bytes(void)
{
	return (1 + below(24)) * PAGE - (one_in(3) ? below(PAGE) : 0);
}

/*
 * Maps memory and records it. If `over` is not NULL, and `more_flags` is MAP_FIXED, the mapping
 * replaces the memory at `over`.
 */
static void map(struct area *area, char *over, size_t bytes, int more_flags)
{
	struct request r = {.call = MMAP_CALL, .p = over, .size = bytes, .flags = more_flags};
	struct piece piece = {.site = (int)below(SITES), .kind = random_kind(&r)};
	char *p = call(piece.site, &r);

	if (p == MAP_FAILED)
		return;
	if (more_flags & MAP_FIXED)
		area_cut(area, p, p + pages(bytes), NULL);
	piece.start = p;
	piece.end = p + bytes;
	area_put(area, piece);
}

/* Picks a random range of pages in adjacent pieces of the area. */
static void some_pages(const struct area *area, char **start, size_t *bytes)
{
	int first = (int)below((size_t)area->cnt), last = first;
	size_t all, skipped;

	while (last + 1 < area->cnt && page_end(&area->pieces[last]) == area->pieces[last + 1].start &&
	       one_in(2))
		last++;
	all = (size_t)(page_end(&area->pieces[last]) - area->pieces[first].start);
	skipped = one_in(2) ? 0 : below(all / PAGE) * PAGE;
	*start = area->pieces[first].start + skipped;
	*bytes = one_in(2) ? all - skipped : (1 + below((all - skipped) / PAGE)) * PAGE;
}

static void unmap(struct area *area)
{
	char *start;
	size_t bytes, asked;

	some_pages(area, &start, &bytes);
	asked = bytes - (one_in(3) ? below(PAGE) : 0);
	if (groups[ODD] && one_in(10)) {
		must(munmap(start + 1, asked) < 0 && munmap(start, 0) < 0, "munmap that fails");
		return;
	}
	if (!munmap(start, asked))
		area_cut(area, start, start + bytes, NULL);
}

static void unmap_all(struct area *area)
{
	while (area->cnt) {
		struct piece *piece = &area->pieces[area->cnt - 1];

		if (!munmap(piece->start, (size_t)(piece->end - piece->start)))
			area->cnt--;
	}
}

/*
 * Changes the records as mremap() changes the mappings, according to its man page: pieces keep
 * their sites, the last piece grows if the new length is larger, and pieces are cut where it is
 * smaller. copy: true if the old pages also stay mapped (MREMAP_DONTUNMAP).
 */
static void moved(struct area *area, char *start, size_t old_bytes, char *p, size_t bytes, bool copy)
{
	struct piece taken[PIECES];
	char *old_end = start + pages(old_bytes);
	int cnt;

	if (copy) {
		struct area copied = *area;

		cnt = area_cut(&copied, start, old_end, taken);
	} else {
		cnt = area_cut(area, start, old_end, taken);
	}
	area_cut(area, p, p + pages(bytes), NULL);
	for (int i = 0; i < cnt; i++) {
		struct piece piece = taken[i];
		bool last = page_end(&piece) == old_end;

		piece.start = p + (piece.start - start);
		piece.end = last ? p + bytes : p + (piece.end - start);
		if (piece.end > p + bytes)
			piece.end = p + bytes;
		if (piece.start < piece.end)
			area_put(area, piece);
	}
}

static bool is_one_piece(const struct area *area, const char *start, size_t bytes)
{
	for (int i = 0; i < area->cnt; i++)
		if (area->pieces[i].start <= start && start + bytes <= page_end(&area->pieces[i]))
			return true;
	return false;
}

/*
 * Moves pages by mremap(). Before Linux 6.17, an mremap() to a fixed address that fails may already
 * have unmapped the target. So this function avoids calls that could fail for lack of memory, or
 * because the range has several mappings.
 */
static void move(struct area *area)
{
	char *start, *to = NULL, *p;
	size_t old_bytes, bytes, room;
	int flags = one_in(4) ? 0 : MREMAP_MAYMOVE;

	some_pages(area, &start, &old_bytes);
	bytes = one_in(2) ? mapping_bytes() : old_bytes;
	if (flags && !groups[STARVED] && is_one_piece(area, start, old_bytes) && one_in(4)) {
		some_pages(area, &to, &room);
		flags |= MREMAP_FIXED;
		if (bytes > room)
			bytes = room;
	}
#ifdef MREMAP_DONTUNMAP
	if (flags == MREMAP_MAYMOVE && one_in(6)) {
		flags |= MREMAP_DONTUNMAP;
		bytes = old_bytes;
	}
#endif
	if (groups[ODD] && !to && one_in(20))
		bytes = one_in(2) ? 0 : FAR_TOO_MUCH;
	p = mremap(start, old_bytes, bytes, flags, to);
	if (p == MAP_FAILED)
		return;
#ifdef MREMAP_DONTUNMAP
	moved(area, start, old_bytes, p, bytes, flags & MREMAP_DONTUNMAP);
#else
	moved(area, start, old_bytes, p, bytes, false);
#endif
}

static void do_mapping(void)
{
	struct area *area = &areas[below(AREAS)];
	char *start;
	size_t bytes;

	if (!take(&area->busy))
		return;
	if (area->cnt > PIECES / 3 || (area->cnt && !groups[CUT] && !groups[MOVED]) || area->cnt > 9) {
		unmap_all(area);
	} else if (!area->cnt || one_in(6)) {
		map(area, NULL, groups[ODD] && one_in(10) ? 0 : mapping_bytes(), 0);
	} else if (groups[MOVED] && one_in(2)) {
		move(area);
	} else if (groups[CUT] && one_in(2)) {
		unmap(area);
	} else if (groups[CUT]) {
		some_pages(area, &start, &bytes);
		map(area, start, bytes, MAP_FIXED);
	}
	release(&area->busy);
}

/* Short-lived threads. */

struct brief {
	uint64_t seed;
	bool exits;
	bool detached;
};

static void do_some(unsigned cnt);

OWN_FRAME static void brief_work(const struct brief *brief)
{
	do_some(1 + (unsigned)below(40));
	if (brief->exits) {
		if (brief->detached)
			atomic_fetch_sub(&brief_cnt, 1);
		pthread_exit(NULL);
	}
}

static void *brief_main(void *arg)
{
	struct brief brief = *(struct brief *)arg;

	free(arg);
	state = brief.seed;
	brief_work(&brief);
	if (brief.detached)
		atomic_fetch_sub(&brief_cnt, 1);
	return NULL;
}

/*
 * Runs a short-lived thread. Its argument is in a block that the records do not contain; the thread
 * frees this block before the round ends.
 */
static void do_brief(void)
{
	struct brief *brief = malloc(sizeof(*brief));
	pthread_attr_t attr;
	pthread_t thread;

	if (!brief)
		return;
	*brief = (struct brief){.seed = next(), .exits = one_in(2), .detached = one_in(2)};
	must(!pthread_attr_init(&attr), "attributes");
	if (brief->detached) {
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
		atomic_fetch_add(&brief_cnt, 1);
	}
	bool detached = brief->detached;
	int err = pthread_create(&thread, &attr, brief_main, brief);
	if (err) {
		free(brief);
		if (detached)
			atomic_fetch_sub(&brief_cnt, 1);
	} else if (!detached) {
		pthread_join(thread, NULL);
	}
	pthread_attr_destroy(&attr);
}

/*
 * Signal handlers. A handler runs a heap or mapping operation, and may then jump back to the code
 * that raised the signal.
 */

static void on_signal(int number)
{
	(void)number;
	if (one_in(2))
		do_heap();
	else
		do_mapping();
	if (jumps)
		siglongjmp(back, 1);
}

OWN_FRAME static void do_signal(void)
{
	jumps = one_in(3);
	if (!sigsetjmp(back, 1))
		pthread_kill(pthread_self(), one_in(2) ? SIGUSR1 : SIGUSR2);
	jumps = false;
}

static void *end_at_once(void *arg)
{
	(void)arg;
	pthread_exit(NULL);
}

/*
 * Allocates in advance what is needed while memory is short: the stack of this thread, and the
 * memory that pthread_exit() needs.
 */
static void prepare_for_hunger(void)
{
	volatile char room[512 << 10];
	pthread_t thread;

	for (size_t at = 0; at < sizeof(room); at += PAGE)
		room[at] = 0;
	must(!pthread_create(&thread, NULL, end_at_once, NULL) && !pthread_join(thread, NULL), "thread");
}

static void start_signals(void)
{
	struct sigaction plain = {.sa_handler = on_signal};
	struct sigaction nested = {.sa_handler = on_signal, .sa_flags = SA_NODEFER | SA_ONSTACK};

	must(!sigaction(SIGUSR1, &plain, NULL) && !sigaction(SIGUSR2, &nested, NULL), "sigaction");
}

/* Runs up to 19 operations while the address space cannot grow. Operations that need more fail. */
static void do_starved(void)
{
	struct rlimit old, none;

	must(!getrlimit(RLIMIT_AS, &old), "getrlimit");
	none = (struct rlimit){.rlim_cur = 1 << 20, .rlim_max = old.rlim_max};
	must(!setrlimit(RLIMIT_AS, &none), "setrlimit");
	for (size_t cnt = below(20); cnt > 0; cnt--)
		if (one_in(2))
			do_heap();
		else
			do_mapping();
	old.rlim_cur = old.rlim_max;
	must(!setrlimit(RLIMIT_AS, &old), "setrlimit");
}

static void do_one(void)
{
	size_t dice = below(1000);

	if (groups[BRIEF] && dice < 4)
		do_brief();
	else if (groups[SIGNALS] && dice < 40)
		do_signal();
	else if (groups[STARVED] && dice < 50)
		do_starved();
	else if (groups[BURSTS] && dice < 60)
		do_burst();
#ifdef __GLIBC__
	else if (groups[TRIMMED] && dice < 65)
		malloc_trim(0);
#endif
	else if (groups[MAPPED] && dice < 300)
		do_mapping();
	else if (groups[PLAIN])
		do_heap();
}

/*
 * Runs `cnt` random operations. Read-locks `gate` during each, so that no child is forked in the
 * middle of an operation.
 */
static void do_some(unsigned cnt)
{
	while (cnt--) {
		pthread_rwlock_rdlock(&gate);
		do_one();
		pthread_rwlock_unlock(&gate);
	}
}

/* Operations with child processes. */

static void nap(void)
{
	struct timespec moment = {.tv_nsec = 200000};

	nanosleep(&moment, NULL);
}

static void end_soon(void)
{
	unsigned at = atomic_fetch_add(&common->ending_cnt, 1);

	must(at < ARRAY_SIZE(common->ending), "room for children that end");
	atomic_store(&common->ending[at], getpid());
	atomic_fetch_sub(&common->child_cnt, 1);
}

static void await_brief(void)
{
	while (atomic_load(&brief_cnt))
		nap();
}

static void maybe_fork(void);

/* Runs operations in each round, until the child ends or executes another program. */
static void child_main(uint64_t seed, unsigned round)
{
	state = seed;
	atomic_store(&brief_cnt, 0);
	books_inherit();
	for (;;) {
		do_some((unsigned)below(operation_cnt) / 4);
		if (one_in(3)) {
			maybe_fork();
			do_some((unsigned)below(50));
		}
		if (groups[ENDED] && one_in(3)) {
			await_brief();
			books_tell("held");
			end_soon();
			_exit(0);
		}
		if (groups[EXECUTED] && one_in(8)) {
			end_soon();
			execl("/bin/true", "true", NULL);
			_exit(99);
		}
		await_brief();
		books_tell("holds");
		atomic_fetch_add(&common->ready_cnt, 1);
		while (atomic_load(&common->round) == round && !atomic_load(&common->over)) {
			nap();
			if (kill(common->main, 0))
				_exit(0);
		}
		if (atomic_load(&common->over))
			_exit(0);
		round = atomic_load(&common->round);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

static void maybe_fork(void)
{
	unsigned round = atomic_load(&common->round);
	uint64_t seed = next();
	pid_t pid;

	if (!groups[FORKED] || atomic_load(&common->child_cnt) >= CHILDREN)
		return;
	atomic_fetch_add(&common->child_cnt, 1);
	pthread_rwlock_wrlock(&gate);
	pid = fork();
	if (!pid) {
		gate = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
		child_main(seed, round);
	}
	pthread_rwlock_unlock(&gate);
	if (pid < 0)
		atomic_fetch_sub(&common->child_cnt, 1);
}

/* True if the process is a zombie or gone. */
static bool has_ended(pid_t pid)
{
	char path[32], stat[64] = "";
	const char *mark;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	if (read(fd, stat, sizeof(stat) - 1) < 0)
		stat[0] = 0;
	close(fd);
	mark = strrchr(stat, ')');
	return !mark || mark[2] == 'Z' || mark[2] == 'X';
}

static void await_children(void)
{
	while (atomic_load(&common->ready_cnt) < atomic_load(&common->child_cnt))
		nap();
	for (unsigned i = 0; i < atomic_load(&common->ending_cnt); i++)
		while (!has_ended(atomic_load(&common->ending[i])))
			nap();
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/* Rounds of operations. */

static void *worker_main(void *arg)
{
	state = (uint64_t)(uintptr_t)arg;
	/* Wait until all threads exist: under a memory limit, pthread_create() would fail. */
	pthread_barrier_wait(&quiet);
	for (;;) {
		do_some(operation_cnt);
		pthread_barrier_wait(&quiet);
		pthread_barrier_wait(&quiet);
	}
	return NULL;
}

static void main_round(void)
{
	for (int part = 0; part < 3; part++) {
		do_some(operation_cnt / 3);
		maybe_fork();
	}
	pthread_barrier_wait(&quiet);
	await_brief();
	await_children();
	books_tell("holds");
}

/*
 * Prints `ready` and waits for a byte from the runner. At the end of stdin, ends this process and
 * its children.
 */
static void await_word(void)
{
	char byte;

	say("ready\n");
	if (read(STDIN_FILENO, &byte, 1) != 1) {
		atomic_store(&common->over, true);
		_exit(0);
	}
}

static void read_groups(char *list)
{
	for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
		int group = 0;

		while (group < GROUPS && strcmp(name, group_names[group]))
			group++;
		must(group < GROUPS, name);
		groups[group] = true;
	}
}

int main(int argc, char **argv)
{
	/* SHADOW_SKIPS=N skips about one in N updates of the records, to test the test. */
	char *skipped = getenv("SHADOW_SKIPS");
	uint64_t seed;

	must(argc == 5, "usage: shadow SEED OPERATIONS THREADS GROUP[,GROUP]...");
	seed = strtoull(argv[1], NULL, 0);
	operation_cnt = (unsigned)atoi(argv[2]);
	thread_cnt = atoi(argv[3]);
	must(thread_cnt >= 1 && thread_cnt <= THREADS_MAX, "threads");
	read_groups(argv[4]);
	/* STARVED disables some operations of MOVED, so leave STARVED out for half of the seeds. */
	if (groups[MOVED] && groups[STARVED] && seed % 2)
		groups[STARVED] = false;
	skipped_updates = skipped ? (unsigned)atoi(skipped) : 0;
	memset(text, 'x', TEXT_BYTES);
	wmemset(wide_text, L'x', TEXT_BYTES);
	common = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(common != MAP_FAILED, "mmap");
	common->main = getpid();
	start_signals();
	prepare_for_hunger();
	await_word();
	pthread_barrier_init(&quiet, NULL, (unsigned)thread_cnt);
	state = seed;
	for (int i = 1; i < thread_cnt; i++) {
		pthread_t thread;

		must(!pthread_create(&thread, NULL, worker_main, (void *)(uintptr_t)next()), "thread");
	}
	pthread_barrier_wait(&quiet);
	for (;;) {
		main_round();
		await_word();
		atomic_store(&common->ready_cnt, 0);
		atomic_store(&common->ending_cnt, 0);
		atomic_fetch_add(&common->round, 1);
		pthread_barrier_wait(&quiet);
	}
}
