// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Forwards calls to the next allocator in symbol order, and records the calls in the account. If
 * the operators new and delete call malloc() and free(), only the calls of malloc() and free() are
 * recorded. Otherwise, calls of the operators are recorded like those of C functions.
 */
#include "agent/allocators.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "agent/cells.h"
#include "agent/forks.h"
#include "agent/modules.h"
#include "agent/samples.h"
#include "agent/stacks.h"
#include "agent/sums.h"
#include "agent/trace.h"

#define HIDDEN __attribute__((visibility("hidden"), used))

/* The interposed functions, in the order of names[]. */
enum function {
	MALLOC,
	CALLOC,
	REALLOC,
	POSIX_MEMALIGN,
	ALIGNED_ALLOC,
	MEMALIGN,
	VALLOC,
	PVALLOC,
	FREE,
	NEW,
	NEW_ARRAY,
	NEW_NOTHROW,
	NEW_ARRAY_NOTHROW,
	NEW_ALIGNED,
	NEW_ARRAY_ALIGNED,
	NEW_ALIGNED_NOTHROW,
	NEW_ARRAY_ALIGNED_NOTHROW,
	DELETE_PLAIN,
	DELETE_ARRAY,
	DELETE_SIZED,
	DELETE_ARRAY_SIZED,
	DELETE_ALIGNED,
	DELETE_ARRAY_ALIGNED,
	DELETE_SIZED_ALIGNED,
	DELETE_ARRAY_SIZED_ALIGNED,
	DELETE_NOTHROW,
	DELETE_ARRAY_NOTHROW,
	DELETE_ALIGNED_NOTHROW,
	DELETE_ARRAY_ALIGNED_NOTHROW,
	FUNCTION_CNT,
};

static const char *const names[FUNCTION_CNT] = {
	"malloc",
	"calloc",
	"realloc",
	"posix_memalign",
	"aligned_alloc",
	"memalign",
	"valloc",
	"pvalloc",
	"free",
	"_Znwm",
	"_Znam",
	"_ZnwmRKSt9nothrow_t",
	"_ZnamRKSt9nothrow_t",
	"_ZnwmSt11align_val_t",
	"_ZnamSt11align_val_t",
	"_ZnwmSt11align_val_tRKSt9nothrow_t",
	"_ZnamSt11align_val_tRKSt9nothrow_t",
	"_ZdlPv",
	"_ZdaPv",
	"_ZdlPvm",
	"_ZdaPvm",
	"_ZdlPvSt11align_val_t",
	"_ZdaPvSt11align_val_t",
	"_ZdlPvmSt11align_val_t",
	"_ZdaPvmSt11align_val_t",
	"_ZdlPvRKSt9nothrow_t",
	"_ZdaPvRKSt9nothrow_t",
	"_ZdlPvSt11align_val_tRKSt9nothrow_t",
	"_ZdaPvSt11align_val_tRKSt9nothrow_t",
};

static const char *const other_names[OTHER_CNT] = {"mmap", "munmap", "mremap", "dlclose",
						   "mlockall"};

/* functions that the program would call without the agent */
static any_function *next[FUNCTION_CNT];
static any_function *others[OTHER_CNT];
/* true if C++ operators do not call malloc(): calls of operators are then recorded */
static bool operators_allocate;

/*
 * Memory for blocks that are allocated while the functions in next[] are being looked up. Freed
 * memory is not reused.
 */
static unsigned char early[32768] __attribute__((aligned(16)));
static size_t early_bytes;
static bool finding;

static void *early_alloc(size_t size)
{
	size_t at = __atomic_load_n(&early_bytes, __ATOMIC_RELAXED);

	do {
		if (size > sizeof(early) - at)
			return NULL;
	} while (!__atomic_compare_exchange_n(&early_bytes, &at, at + ((size + 15) & ~(size_t)15),
					      false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return early + at;
}

static bool is_early(const void *addr)
{
	return (uintptr_t)addr - (uintptr_t)early < sizeof(early);
}

/* Returns an upper bound of the size of a block in `early`, 0 if addr is not in `early`. */
static size_t early_left(const void *addr)
{
	return is_early(addr) ? sizeof(early) - (size_t)((const unsigned char *)addr - early) : 0;
}

/* True if the operator is in malloc()'s file: such an operator does not call malloc(). */
static bool is_of_allocator(any_function *operator_function)
{
	Dl_info of_malloc, of_operator;

	return operator_function && dladdr((void *)next[MALLOC], &of_malloc) &&
	       dladdr((void *)operator_function, &of_operator) &&
	       of_malloc.dli_fbase == of_operator.dli_fbase;
}

void allocators_find(void)
{
	if (__atomic_exchange_n(&finding, true, __ATOMIC_ACQ_REL))
		return;
	for (unsigned int i = 0; i < OTHER_CNT; i++)
		others[i] = (any_function *)dlsym(RTLD_NEXT, other_names[i]);
	for (unsigned int i = 0; i < FUNCTION_CNT; i++)
		next[i] = (any_function *)dlsym(RTLD_NEXT, names[i]);
	operators_allocate = is_of_allocator(next[NEW]);
}

/*
 * dladdr1() is weak because musl does not have it. With musl the agent does nothing, but programs
 * must still start.
 */
#pragma weak dladdr1

bool allocators_are_bypassed(void)
{
	void *called = dlsym(RTLD_DEFAULT, names[MALLOC]);
	const Elf64_Sym *symbol = NULL;
	Dl_info of_called, own;

	if (!called || !dladdr1 || !dladdr1(called, &of_called, (void **)&symbol, RTLD_DL_SYMENT) ||
	    !dladdr(next, &own))
		return false;
	/*
	 * An executable that takes the address of malloc() may define the symbol malloc as an entry
	 * of its own PLT. The entry only jumps to the malloc() of a library: it is not another
	 * allocator.
	 */
	if (symbol && symbol->st_shndx == SHN_UNDEF)
		return false;
	return of_called.dli_fbase != own.dli_fbase;
}

/*
 * Returns the non-allocator function that the program would call without the agent. mmap() etc. are
 * not looked up on demand: the first caller may be an allocator that is starting and holds a lock,
 * and the lookup would call that allocator again.
 */
any_function *allocators_other(enum other_function which)
{
	if (unlikely(!others[which]) && which >= OTHER_DLCLOSE)
		allocators_find();
	return others[which];
}

/*
 * Returns the allocator function to call; NULL while the functions in next[] are being looked up.
 */
static inline any_function *next_function(enum function which)
{
	if (unlikely(!next[which]))
		allocators_find();
	return next[which];
}

static inline struct account *open_account(void)
{
	struct account *account = gate.account;

	if (unlikely(!account))
		account = agent_begin() ? gate.account : NULL;
	if (unlikely(account && self.account != account) && !thread_begin(account))
		return NULL;
	return account;
}

static inline uint32_t modes_of(const struct account *account)
{
	return __atomic_load_n(&account->modes, __ATOMIC_ACQUIRE);
}

/* Requests of this size or more always fail, and are not counted. */
#define ASKED_MAX (1ULL << 47)

static void count_asked(uint32_t modes, enum account_call call, size_t size)
{
	if ((modes & ACCOUNT_COUNTS) && size < ASKED_MAX)
		self.counts->asked[call] += size;
}

/* Updates the filter and the sums for a block that is removed from its cell. */
static void count_taken(struct account *account, uint64_t addr, uint64_t block, uint32_t modes)
{
	if (modes & ACCOUNT_FILTERS)
		samples_taken(addr);
	if (modes & ACCOUNT_ADDS_UP)
		sums_taken(account, ACCOUNT_CELL_SIZE(block));
}

/*
 * Updates the filter and the sums for a block that is freed, and reports the free if a child may
 * have inherited the block.
 */
static void count_gone(struct account *account, uint64_t addr, const struct account_cell *cell,
		       uint32_t modes)
{
	count_taken(account, addr, cell->block, modes);
	if (modes & ACCOUNT_FORKED)
		forks_freed_shared(account, addr, cell);
}

/*
 * Updates the filter and the sums for a new block. If an old block is still recorded at its
 * address, the free of the old block was missed, and is counted now.
 */
static void count_put(struct account *account, uint64_t addr, uint64_t block, uint32_t modes)
{
	const struct account_cell *there = cells_find(addr);

	if (there)
		count_gone(account, addr, there, modes);
	if (modes & ACCOUNT_FILTERS)
		samples_put(addr);
	if (modes & ACCOUNT_ADDS_UP)
		sums_put(account, ACCOUNT_CELL_SIZE(block));
}

/*
 * Returns the birth time of a block that is allocated now, as ACCOUNT_BIRTH(): the time of the
 * kernel's latest tick. On virtual machines, this time can be many ticks late. After forks, the
 * result is therefore at least the start time of the current epoch; otherwise the block could seem
 * to be older than a fork that preceded it.
 */
static inline uint64_t birth_in(const struct account *account, uint32_t epoch, uint32_t modes)
{
	uint64_t birth = ACCOUNT_BIRTH(system_coarse_ns()), least;

	if (!unlikely(modes & ACCOUNT_FORKED))
		return birth;
	least = ACCOUNT_BIRTH(__atomic_load_n(epoch_ns(account, epoch), __ATOMIC_ACQUIRE));
	return birth > least ? birth : least;
}

/*
 * Records an allocation. before: cell of the block that realloc() replaces, or NULL. If both blocks
 * have the same stack, the new one keeps the birth time of the old one, unless forked children may
 * have a copy of the old one: copies are identified by birth time.
 */
static ALWAYS_INLINE void note_after(void *addr, size_t size, enum account_call call,
				     const struct caller *caller, const struct account_cell *before)
{
	struct account *account = open_account();
	uint64_t kept = size, birth;
	struct account_cell cell;
	uint32_t stack, modes, epoch;

	if (!account)
		return;
	self.counts->calls[call]++;
	modes = modes_of(account);
	if (unlikely(!addr)) {
		self.counts->failed += size != 0;
		count_asked(modes, call, size);
		return;
	}
	if (unlikely(modes & ACCOUNT_SAMPLES) && !samples_choose(account, size)) {
		count_asked(modes, call, size);
		return;
	}
	if (unlikely(kept > ACCOUNT_SIZE_MAX)) {
		kept = ACCOUNT_SIZE_MAX;
		lose(account, ACCOUNT_LOST_SIZE);
	}
	stack = stacks_find(account, caller);
	epoch = __atomic_load_n(&account->epoch, __ATOMIC_ACQUIRE);
	if (before && before->life && ACCOUNT_CELL_STACK(before->block) == stack &&
	    !(modes & ACCOUNT_FORKED))
		birth = before->life >> ACCOUNT_BIRTH_SHIFT;
	else
		birth = birth_in(account, epoch, modes);
	cell.life = ACCOUNT_LIFE(birth, epoch, (uint64_t)self.number);
	cell.block = ACCOUNT_CELL(stack, kept, cells_position((uint64_t)addr));
	if (unlikely(modes)) {
		cell.life |= modes & ACCOUNT_SAMPLES ? ACCOUNT_LIFE_SAMPLE : 0;
		if (modes & (ACCOUNT_FILTERS | ACCOUNT_ADDS_UP | ACCOUNT_FORKED))
			count_put(account, (uint64_t)addr, cell.block, modes);
		count_asked(modes, call, size);
		if (modes & ACCOUNT_ADDS_UP)
			sums_allocated(kept);
		if (modes & ACCOUNT_TRACES)
			trace_alloc(account, call, (uint64_t)addr, size, stack);
	}
	cells_put(account, (uint64_t)addr, cell);
}

static ALWAYS_INLINE void note(void *addr, size_t size, enum account_call call,
			       const struct caller *caller)
{
	note_after(addr, size, call, caller, NULL);
}

/* The C library frees blocks after the thread's last destructor, when nothing frees its number. */
static inline void count_free(void)
{
	self.counts->frees++;
	if (unlikely(self.has_ended && !self.memo))
		thread_free_number();
}

/*
 * Removes a block from its cell. Must precede the actual free, after which another thread may get
 * the address. False if the block is unknown.
 */
static ALWAYS_INLINE bool forget(void *addr, const struct caller *caller)
{
	struct account *account = gate.account;
	struct account_cell *cell;
	uint32_t modes;

	if (unlikely(!account))
		return false;
	modes = modes_of(account);
	if (unlikely(modes & (ACCOUNT_ADDS_UP | ACCOUNT_COUNTS)) && addr && open_account())
		count_free();
	if (unlikely(modes & ACCOUNT_FILTERS) && !samples_may_have((uint64_t)addr))
		return false;
	cell = cells_find((uint64_t)addr);
	if (unlikely(!cell))
		return false;
	if (unlikely(modes)) {
		if (modes & ACCOUNT_TRACES)
			trace_free(account, ACCOUNT_CALL_FREE, (uint64_t)addr,
				   ACCOUNT_CELL_SIZE(cell->block), caller->ra, caller->sp,
				   caller->fp);
		count_gone(account, (uint64_t)addr, cell, modes);
	}
	cell_clear(cell);
	return true;
}

/*
 * Handles the free of a block that is in no cell. Traces the free, unless only samples are
 * recorded. Reports the free if the block may be inherited from the parent process. Otherwise
 * counts it, unless only samples are recorded.
 */
static inline void count_other_free(void *addr, const struct caller *caller)
{
	struct account *account = gate.account;

	if (!account)
		return;
	if (traces(account) && !(modes_of(account) & ACCOUNT_SAMPLES) && open_account())
		trace_free(account, ACCOUNT_CALL_FREE, (uint64_t)addr, ACCOUNT_SIZE_UNKNOWN,
			   caller->ra, caller->sp, caller->fp);
	if (modes_of(account) & ACCOUNT_INHERITS)
		forks_freed_inherited(account, (uint64_t)addr);
	else if (self.account == account && !(modes_of(account) & ACCOUNT_SAMPLES))
		self.counts->earlier_frees++;
}

/*
 * True if a block of this size is not chosen as a sample; then counts the call. The caller can jump
 * to the allocator, as nothing needs to be recorded after the allocation.
 */
static ALWAYS_INLINE bool is_passed_over(size_t size, enum account_call call)
{
	const struct account *account = gate.account;

	if (!account || !unlikely(modes_of(account) & ACCOUNT_SAMPLES) || self.account != account ||
	    !samples_pass_over(size))
		return false;
	self.counts->calls[call]++;
	count_asked(modes_of(account), call, size);
	return true;
}

bool allocators_map(struct account *account, uint64_t caller)
{
	struct code own, of_caller;
	bool unsure;

	return modules_find(account, (uint64_t)next[MALLOC], &own, &unsure) &&
	       modules_find(account, caller, &of_caller, &unsure) && own.loaded_start &&
	       own.loaded_start == of_caller.loaded_start;
}

#define CALLER(ra, sp, fp) (&(struct caller){ra, sp, fp})

HIDDEN void *agent_malloc(size_t size, uint64_t ra, uint64_t sp, uint64_t fp)
{
	void *(*function)(size_t size) = (void *(*)(size_t))next_function(MALLOC);
	void *addr;

	if (unlikely(!function))
		return early_alloc(size);
	if (is_passed_over(size, ACCOUNT_CALL_MALLOC))
		return function(size);
	addr = function(size);
	note(addr, size, ACCOUNT_CALL_MALLOC, CALLER(ra, sp, fp));
	return addr;
}

HIDDEN void *agent_calloc(size_t cnt, size_t size, uint64_t ra, uint64_t sp, uint64_t fp)
{
	void *(*function)(size_t cnt, size_t size) =
		(void *(*)(size_t, size_t))next_function(CALLOC);
	size_t bytes;
	void *addr;

	if (unlikely(!function))
		return __builtin_mul_overflow(cnt, size, &bytes) ? NULL : early_alloc(bytes);
	if (is_passed_over(cnt * size, ACCOUNT_CALL_CALLOC))
		return function(cnt, size);
	addr = function(cnt, size);
	note(addr, cnt * size, ACCOUNT_CALL_CALLOC, CALLER(ra, sp, fp));
	return addr;
}

/* Stores a block again that was removed before a failed realloc(). */
static void put_back(uint64_t addr, struct account_cell cell)
{
	struct account *account = gate.account;

	if (!account || !cell.block)
		return;
	if (modes_of(account))
		count_put(account, addr, cell.block, modes_of(account));
	cells_put(account, addr, cell);
}

static struct account_cell take(uint64_t addr)
{
	struct account *account = addr ? gate.account : NULL;
	struct account_cell taken = {0}, *cell;
	uint32_t modes = account ? modes_of(account) : 0;

	if (!account || ((modes & ACCOUNT_FILTERS) && !samples_may_have(addr)))
		return taken;
	cell = cells_find(addr);
	if (!cell)
		return taken;
	taken = *cell;
	cell_clear(cell);
	if (modes)
		count_taken(account, addr, taken.block, modes);
	return taken;
}

/* Records the free of the old block, after a successful realloc(). */
static void count_moved(void *old, const struct account_cell *taken, enum account_call call,
			const struct caller *caller)
{
	struct account *account = old ? gate.account : NULL;
	uint32_t modes = account ? modes_of(account) : 0;

	if ((modes & ACCOUNT_TRACES) && (taken->block || !(modes & ACCOUNT_SAMPLES)) &&
	    open_account())
		trace_free(account, call, (uint64_t)old,
			   taken->block ? ACCOUNT_CELL_SIZE(taken->block) : ACCOUNT_SIZE_UNKNOWN,
			   caller->ra, caller->sp, caller->fp);
	if (taken->block && (modes & ACCOUNT_FORKED))
		forks_freed_shared(account, (uint64_t)old, taken);
	else if (!taken->block && (modes & ACCOUNT_INHERITS))
		forks_freed_inherited(account, (uint64_t)old);
}

static void *reallocate(void *old, size_t size, any_function *function, enum account_call call,
			const struct caller *caller)
{
	struct account_cell taken = take((uint64_t)old);
	void *addr = ((void *(*)(void *, size_t))function)(old, size);

	/* With size 0, realloc() may free the block and return NULL. */
	if (!addr && size) {
		put_back((uint64_t)old, taken);
		note(NULL, size, call, caller);
		return addr;
	}
	count_moved(old, &taken, call, caller);
	note_after(addr, size, call, caller, &taken);
	return addr;
}

static void *reallocate_any(void *old, size_t size, enum account_call call,
			    const struct caller *caller)
{
	any_function *function = next_function(REALLOC);
	void *addr;

	if (unlikely(!function || is_early(old))) {
		addr = function ? ((void *(*)(size_t))next[MALLOC])(size) : early_alloc(size);
		if (addr && old)
			memcpy(addr, old, size < early_left(old) ? size : early_left(old));
		return addr;
	}
	return reallocate(old, size, function, call, caller);
}

HIDDEN void *agent_realloc(void *old, size_t size, uint64_t ra, uint64_t sp, uint64_t fp)
{
	return reallocate_any(old, size, ACCOUNT_CALL_REALLOC, CALLER(ra, sp, fp));
}

/* Does the work of the C library's reallocarray() without calling it, and counts one call. */
HIDDEN void *agent_reallocarray(void *old, size_t cnt, size_t size, uint64_t ra, uint64_t sp,
				uint64_t fp)
{
	size_t bytes;

	if (__builtin_mul_overflow(cnt, size, &bytes)) {
		errno = ENOMEM;
		note(NULL, SIZE_MAX, ACCOUNT_CALL_REALLOCARRAY, CALLER(ra, sp, fp));
		return NULL;
	}
	return reallocate_any(old, bytes, ACCOUNT_CALL_REALLOCARRAY, CALLER(ra, sp, fp));
}

HIDDEN int agent_posix_memalign(void **ret, size_t align, size_t size, uint64_t ra, uint64_t sp,
				uint64_t fp)
{
	int (*function)(void **ret, size_t align, size_t size) =
		(int (*)(void **, size_t, size_t))next_function(POSIX_MEMALIGN);
	int err = function ? function(ret, align, size) : ENOMEM;

	note(err ? NULL : *ret, size, ACCOUNT_CALL_POSIX_MEMALIGN, CALLER(ra, sp, fp));
	return err;
}

static void *align(enum function which, size_t alignment, size_t size, const struct caller *caller)
{
	void *(*function)(size_t align, size_t size) =
		(void *(*)(size_t, size_t))next_function(which);
	void *addr = function ? function(alignment, size) : NULL;

	note(addr, size, ACCOUNT_CALL_ALIGNED, caller);
	return addr;
}

HIDDEN void *agent_aligned_alloc(size_t alignment, size_t size, uint64_t ra, uint64_t sp,
				 uint64_t fp)
{
	return align(ALIGNED_ALLOC, alignment, size, CALLER(ra, sp, fp));
}

HIDDEN void *agent_memalign(size_t alignment, size_t size, uint64_t ra, uint64_t sp, uint64_t fp)
{
	return align(MEMALIGN, alignment, size, CALLER(ra, sp, fp));
}

static void *pages(enum function which, size_t size, const struct caller *caller)
{
	void *(*function)(size_t size) = (void *(*)(size_t))next_function(which);
	void *addr = function ? function(size) : NULL;

	note(addr, size, ACCOUNT_CALL_ALIGNED, caller);
	return addr;
}

HIDDEN void *agent_valloc(size_t size, uint64_t ra, uint64_t sp, uint64_t fp)
{
	return pages(VALLOC, size, CALLER(ra, sp, fp));
}

HIDDEN void *agent_pvalloc(size_t size, uint64_t ra, uint64_t sp, uint64_t fp)
{
	return pages(PVALLOC, size, CALLER(ra, sp, fp));
}

static __attribute__((noinline)) void free_slowly(void *addr, uint64_t ra, uint64_t sp, uint64_t fp)
{
	void (*function)(void *addr) = (void (*)(void *))next_function(FREE);

	if (unlikely(!forget(addr, CALLER(ra, sp, fp)))) {
		if (!addr || is_early(addr) || !function)
			return;
		count_other_free(addr, CALLER(ra, sp, fp));
	}
	function(addr);
}

/*
 * Frees a block. The caller's stack is not needed if the block is in its home cell and no mode is
 * set, or if the filter shows that the block is not a sample.
 */
HIDDEN void agent_free(void *addr, uint64_t ra, uint64_t sp, uint64_t fp)
{
	void (*function)(void *addr) = (void (*)(void *))next[FREE];
	const struct account *account = gate.account;
	uint32_t modes = account ? modes_of(account) : 0;
	struct account_cell *cell = NULL;

	if (account && !modes)
		cell = cells_find_at_home((uint64_t)addr);
	else if (modes == (ACCOUNT_SAMPLES | ACCOUNT_FILTERS) && function && !is_early(addr) &&
		 !samples_may_have((uint64_t)addr))
		return function(addr);
	if (!cell)
		return free_slowly(addr, ra, sp, fp);
	cell_clear(cell);
	return function(addr);
}

static any_function *find_in_library(const char *path, enum function which)
{
	void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);

	return library ? (any_function *)dlsym(library, names[which]) : NULL;
}

/*
 * Finds an operator that dlsym(RTLD_NEXT) does not find, for example because a C program has loaded
 * a C++ library with dlopen(). Searches the C++ runtime libraries, then the caller's file.
 */
static any_function *find_operator(enum function which, uint64_t caller)
{
	static const char *const runtimes[] = {"libstdc++.so.6", "libc++abi.so.1", "libc++.so.1"};
	Dl_info of_caller;

	for (unsigned int i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]) && !next[which]; i++)
		next[which] = find_in_library(runtimes[i], which);
	if (!next[which] && dladdr((void *)caller, &of_caller))
		next[which] = find_in_library(of_caller.dli_fname, which);
	if (!next[which])
		__builtin_trap(); /* The operator was not found in any library. */
	return next[which];
}

static inline any_function *next_operator(enum function which, uint64_t caller)
{
	any_function *function = next_function(which);

	return unlikely(!function) ? find_operator(which, caller) : function;
}

/*
 * An operator new that calls malloc() is reached by a jump, so that no frame of the agent is on the
 * stack if it throws. An operator new that allocates memory itself is called; if it throws, nothing
 * is recorded.
 */
#define NEW_1(name, which)                                                                         \
	HIDDEN void *name(size_t size, uint64_t ra, uint64_t sp, uint64_t fp)                      \
	{                                                                                          \
		void *(*function)(size_t) = (void *(*)(size_t))next_operator(which, ra);           \
		void *addr;                                                                        \
                                                                                                   \
		if (!operators_allocate)                                                           \
			return function(size);                                                     \
		addr = function(size);                                                             \
		note(addr, size, ACCOUNT_CALL_NEW, CALLER(ra, sp, fp));                            \
		return addr;                                                                       \
	}

#define NEW_2(name, which)                                                                         \
	HIDDEN void *name(size_t size, uint64_t a, uint64_t ra, uint64_t sp, uint64_t fp)          \
	{                                                                                          \
		void *(*function)(size_t, uint64_t) =                                              \
			(void *(*)(size_t, uint64_t))next_operator(which, ra);                     \
		void *addr;                                                                        \
                                                                                                   \
		if (!operators_allocate)                                                           \
			return function(size, a);                                                  \
		addr = function(size, a);                                                          \
		note(addr, size, ACCOUNT_CALL_NEW, CALLER(ra, sp, fp));                            \
		return addr;                                                                       \
	}

#define NEW_3(name, which)                                                                         \
	HIDDEN void *name(size_t size, uint64_t a, uint64_t b, uint64_t ra, uint64_t sp,           \
			  uint64_t fp)                                                             \
	{                                                                                          \
		void *(*function)(size_t, uint64_t, uint64_t) =                                    \
			(void *(*)(size_t, uint64_t, uint64_t))next_operator(which, ra);           \
		void *addr;                                                                        \
                                                                                                   \
		if (!operators_allocate)                                                           \
			return function(size, a, b);                                               \
		addr = function(size, a, b);                                                       \
		note(addr, size, ACCOUNT_CALL_NEW, CALLER(ra, sp, fp));                            \
		return addr;                                                                       \
	}

/* Defines an operator delete. Passes on the arguments after the address, if any, in `a` and `b`. */
#define DELETE(name, which)                                                                        \
	HIDDEN void name(void *addr, uint64_t a, uint64_t b, uint64_t ra, uint64_t sp,             \
			 uint64_t fp)                                                              \
	{                                                                                          \
		void (*function)(void *, uint64_t, uint64_t) =                                     \
			(void (*)(void *, uint64_t, uint64_t))next_operator(which, ra);            \
                                                                                                   \
		if (operators_allocate && addr && !forget(addr, CALLER(ra, sp, fp)))               \
			count_other_free(addr, CALLER(ra, sp, fp));                                \
		function(addr, a, b);                                                              \
	}

NEW_1(agent_new, NEW)
NEW_1(agent_new_array, NEW_ARRAY)
NEW_2(agent_new_nothrow, NEW_NOTHROW)
NEW_2(agent_new_array_nothrow, NEW_ARRAY_NOTHROW)
NEW_2(agent_new_aligned, NEW_ALIGNED)
NEW_2(agent_new_array_aligned, NEW_ARRAY_ALIGNED)
NEW_3(agent_new_aligned_nothrow, NEW_ALIGNED_NOTHROW)
NEW_3(agent_new_array_aligned_nothrow, NEW_ARRAY_ALIGNED_NOTHROW)
DELETE(agent_delete_plain, DELETE_PLAIN)
DELETE(agent_delete_array, DELETE_ARRAY)
DELETE(agent_delete_sized, DELETE_SIZED)
DELETE(agent_delete_array_sized, DELETE_ARRAY_SIZED)
DELETE(agent_delete_aligned, DELETE_ALIGNED)
DELETE(agent_delete_array_aligned, DELETE_ARRAY_ALIGNED)
DELETE(agent_delete_sized_aligned, DELETE_SIZED_ALIGNED)
DELETE(agent_delete_array_sized_aligned, DELETE_ARRAY_SIZED_ALIGNED)
DELETE(agent_delete_nothrow, DELETE_NOTHROW)
DELETE(agent_delete_array_nothrow, DELETE_ARRAY_NOTHROW)
DELETE(agent_delete_aligned_nothrow, DELETE_ALIGNED_NOTHROW)
DELETE(agent_delete_array_aligned_nothrow, DELETE_ARRAY_ALIGNED_NOTHROW)
