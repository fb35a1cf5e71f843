// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records mmap(), munmap() and mremap() as ordered events, from which memleak computes which parts
 * of mappings remain. munmap() is recorded before the system call: afterwards another thread may
 * get the range.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "agent/allocators.h"
#include "agent/events.h"
#include "agent/samples.h"
#include "agent/stacks.h"
#include "agent/system.h"
#include "agent/trace.h"

#define EXPORT __attribute__((visibility("default")))
#define HIDDEN __attribute__((visibility("hidden"), used))

/* Returns the account, NULL if there is none or if the caller is the allocator. */
static struct account *open_account(uint64_t caller)
{
	struct account *account = gate.account;

	if (!account)
		account = agent_begin() ? gate.account : NULL;
	if (account && self.account != account && !thread_begin(account))
		return NULL;
	return account && !allocators_map(account, caller) ? account : NULL;
}

static void add_event(struct account *account, struct account_event event)
{
	event.time_ns = system_ns();
	events_add(account, &event, ACCOUNT_LOST_MAPPINGS);
}

static void add_range_event(struct account *account, enum account_event_type type, uint64_t addr,
			    uint64_t len, uint32_t flags)
{
	if (account)
		add_event(account, (struct account_event){
					   .type = type, .addr = addr, .len = len, .flags = flags});
}

/* Makes a system call, and sets errno on failure, while the wrapper's address is not known. */
static long call_system(long number, long a, long b, long c, long d, long e, long f)
{
	long ret = system_call(number, a, b, c, d, e, f);

	if (!system_error(ret))
		return ret;
	errno = (int)-ret;
	return -1;
}

/* Calls the C library's mmap(), or the kernel if the address of mmap() is not known yet. */
static void *map(void *addr, size_t len, int prot, int flags, int fd, long offset)
{
	void *(*function)(void *, size_t, int, int, int, long) =
		(void *(*)(void *, size_t, int, int, int, long))allocators_other(OTHER_MMAP);

	if (!function)
		return (void *)call_system(SYS_mmap, (long)addr, (long)len, prot, flags, fd,
					   offset);
	return function(addr, len, prot, flags, fd, offset);
}

/*
 * True if the mapping is to be recorded. Mappings of files and of shared memory are not recorded,
 * as they cannot leak. If only samples are recorded, draws a sample and sets *ret to
 * ACCOUNT_MAP_SAMPLE, else to 0.
 */
static bool is_kept(const struct account *account, size_t len, int flags, uint32_t *ret)
{
	bool samples = __atomic_load_n(&account->modes, __ATOMIC_ACQUIRE) & ACCOUNT_SAMPLES;

	*ret = samples ? ACCOUNT_MAP_SAMPLE : 0;
	return (flags & MAP_PRIVATE) && (flags & MAP_ANONYMOUS) &&
	       (!samples || samples_choose(account, len));
}

HIDDEN void *agent_mmap(void *addr, size_t len, int prot, int flags, int fd, long offset,
			uint64_t ra, uint64_t sp, uint64_t fp)
{
	void *ret = map(addr, len, prot, flags, fd, offset);
	struct account *account = open_account(ra);
	struct account_event event = {.addr = (uint64_t)ret, .len = len};
	const struct caller caller = {ra, sp, fp};

	if (flags & MAP_FIXED)
		scripts_unmapped();
	if (!account || ret == MAP_FAILED)
		return ret;
	self.counts->calls[ACCOUNT_CALL_MAP]++;
	if (is_kept(account, len, flags, &event.flags)) {
		event.type = ACCOUNT_EVENT_MAP;
		event.stack = stacks_find(account, &caller);
		event.flags |= (prot == PROT_NONE ? ACCOUNT_MAP_NO_ACCESS : 0) |
			       (flags & MAP_STACK ? ACCOUNT_MAP_STACK : 0);
		add_event(account, event);
		if (traces(account))
			trace_alloc(account, ACCOUNT_CALL_MAP, (uint64_t)ret, len, event.stack);
	} else if (flags & MAP_FIXED) {
		event.type = ACCOUNT_EVENT_TAKE;
		event.flags = 0;
		add_event(account, event);
	}
	return ret;
}

HIDDEN int agent_munmap(void *addr, size_t len, uint64_t ra, uint64_t sp, uint64_t fp)
{
	int (*function)(void *, size_t) = (int (*)(void *, size_t))allocators_other(OTHER_MUNMAP);
	struct account *account = open_account(ra);
	int err;

	if (account)
		self.counts->calls[ACCOUNT_CALL_UNMAP]++;
	add_range_event(account, ACCOUNT_EVENT_TAKE, (uint64_t)addr, len, 0);
	err = function ? function(addr, len)
		       : (int)call_system(SYS_munmap, (long)addr, (long)len, 0, 0, 0, 0);
	scripts_unmapped();
	add_range_event(account, err ? ACCOUNT_EVENT_UNTAKE : ACCOUNT_EVENT_GONE, 0, 0, 0);
	if (account && !err && traces(account))
		trace_free(account, ACCOUNT_CALL_UNMAP, (uint64_t)addr, len, ra, sp, fp);
	return err;
}

/*
 * Always passes on `wanted`, the new address, which the caller may not have passed, as mremap() is
 * variadic; the kernel uses it only with MREMAP_FIXED or MREMAP_DONTUNMAP. `none` fills the unused
 * sixth argument register.
 */
HIDDEN void *agent_mremap(void *old, size_t old_len, size_t len, int flags, void *wanted,
			  uint64_t none, uint64_t ra, uint64_t sp, uint64_t fp)
{
	void *(*function)(void *, size_t, size_t, int, ...) =
		(void *(*)(void *, size_t, size_t, int, ...))allocators_other(OTHER_MREMAP);
	struct account *account = open_account(ra);
	const struct caller caller = {ra, sp, fp};
	void *ret;

	if (account)
		self.counts->calls[ACCOUNT_CALL_REMAP]++;
	add_range_event(account, ACCOUNT_EVENT_TAKE, (uint64_t)old, old_len,
			flags & MREMAP_DONTUNMAP ? 1 : 0);
	ret = function ? function(old, old_len, len, flags, wanted)
		       : (void *)call_system(SYS_mremap, (long)old, (long)old_len, (long)len, flags,
					     (long)wanted, 0);
	scripts_unmapped();
	if (ret == MAP_FAILED)
		add_range_event(account, ACCOUNT_EVENT_UNTAKE, 0, 0, 0);
	else
		add_range_event(account, ACCOUNT_EVENT_MOVE, (uint64_t)ret, len, 0);
	if (account && ret != MAP_FAILED && traces(account)) {
		trace_free(account, ACCOUNT_CALL_REMAP, (uint64_t)old, old_len, ra, sp, fp);
		trace_alloc(account, ACCOUNT_CALL_REMAP, (uint64_t)ret, len,
			    stacks_find(account, &caller));
	}
	return ret;
}

/*
 * Discards remembered stacks and cached unwind rules before dlclose(), which may unmap code, and
 * again afterwards, as other threads may have cached rules of that code in the meantime.
 */
EXPORT int dlclose(void *library)
{
	int (*function)(void *) = (int (*)(void *))allocators_other(OTHER_DLCLOSE);
	int err;

	stacks_forget();
	err = function ? function(library) : -1;
	stacks_forget();
	return err;
}

/*
 * Adds MCL_ONFAULT (lock pages on first use): otherwise the kernel would allocate all pages of the
 * sparse account.
 */
EXPORT int mlockall(int flags)
{
	int (*function)(int) = (int (*)(int))allocators_other(OTHER_MLOCKALL);

	return function ? function(flags | MCL_ONFAULT)
			: (int)call_system(SYS_mlockall, flags | MCL_ONFAULT, 0, 0, 0, 0, 0);
}
