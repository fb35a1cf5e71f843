// SPDX-License-Identifier: GPL-2.0-or-later
/* Registers, breakpoints and ELF machine number of each architecture. */
#include "loader/target/arch.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#if defined(__x86_64__)

const uint16_t arch_elf_machine = EM_X86_64;
const uint64_t arch_breakpoint = 0xcc; /* int3 */
const uint64_t arch_breakpoint_mask = 0xff;
const uint64_t arch_breakpoint_advance = 1;
#define PC_OF(regs) ((regs).rip)

#elif defined(__aarch64__)

const uint16_t arch_elf_machine = EM_AARCH64;
const uint64_t arch_breakpoint = 0xd4200000; /* brk #0 */
const uint64_t arch_breakpoint_mask = 0xffffffff;
const uint64_t arch_breakpoint_advance = 0;
#define PC_OF(regs) ((regs).pc)

#else
#error "memleak knows x86-64 and aarch64"
#endif

int arch_get_pc(pid_t tid, uint64_t *ret)
{
	struct user_regs_struct regs;
	struct iovec iov = {&regs, sizeof(regs)};

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &iov))
		return -errno;
	*ret = PC_OF(regs);
	return 0;
}

int arch_set_pc(pid_t tid, uint64_t pc)
{
	struct user_regs_struct regs;
	struct iovec iov = {&regs, sizeof(regs)};

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &iov))
		return -errno;
	PC_OF(regs) = pc;
	return ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &iov) ? -errno : 0;
}

#ifdef __x86_64__
/*
 * Sets debug register 0 to addr, so that the thread traps when it reaches the instruction there.
 */
int arch_trap_before(pid_t tid, uint64_t addr)
{
	size_t registers = offsetof(struct user, u_debugreg);

	if (ptrace(PTRACE_POKEUSER, tid, (void *)registers, (void *)addr) ||
	    ptrace(PTRACE_POKEUSER, tid, (void *)(registers + 7 * sizeof(uint64_t)),
		   (void *)(uintptr_t)(addr != 0)))
		return -errno;
	return 0;
}

/* Reads debug register 6, the status of the traps. */
bool arch_trapped_before(pid_t tid)
{
	size_t status = offsetof(struct user, u_debugreg) + 6 * sizeof(uint64_t);
	long value;

	errno = 0;
	value = ptrace(PTRACE_PEEKUSER, tid, (void *)status, NULL);
	return !errno && value & 1;
}
#else
int arch_trap_before(pid_t tid, uint64_t addr)
{
	return -ENOTSUP;
}

bool arch_trapped_before(pid_t tid)
{
	return false;
}
#endif
