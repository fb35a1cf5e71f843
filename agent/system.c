// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory, clock and other services of the kernel. */
#include "agent/system.h"

#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>

void *system_map(uint64_t bytes)
{
	long addr = system_call(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return system_error(addr) ? NULL : (void *)addr;
}

void system_unmap(void *addr, uint64_t bytes)
{
	system_call(SYS_munmap, (long)addr, (long)bytes, 0, 0, 0, 0);
}

/*
 * Passes the word at addr as a signal set to rt_sigprocmask(), with an invalid operation: the
 * kernel reads the set before it rejects the operation.
 */
bool system_is_readable(uint64_t addr)
{
	long err = system_call(SYS_rt_sigprocmask, -1, (long)(addr & ~7ULL), 0, 8, 0, 0);

	return err == -22; /* EINVAL means readable, EFAULT not readable */
}

uint32_t system_tid(void)
{
	return (uint32_t)system_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

bool system_on_signal_stack(void)
{
	stack_t stack = {0};

	return !system_call(SYS_sigaltstack, 0, (long)&stack, 0, 0, 0, 0) &&
	       (stack.ss_flags & SS_ONSTACK);
}

int (*system_clock)(clockid_t clock, struct timespec *ret) = clock_gettime;

void system_find_clock(void)
{
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *found = vdso ? dlsym(vdso, "__vdso_clock_gettime") : NULL;

	if (found)
		system_clock = (int (*)(clockid_t, struct timespec *))found;
}

uint64_t system_ns(void)
{
	struct timespec now;

	system_clock(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}
