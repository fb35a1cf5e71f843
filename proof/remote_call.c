// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Uses PTRACE_SYSCALL, which stops a thread at the entry and exit of each system call. Single steps
 * would raise SIGTRAP, which kills a process that ignores or blocks it.
 */
#include "proof/remote_call.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/proc.h"
#include "base/proc_maps.h"
#include "proof/arch.h"
#include "proof/stopped_threads.h"

/*
 * Numbers of PTRACE_GET_RSEQ_CONFIGURATION (since Linux 5.13) and
 * PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG (since Linux 6.4).
 */
#define GET_RSEQ 0x420f
#define GET_DISPATCH 0x4211

struct rseq_place {
	__u64 addr;
	__u32 size;
	__u32 signature;
	__u32 flags;
	__u32 reserved;
};

struct dispatch {
	__u64 mode; /* mode of Syscall User Dispatch: 0 if system calls go to the kernel as usual */
	__u64 selector;
	__u64 offset;
	__u64 len;
};

/*
 * RSEQ_CS_AT is the offset of the field rseq_cs in struct rseq. The field points to a struct
 * rseq_cs, declared here as struct rseq_sequence, which describes the restartable sequence that the
 * thread is in.
 */
#define RSEQ_CS_AT 8
struct rseq_sequence {
	__u32 version;
	__u32 flags;
	__u64 start;
	__u64 bytes;
	__u64 abort;
};

static bool read_there(pid_t pid, uint64_t addr, void *buf, size_t len)
{
	struct iovec to = {buf, len}, from = {(void *)(uintptr_t)addr, len};

	return process_vm_readv(pid, &to, 1, &from, 1, 0) == (ssize_t)len;
}

static uint64_t find_call(pid_t pid, const struct mapping *mapping)
{
	size_t len = (size_t)(mapping->end - mapping->start);
	cleanup_free unsigned char *code = malloc(len);
	const unsigned char *found;

	if (!code || !read_there(pid, mapping->start, code, len))
		return 0;
	found = memmem(code, len, registers_call_code, registers_call_bytes);
	return found ? mapping->start + (uint64_t)(found - code) : 0;
}

/*
 * Maximum size of a mapping that is searched for a system call instruction. Mappings are searched
 * only if the process has no vDSO, which is rare.
 */
#define CODE_BYTES_MAX (16 << 20)

int remote_call_place(pid_t pid, uint64_t *ret)
{
	struct proc_maps maps;
	uint64_t at = 0;
	int err;

	*ret = 0;
	pid = proc_living_thread(pid);
	err = proc_maps_read(pid, &maps);
	if (err)
		return err == -EAGAIN ? err : 0;
	for_each_mapping (mapping, &maps)
		if (!strcmp(mapping->path, "[vdso]"))
			at = find_call(pid, mapping);
	for_each_mapping (mapping, &maps)
		if (!at && mapping->executable && mapping->readable && !mapping->shared &&
		    strcmp(mapping->path, "[vsyscall]") &&
		    mapping->end - mapping->start <= CODE_BYTES_MAX)
			at = find_call(pid, mapping);
	proc_maps_deinit(&maps);
	*ret = at;
	return 0;
}

uint64_t remote_call_sequences(pid_t tid)
{
	struct rseq_place place;

	if (ptrace(GET_RSEQ, tid, (void *)sizeof(place), &place) < 0)
		return MEMLEAK_SEQUENCES_UNKNOWN;
	return place.addr;
}

/*
 * True if the thread is in a restartable sequence. A thread in a sequence must not make remote
 * calls: it would afterwards continue at the same address, so the kernel would not notice that the
 * sequence was interrupted and must be aborted. Threads in system calls are never in a sequence.
 */
static bool is_in_sequence(pid_t tid, const __u64 *registers, uint64_t sequences)
{
	uint64_t at = 0;
	struct rseq_sequence sequence;

	if (registers_call(registers) >= 0 || !sequences)
		return false;
	if (sequences == MEMLEAK_SEQUENCES_UNKNOWN ||
	    !read_there(tid, sequences + RSEQ_CS_AT, &at, sizeof(at)))
		return true;
	if (!at)
		return false;
	return !read_there(tid, at, &sequence, sizeof(sequence)) ||
	       registers_pc(registers) - sequence.start < sequence.bytes;
}

static bool dispatches_calls(pid_t tid)
{
	struct dispatch dispatch = {0};

	return ptrace(GET_DISPATCH, tid, (void *)sizeof(dispatch), &dispatch) >= 0 && dispatch.mode;
}

/* True if the thread has a seccomp filter, which may kill it for an unexpected call. */
static bool filters_calls(pid_t tid)
{
	cleanup_free char *status = NULL;

	return proc_read(tid, "status", &status) || proc_status_number(status, "Seccomp") != 0;
}

static int get_registers(pid_t tid, __u64 *ret, size_t *ret_bytes)
{
	struct iovec iov = {ret, MEMLEAK_REGISTER_WORDS * sizeof(*ret)};

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &iov))
		return -errno;
	*ret_bytes = iov.iov_len;
	return 0;
}

static int set_registers(pid_t tid, __u64 *registers, size_t bytes)
{
	struct iovec iov = {registers, bytes};

	return ptrace(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &iov) ? -errno : 0;
}

static int set_signal_mask(pid_t tid, uint64_t mask)
{
	return ptrace(PTRACE_SETSIGMASK, tid, (void *)sizeof(mask), &mask) ? -errno : 0;
}

int remote_caller_begin(struct remote_caller *caller, pid_t tid, uint64_t at, uint64_t sequences,
			bool is_ours)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
			     (is_ours ? PTRACE_O_EXITKILL : 0);
	int err;

	*caller = (struct remote_caller){.tid = tid, .at = at};
	err = get_registers(tid, caller->registers, &caller->register_bytes);
	if (err)
		return err;
	if (!registers_may_call(caller->registers) ||
	    is_in_sequence(tid, caller->registers, sequences) || dispatches_calls(tid) ||
	    filters_calls(tid))
		return -EAGAIN;
	if (ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof(caller->signal_mask),
		   &caller->signal_mask))
		return -errno;
	if (ptrace(PTRACE_SETOPTIONS, tid, NULL, (void *)options))
		return -errno;
	err = set_signal_mask(tid, UINT64_MAX);
	if (err && !is_ours)
		ptrace(PTRACE_SETOPTIONS, tid, NULL, NULL);
	return err;
}

enum stop { STOP_CALL, STOP_BIRTH, STOP_SIGNAL, STOP_OTHER };

static enum stop stop_of(int status)
{
	switch ((unsigned int)status >> 16) {
	case PTRACE_EVENT_CLONE:
	case PTRACE_EVENT_FORK:
		return STOP_BIRTH;
	case 0:
		return WSTOPSIG(status) == (SIGTRAP | 0x80) ? STOP_CALL : STOP_SIGNAL;
	default:
		return STOP_OTHER;
	}
}

/*
 * Returns the signal to pass on to the thread, or 0. Only SIGSTOP is passed on, because it cannot
 * be blocked. All other signals that arrive here are faults caused by the remote call itself.
 */
static int signal_to_pass(int status)
{
	return WSTOPSIG(status) == SIGSTOP ? SIGSTOP : 0;
}

/*
 * Resumes the thread until the next entry or exit of a system call. *ret_child: set to the pid of a
 * process that the thread creates meanwhile. If SIGSTOP stops the process meanwhile, the thread
 * still runs to the entry or exit. Returns 0, -EFAULT if the remote call caused a fault, or another
 * negative errno.
 */
static int run_to_call(struct remote_caller *caller, pid_t *ret_child)
{
	int sig = 0;

	for (;;) {
		unsigned long child;
		int status;

		if (ptrace(PTRACE_SYSCALL, caller->tid, NULL, (void *)(long)sig))
			return -errno;
		status = stopped_thread_next_stop(caller->tid, UINT64_MAX);
		if (status < 0)
			return status;
		sig = 0;
		switch (stop_of(status)) {
		case STOP_CALL:
			return 0;
		case STOP_BIRTH:
			if (!ptrace(PTRACE_GETEVENTMSG, caller->tid, NULL, &child))
				*ret_child = (pid_t)child;
			break;
		case STOP_SIGNAL:
			sig = signal_to_pass(status);
			if (!sig)
				return -EFAULT;
			break;
		case STOP_OTHER:
			break;
		}
	}
}

static int begin_call(struct remote_caller *caller, long number, const uint64_t arguments[6])
{
	__u64 registers[MEMLEAK_REGISTER_WORDS];

	memcpy(registers, caller->registers, sizeof(registers));
	registers_set_call(registers, caller->at, number, arguments);
	return set_registers(caller->tid, registers, caller->register_bytes);
}

int remote_call(struct remote_caller *caller, long number, const uint64_t arguments[6], long *ret,
		pid_t *ret_child)
{
	__u64 registers[MEMLEAK_REGISTER_WORDS];
	size_t bytes;
	int err = begin_call(caller, number, arguments);

	*ret_child = 0;
	if (!err)
		err = run_to_call(caller, ret_child);
	if (!err)
		err = run_to_call(caller, ret_child);
	caller->in_call = !err;
	if (!err)
		err = get_registers(caller->tid, registers, &bytes);
	if (!err)
		*ret = registers_result(registers);
	return err;
}

int remote_call_last(struct remote_caller *caller, long number)
{
	static const uint64_t none[6];
	int err = begin_call(caller, number, none);

	if (!err && ptrace(PTRACE_CONT, caller->tid, NULL, NULL))
		err = -errno;
	while (!err) {
		int status = stopped_thread_next_stop(caller->tid, UINT64_MAX);

		if (status == -ECHILD)
			return 0;
		err = status < 0                                     ? status
		      : ptrace(PTRACE_CONT, caller->tid, NULL, NULL) ? -errno
								     : 0;
	}
	return err;
}

/*
 * Moves the thread from its stop at the exit of a remote call to a second stop, in the kernel's
 * handling of signals, before the thread runs any code. If the thread resumed from the first stop,
 * the kernel would not restart the system call that was interrupted when memleak stopped the
 * thread.
 */
static int stop_again(struct remote_caller *caller)
{
	int sig = 0;

	for (;;) {
		int status;

		if (ptrace(PTRACE_INTERRUPT, caller->tid, NULL, NULL) ||
		    ptrace(PTRACE_CONT, caller->tid, NULL, (void *)(long)sig))
			return -errno;
		status = stopped_thread_next_stop(caller->tid, UINT64_MAX);
		if (status < 0)
			return status;
		if ((unsigned int)status >> 16 == PTRACE_EVENT_STOP)
			return 0;
		sig = stop_of(status) == STOP_SIGNAL ? signal_to_pass(status) : 0;
	}
}

int remote_caller_end(struct remote_caller *caller)
{
	int err = caller->in_call ? stop_again(caller) : 0;

	if (!err)
		err = set_registers(caller->tid, caller->registers, caller->register_bytes);
	if (!err)
		err = set_signal_mask(caller->tid, caller->signal_mask);
	if (!err && ptrace(PTRACE_SETOPTIONS, caller->tid, NULL, NULL))
		err = -errno;
	return err;
}
