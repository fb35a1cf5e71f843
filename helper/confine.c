// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Confines a process by several layers: no capabilities (capabilities(7)), its own user and
 * namespaces, a Landlock domain that allows nothing (landlock(7)), and a system call filter
 * (seccomp(2)). Only two layers are required: the loss of all capabilities, and the system call
 * filter. The other layers are skipped if the kernel or a container does not permit them.
 */
#include "helper/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/securebits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/capabilities.h"

/*
 * Limit, in bytes, on private memory and on the size of files: hostile input may request any
 * amount, for example by the stated size of a compressed section.
 */
#define MEMORY_BYTES (1UL << 30)
/*
 * First of 2^22 user ids for helpers. Each helper uses its own (this id plus its pid), so that
 * helpers cannot signal each other.
 */
#define FIRST_USER 0x6d000000U

static void set_limit(int resource, rlim_t value)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return;
	if (limit.rlim_max > value)
		limit.rlim_max = value;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	setrlimit(resource, &limit);
}

/* Sets resource limits, and makes the OOM killer choose the helper before other processes. */
static void limit_resources(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		ssize_t ignored = write(fd, "1000", 4);

		(void)ignored;
		close(fd);
	}
	set_limit(RLIMIT_CORE, 0);
	/* The user's limit (ulimit -f) may be too low for memfds, the only files of helpers. */
	if (setrlimit(RLIMIT_FSIZE, &(struct rlimit){MEMORY_BYTES, MEMORY_BYTES}))
		set_limit(RLIMIT_FSIZE, MEMORY_BYTES);
	if (HELPER_SANITIZED)
		return;
	set_limit(RLIMIT_NPROC, 0);
	set_limit(RLIMIT_DATA, MEMORY_BYTES);
}

#define OTHER_NAMESPACES (CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS)

/*
 * Enters empty namespaces (network, mounts etc.), and changes the root to a folder in /proc that
 * only lists open files and cannot be written to. If the process lacks the capabilities for this,
 * tries to do it in a new user namespace.
 */
static void leave_namespaces(void)
{
	int err = unshare(OTHER_NAMESPACES);

	if (err && !HELPER_SANITIZED)
		err = unshare(CLONE_NEWUSER | OTHER_NAMESPACES);
	if (!HELPER_SANITIZED && !chroot("/proc/self/fdinfo"))
		err |= chdir("/");
	(void)err;
}

static int keep_effective(void)
{
	struct capability_sets sets;
	int err = capabilities_read(&sets);

	return err ? err : capabilities_set(sets.permitted, sets.permitted);
}

/*
 * Changes to the helper's own user. In a user namespace that lacks this user id, the process stays
 * root, but without capabilities. Keeps the capabilities that the next steps need. The change of
 * the user clears the parent-death signal and the dumpable flag; this function sets both again.
 * With the dumpable flag, the new user owns /proc/self.
 */
static void change_user(void)
{
	uid_t user = FIRST_USER + (uid_t)getpid();
	int death_signal = 0, err;

	prctl(PR_GET_PDEATHSIG, &death_signal, 0, 0, 0);
	prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
	err = setgroups(0, NULL) || setresgid(user, user, user) || setresuid(user, user, user);
	err |= keep_effective();
	(void)err;
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0);
}

/* Prevents executed programs from regaining capabilities. This step itself needs CAP_SETPCAP. */
static void lock_capabilities(void)
{
	capabilities_bound(0);
	prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECURE_ALL_LOCKS, 0, 0, 0);
}

static bool has_capabilities(void)
{
	struct capability_sets sets;

	if (capabilities_read(&sets) || sets.effective | sets.permitted | sets.inheritable)
		return true;
	for (int cap = 0, set; (set = prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0)) >= 0;
	     cap++)
		if (set)
			return true;
	return false;
}

static int drop_capabilities(void)
{
	int err;

	lock_capabilities();
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	err = capabilities_set(0, 0);
	if (err)
		return err;
	return has_capabilities() ? -EPERM : 0;
}

/*
 * The ruleset attributes of Landlock version 6. Headers of older distributions lack the last two
 * members.
 */
struct landlock_attributes {
	uint64_t handled_access_fs;
	uint64_t handled_access_net;
	uint64_t scoped;
};

#define NET_BIND_AND_CONNECT 3ULL
#define SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS 3ULL

/*
 * Denies access to files, TCP ports and other processes, as far as the kernel's version of Landlock
 * can deny it.
 */
static void enter_landlock(void)
{
	long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	/* Number of file access rights of each Landlock version, indexed by version. */
	static const int rights[] = {0, 13, 14, 15, 15, 16};
	const long last = sizeof(rights) / sizeof(*rights) - 1;
	struct landlock_attributes attr = {0};
	int fd;

	if (version <= 0)
		return;
	attr.handled_access_fs = (1ULL << rights[version < last ? version : last]) - 1;
	attr.handled_access_net = version >= 4 ? NET_BIND_AND_CONNECT : 0;
	attr.scoped = version >= 6 ? SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS : 0;
	fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (fd < 0)
		return;
	syscall(SYS_landlock_restrict_self, fd, 0);
	close(fd);
}

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
	SCMP_SYS(membarrier),
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
	 * other processes use.
	 */
	{SCMP_SYS(fcntl), {{1, UINT32_MAX, F_DUPFD_CLOEXEC}}},
	{SCMP_SYS(fcntl), {{1, UINT32_MAX, F_GETFD}}},
	{SCMP_SYS(fcntl), {{1, UINT32_MAX, F_SETFD}}},
	{SCMP_SYS(fcntl), {{1, UINT32_MAX, F_GETFL}}},
	{SCMP_SYS(fcntl), {{1, UINT32_MAX, F_GET_SEALS}}},
	{SCMP_SYS(fcntl), {{1, UINT32_MAX, F_ADD_SEALS}}},
	{SCMP_SYS(fcntl), {{1, UINT32_MAX, F_SETFL}, {2, O_ASYNC, 0}}},
	/* Allow neither executable memory nor hugetlbfs pages. */
	{SCMP_SYS(mmap), {{2, PROT_EXEC, 0}, {3, MAP_HUGETLB, 0}}},
	{SCMP_SYS(mprotect), {{2, PROT_EXEC, 0}}},
	{SCMP_SYS(memfd_create), {{1, MFD_HUGETLB, 0}}},
};

/*
 * System calls for a helper that accepts connections. None of them creates or connects other
 * sockets.
 */
static const int serving_calls[] = {
	SCMP_SYS(accept),     SCMP_SYS(accept4),     SCMP_SYS(epoll_create1),
	SCMP_SYS(epoll_ctl),  SCMP_SYS(epoll_wait),  SCMP_SYS(epoll_pwait),
	SCMP_SYS(eventfd2),   SCMP_SYS(getpeername), SCMP_SYS(getsockname),
	SCMP_SYS(getsockopt), SCMP_SYS(recvfrom),    SCMP_SYS(shutdown),
	SCMP_SYS(uname),
};

static const struct rule serving_arguments[] = {
	{SCMP_SYS(setsockopt), {{1, UINT32_MAX, IPPROTO_TCP}, {2, UINT32_MAX, TCP_NODELAY}}},
	{SCMP_SYS(setsockopt), {{1, UINT32_MAX, IPPROTO_TCP}, {2, UINT32_MAX, TCP_CORK}}},
	/* Allow sendto() only without an address: it then reaches only the connected client. */
	{SCMP_SYS(sendto), {{3, MSG_FASTOPEN, 0}, {4, UINT64_MAX, 0}}},
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

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static int add_rules(scmp_filter_ctx filter, bool serves)
{
	/* Allow abort(), which sends a signal to its own process. */
	const struct rule own_signals = {SCMP_SYS(tgkill), {{0, UINT32_MAX, (uint64_t)getpid()}}};
	int err = add_rule(filter, &own_signals);

	for (size_t i = 0; !err && i < COUNT(allowed_calls); i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed_calls[i], 0);
	for (size_t i = 0; !err && i < COUNT(allowed_arguments); i++)
		err = add_rule(filter, &allowed_arguments[i]);
	for (size_t i = 0; !err && serves && i < COUNT(serving_calls); i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, serving_calls[i], 0);
	for (size_t i = 0; !err && serves && i < COUNT(serving_arguments); i++)
		err = add_rule(filter, &serving_arguments[i]);
	return err;
}

static int filter_calls(bool serves)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int err = filter ? add_rules(filter, serves) : -ENOMEM;

	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err;
}

int confine(bool serves)
{
	int err;

	clearenv();
	limit_resources();
	change_user();
	leave_namespaces();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	err = drop_capabilities();
	if (err)
		return err;
	/*
	 * The sanitizer's leak check reads and traces this process, which Landlock and the system
	 * call filter would prevent.
	 */
	if (HELPER_SANITIZED)
		return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) ? -errno : 0;
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	enter_landlock();
	return filter_calls(serves);
}
