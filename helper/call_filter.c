// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists the system calls that helpers may make, and makes filters of the lists. */
#include "helper/call_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * System calls allowed with any arguments: for memory, time and open files. Calls that are not
 * allowed fail with EPERM, so that a library that tries to open a file goes on without it.
 */
static const int allowed_calls[] = {
	SCMP_SYS(read),
	SCMP_SYS(pread64),
	SCMP_SYS(readv),
	SCMP_SYS(write),
	SCMP_SYS(writev),
	SCMP_SYS(recvmsg),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(lseek),
	SCMP_SYS(fstat),
	SCMP_SYS(close),
	SCMP_SYS(dup),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	SCMP_SYS(brk),
	SCMP_SYS(futex),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(nanosleep),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(getrandom),
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	SCMP_SYS(getppid),
	SCMP_SYS(sched_yield),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sigaltstack),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(getrlimit),
	SCMP_SYS(sysinfo),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
};

/* A system call that is allowed if some bits of its arguments have given values. */
struct rule {
	int call;
	struct {
		unsigned int index;
		uint64_t mask; /* bits to compare with `value`; 0 to allow any argument */
		uint64_t value;
	} args[2];
};

static const struct rule allowed_arguments[] = {
	/* Refuse MSG_FASTOPEN, which would connect the socket. */
	{SCMP_SYS(sendmsg), {{2, MSG_FASTOPEN, 0}}},
	/*
	 * Allow newfstatat() with AT_EMPTY_PATH, which the C library uses for fstat(). Even with a
	 * path, this call could only show whether a file exists.
	 */
	{SCMP_SYS(newfstatat), {{3, UINT64_MAX, AT_EMPTY_PATH}}},
	/*
	 * Allow only these fcntl() commands: other commands can cause signals, or lock files that
	 * other processes use. The flags of F_SETFL also apply to all other processes that share
	 * the open file.
	 */
	{SCMP_SYS(fcntl), {{1, UINT32_MAX, F_DUPFD_CLOEXEC}}},
	{SCMP_SYS(fcntl), {{1, UINT32_MAX, F_GETFD}}},
	{SCMP_SYS(fcntl), {{1, UINT32_MAX, F_SETFD}}},
	{SCMP_SYS(fcntl), {{1, UINT32_MAX, F_GETFL}}},
	{SCMP_SYS(fcntl),
	 {{1, UINT32_MAX, F_SETFL}, {2, O_ASYNC | O_APPEND | O_DIRECT | O_NOATIME, 0}}},
};

/* Rules for memory in a process that neither loads libraries nor starts threads. */
static const struct rule memory_arguments[] = {
	/*
	 * Allow neither executable memory nor hugetlbfs pages, and no memory that RLIMIT_DATA does
	 * not count: shared memory, stacks, memory that was written and then made read-only, and
	 * locked pages of files (under systemd, the limit on locked memory is often infinite).
	 */
	{SCMP_SYS(mmap),
	 {{2, PROT_EXEC, 0},
	  {3, MAP_TYPE | MAP_GROWSDOWN | MAP_HUGETLB | MAP_LOCKED, MAP_PRIVATE}}},
	{SCMP_SYS(mprotect), {{2, PROT_WRITE | PROT_EXEC, PROT_WRITE}}},
};

/*
 * System calls for a helper that accepts connections. None of them creates or connects other
 * sockets.
 */
static const int serving_calls[] = {
	SCMP_SYS(accept),     SCMP_SYS(accept4),     SCMP_SYS(epoll_create1),
	SCMP_SYS(epoll_ctl),  SCMP_SYS(epoll_wait),  SCMP_SYS(epoll_pwait),
	SCMP_SYS(eventfd2),   SCMP_SYS(getpeername), SCMP_SYS(getsockname),
	SCMP_SYS(getsockopt), SCMP_SYS(recvfrom),    SCMP_SYS(uname),
};

static const struct rule serving_arguments[] = {
	/*
	 * Allow only the end of sending, which a listening socket ignores. The end of receiving
	 * would stop the listening for good, for later helpers as well.
	 */
	{SCMP_SYS(shutdown), {{1, UINT32_MAX, SHUT_WR}}},
	{SCMP_SYS(setsockopt), {{1, UINT32_MAX, IPPROTO_TCP}, {2, UINT32_MAX, TCP_NODELAY}}},
	{SCMP_SYS(setsockopt), {{1, UINT32_MAX, IPPROTO_TCP}, {2, UINT32_MAX, TCP_CORK}}},
	/* Allow sendto() only without an address: it then reaches only the connected client. */
	{SCMP_SYS(sendto), {{3, MSG_FASTOPEN, 0}, {4, UINT64_MAX, 0}}},
};

/*
 * System calls for a helper that downloads files, with threads and libraries of its own choice.
 * None of them reaches another process, except through sockets and files.
 */
static const int download_calls[] = {
	SCMP_SYS(alarm),       SCMP_SYS(access),
	SCMP_SYS(bind),        SCMP_SYS(chdir),
	SCMP_SYS(chmod),       SCMP_SYS(clock_getres),
	SCMP_SYS(connect),     SCMP_SYS(dup2),
	SCMP_SYS(dup3),        SCMP_SYS(epoll_create1),
	SCMP_SYS(epoll_ctl),   SCMP_SYS(epoll_pwait),
	SCMP_SYS(epoll_wait),  SCMP_SYS(eventfd2),
	SCMP_SYS(faccessat),   SCMP_SYS(faccessat2),
	SCMP_SYS(fadvise64),   SCMP_SYS(fallocate),
	SCMP_SYS(fchdir),      SCMP_SYS(fchmod),
	SCMP_SYS(fchmodat),    SCMP_SYS(fdatasync),
	SCMP_SYS(flock),       SCMP_SYS(fstatfs),
	SCMP_SYS(fsync),       SCMP_SYS(ftruncate),
	SCMP_SYS(getcwd),      SCMP_SYS(getdents64),
	SCMP_SYS(getegid),     SCMP_SYS(geteuid),
	SCMP_SYS(getgid),      SCMP_SYS(getgroups),
	SCMP_SYS(getpeername), SCMP_SYS(getpgrp),
	SCMP_SYS(getresgid),   SCMP_SYS(getresuid),
	SCMP_SYS(getrusage),   SCMP_SYS(getsockname),
	SCMP_SYS(getsockopt),  SCMP_SYS(getuid),
	SCMP_SYS(lstat),       SCMP_SYS(mkdir),
	SCMP_SYS(mkdirat),     SCMP_SYS(mmap),
	SCMP_SYS(mprotect),    SCMP_SYS(newfstatat),
	SCMP_SYS(open),        SCMP_SYS(openat),
	SCMP_SYS(pipe),        SCMP_SYS(pipe2),
	SCMP_SYS(pselect6),    SCMP_SYS(pwrite64),
	SCMP_SYS(readlink),    SCMP_SYS(readlinkat),
	SCMP_SYS(recvfrom),    SCMP_SYS(recvmmsg),
	SCMP_SYS(rename),      SCMP_SYS(renameat),
	SCMP_SYS(renameat2),   SCMP_SYS(rmdir),
	SCMP_SYS(rseq),        SCMP_SYS(sched_getaffinity),
	SCMP_SYS(select),      SCMP_SYS(sendmmsg),
	SCMP_SYS(sendto),      SCMP_SYS(set_robust_list),
	SCMP_SYS(setitimer),   SCMP_SYS(setsockopt),
	SCMP_SYS(shutdown),    SCMP_SYS(stat),
	SCMP_SYS(statfs),      SCMP_SYS(statx),
	SCMP_SYS(times),       SCMP_SYS(umask),
	SCMP_SYS(uname),       SCMP_SYS(unlink),
	SCMP_SYS(unlinkat),    SCMP_SYS(utime),
	SCMP_SYS(utimensat),   SCMP_SYS(utimes),
};

/* Bits of a socket's type that are not flags, such as SOCK_CLOEXEC. */
#define SOCKET_TYPE 0xf

/*
 * Allows no UNIX socket that could connect to services of the user, such as D-Bus, which start
 * programs. Resolvers that use such a service, such as nscd, fall back to files and DNS.
 */
static const struct rule download_arguments[] = {
	{SCMP_SYS(socket), {{0, UINT32_MAX, AF_INET}}},
	{SCMP_SYS(socket), {{0, UINT32_MAX, AF_INET6}}},
	/* getaddrinfo() lists the addresses of this machine. */
	{SCMP_SYS(socket), {{0, UINT32_MAX, AF_NETLINK}, {2, UINT32_MAX, NETLINK_ROUTE}}},
	/* libcurl wakes threads by pairs of stream sockets. Such sockets cannot connect again. */
	{SCMP_SYS(socketpair), {{0, UINT32_MAX, AF_UNIX}, {1, SOCKET_TYPE, SOCK_STREAM}}},
	{SCMP_SYS(clone), {{0, CLONE_THREAD, CLONE_THREAD}}},
	{SCMP_SYS(prctl), {{0, UINT32_MAX, PR_SET_NAME}}},
	{SCMP_SYS(prlimit64), {{0, UINT32_MAX, 0}, {2, UINT64_MAX, 0}}},
	{SCMP_SYS(ioctl), {{1, UINT32_MAX, FIONREAD}}},
	{SCMP_SYS(ioctl), {{1, UINT32_MAX, FIONBIO}}},
	{SCMP_SYS(ioctl), {{1, UINT32_MAX, TCGETS}}},
	{SCMP_SYS(fcntl), {{1, UINT32_MAX, F_DUPFD}}},
	{SCMP_SYS(fcntl), {{1, UINT32_MAX, F_SETLK}}},
	{SCMP_SYS(fcntl), {{1, UINT32_MAX, F_SETLKW}}},
};

static int add_rule(scmp_filter_ctx filter, const struct rule *rule)
{
	struct scmp_arg_cmp args[2];
	unsigned int cnt = 0;

	for (; cnt < 2 && rule->args[cnt].mask; cnt++)
		args[cnt] = SCMP_CMP(rule->args[cnt].index, SCMP_CMP_MASKED_EQ,
				     rule->args[cnt].mask, rule->args[cnt].value);
	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, rule->call, cnt, args);
}

static int add_calls(scmp_filter_ctx filter, const int *calls, size_t cnt)
{
	int err = 0;

	for (size_t i = 0; !err && i < cnt; i++)
		if (calls[i] >= 0) /* negative: this architecture lacks the call */
			err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	return err;
}

static int add_arguments(scmp_filter_ctx filter, const struct rule *rules, size_t cnt)
{
	int err = 0;

	for (size_t i = 0; !err && i < cnt; i++)
		err = add_rule(filter, &rules[i]);
	return err;
}

#define ADD_CALLS(filter, calls) add_calls(filter, calls, sizeof(calls) / sizeof(*(calls)))
#define ADD_RULES(filter, rules) add_arguments(filter, rules, sizeof(rules) / sizeof(*(rules)))

static int add_download(scmp_filter_ctx filter)
{
	int err = ADD_CALLS(filter, download_calls) ?: ADD_RULES(filter, download_arguments);

	/* The C library then calls clone(), whose flags the filter can read. */
	return err ?: seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

static int add_rules(scmp_filter_ctx filter, enum call_filter wanted)
{
	/* Allow abort(), which sends a signal to its own process. */
	const struct rule own_signals = {SCMP_SYS(tgkill), {{0, UINT32_MAX, (uint64_t)getpid()}}};
	int err = add_rule(filter, &own_signals) ?: ADD_CALLS(filter, allowed_calls)
							   ?: ADD_RULES(filter, allowed_arguments);

	if (err)
		return err;
	if (wanted == CALLS_TO_DOWNLOAD)
		return add_download(filter);
	err = ADD_RULES(filter, memory_arguments);
	if (!err && wanted == CALLS_TO_SERVE)
		err = ADD_CALLS(filter, serving_calls) ?: ADD_RULES(filter, serving_arguments);
	return err;
}

int call_filter_enter(enum call_filter wanted)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int err = filter ? add_rules(filter, wanted) : -ENOMEM;

	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err;
}
