// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * confined [serves|downloads]: confines itself as memleak's helper processes do, then makes harmful
 * and harmless system calls. Prints the number of harmful calls, each harmful call that was not
 * refused, and each harmless call that was refused. With "serves", it is confined like the helper
 * that serves network connections; with "downloads", like the one that downloads files.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "helper/confine.h"

#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif

enum { LINK = 100, OTHER_END, MEMORY, LISTENER, CLIENT, SERVED, FILE_OF_OTHERS, FOLDER, CACHE };

struct attempt {
	const char *name;
	long call;
	unsigned long args[6];
};

#define A(pointer) ((unsigned long)(uintptr_t)(pointer))
#define CALL(name, ...)                                                                            \
	{                                                                                          \
#name " " #__VA_ARGS__, SYS_##name,                                                \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

static pid_t parent;
static char cache[] = "/tmp/confined-XXXXXX";
static char bytes[4096] __attribute__((aligned(4096)));
static struct sockaddr_in address = {.sin_family = AF_INET};
static struct iovec text = {bytes, 1};
static struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1};
static struct msghdr addressed = {
	.msg_name = &address, .msg_namelen = sizeof(address), .msg_iov = &text, .msg_iovlen = 1};
static struct sock_filter instruction = BPF_STMT(BPF_RET | BPF_K, 0);
static struct sock_fprog program = {1, &instruction};
static struct flock lock = {.l_type = F_RDLCK};
static int one = 1;

static unsigned int refused(const struct attempt *attempt)
{
	const unsigned long *args = attempt->args;

	errno = 0;
	return syscall(attempt->call, args[0], args[1], args[2], args[3], args[4], args[5]) == -1 &&
	       (errno == EPERM || (attempt->call == SYS_clone3 && errno == ENOSYS));
}

/*
 * Makes system calls. Prints and counts the refused calls if `harmless` is true, else the calls
 * that were not refused. Returns the count.
 */
static unsigned int make(const struct attempt *attempts, size_t cnt, bool harmless)
{
	unsigned int wrong = 0;

	for (size_t i = 0; i < cnt; i++) {
		if (refused(&attempts[i]) != harmless)
			continue;
		printf("%s: %s\n", harmless ? "refused" : "not refused", attempts[i].name);
		wrong++;
	}
	return wrong;
}

#define MAKE(attempts, harmless) make(attempts, sizeof(attempts) / sizeof(*(attempts)), harmless)

/* Makes system calls that every helper is refused. */
static unsigned int make_harmful(void)
{
	/* Only the seccomp filter refuses calls with this pid: the kernel would allow them. */
	const unsigned long self = (unsigned long)getpid();
	const struct attempt attempts[] = {
		/* Sending signals, and making the kernel send them. */
		CALL(kill, parent, 0),
		CALL(kill, self, 0),
		CALL(tkill, parent, 0),
		CALL(tgkill, parent, parent, 0),
		CALL(rt_sigqueueinfo, parent, 0, A(bytes)),
		CALL(rt_tgsigqueueinfo, parent, parent, 0, A(bytes)),
		CALL(pidfd_open, parent, 0),
		CALL(pidfd_send_signal, LINK, 0, 0, 0),
		CALL(fcntl, LINK, F_SETOWN, parent),
		CALL(fcntl, LINK, F_SETOWN_EX, A(bytes)),
		CALL(fcntl, LINK, F_SETSIG, SIGKILL),
		CALL(fcntl, LINK, F_SETFL, O_ASYNC),
		CALL(fcntl, LINK, F_SETFL, O_ASYNC | O_NONBLOCK),
		CALL(fcntl, FILE_OF_OTHERS, F_SETFL, O_APPEND),
		CALL(fcntl, FILE_OF_OTHERS, F_SETFL, O_DIRECT),
		CALL(fcntl, FILE_OF_OTHERS, F_SETFL, O_NOATIME),
		CALL(ioctl, LINK, FIOASYNC, A(&one)),
		CALL(ioctl, LINK, FIOSETOWN, A(&parent)),
		CALL(timer_create, CLOCK_MONOTONIC, 0, A(bytes)),
		CALL(mq_open, A("/x"), O_CREAT, 0600, 0),
		/* Changing files and systems in other ways than by writing and removing files. */
		CALL(fcntl, FILE_OF_OTHERS, F_OFD_SETLK, A(&lock)),
		CALL(fcntl, FILE_OF_OTHERS, F_SETLEASE, F_RDLCK),
		CALL(fcntl, FOLDER, F_NOTIFY, DN_MODIFY),
		CALL(fcntl, LINK, F_SETPIPE_SZ, 1 << 20),
		CALL(fchown, FILE_OF_OTHERS, 0, 0),
		CALL(fsetxattr, FILE_OF_OTHERS, A("user.x"), A("x"), 1, 0),
		CALL(inotify_init1, 0),
		CALL(fanotify_init, 0, 0),
		CALL(open_by_handle_at, FOLDER, A(bytes), O_RDONLY),
		CALL(linkat, FOLDER, A("a"), FOLDER, A("b"), 0),
		CALL(mknodat, FOLDER, A("b"), 0600, 0),
		CALL(chroot, A("/")),
		CALL(mount, A("x"), A("/"), A("tmpfs"), 0, 0),
		CALL(umount2, A("/"), 0),
		CALL(socket, AF_NETLINK, SOCK_RAW, NETLINK_AUDIT),
		CALL(socket, AF_PACKET, SOCK_RAW, 0),
		/* Reaching services of the user, such as D-Bus, which start programs. */
		CALL(socket, AF_UNIX, SOCK_STREAM, 0),
		CALL(socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0),
		CALL(socketpair, AF_UNIX, SOCK_DGRAM, 0, A(bytes)),
		CALL(listen, LISTENER, 1),
		CALL(memfd_create, A("x"), MFD_HUGETLB),
		/* Reading and tracing other processes, and starting new ones. */
		CALL(ptrace, PTRACE_SEIZE, parent, 0, 0),
		/* only the seccomp filter fails with EPERM: parent is not traced */
		CALL(ptrace, PTRACE_CONT, parent, 0, 0),
		CALL(process_vm_readv, self, A(&text), 1, A(&text), 1, 0),
		CALL(process_vm_writev, self, A(&text), 1, A(&text), 1, 0),
		CALL(process_madvise, LINK, A(&text), 1, MADV_COLD, 0),
		CALL(pidfd_getfd, LINK, 0, 0),
		CALL(kcmp, self, self, 0, 0, 0),
		CALL(prlimit64, parent, 0, 0, A(bytes)),
		CALL(setpriority, 0, parent, 19),
		CALL(sched_setaffinity, parent, 8, A(bytes)),
		CALL(sched_setscheduler, parent, SCHED_OTHER, A(bytes)),
		CALL(ioprio_set, 1, parent, 0),
		/* 2 is MEMBARRIER_CMD_GLOBAL_EXPEDITED, which interrupts other processes. */
		CALL(membarrier, 2, 0, 0),
		CALL(clone, SIGCHLD, 0, 0, 0, 0),
		CALL(clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0),
		CALL(clone3, A(bytes), 64),
		CALL(execve, A("/bin/true"), 0, 0),
		CALL(execveat, FILE_OF_OTHERS, A(""), 0, 0, AT_EMPTY_PATH),
		CALL(unshare, CLONE_NEWUSER),
		CALL(setns, LINK, 0),
		/* Calls that change user ids, capabilities, process attributes, or keys. */
		CALL(setuid, 0),
		CALL(setresuid, 0, 0, 0),
		CALL(setgroups, 0, 0),
		CALL(capset, A(bytes), A(bytes)),
		CALL(prctl, PR_SET_DUMPABLE, 1),
		CALL(prctl, PR_SET_PDEATHSIG, 0),
		CALL(prctl, PR_SET_PTRACER, -1UL),
		CALL(seccomp, 0, 0, 0),
		CALL(personality, 0x0400000),
		CALL(keyctl, 0, 0, 0, 0, 0),
		CALL(add_key, A("user"), A("x"), A("x"), 1, -4UL),
		CALL(mlockall, 1),
		CALL(shmget, 0, 4096, 0600),
		CALL(semget, 0, 1, 0600),
		CALL(msgget, 0, 0600),
		/* Kernel interfaces such as bpf(), and settings of the whole machine. */
		CALL(bpf, 0, A(bytes), 128),
		CALL(perf_event_open, A(bytes), 0, -1UL, -1UL, 0),
		CALL(userfaultfd, 0),
		CALL(io_uring_setup, 1, A(bytes)),
		CALL(init_module, A(bytes), 0, A("")),
		CALL(syslog, 3, A(bytes), 1),
		CALL(reboot, 0, 0, 0, 0),
		CALL(sethostname, A("x"), 1),
		CALL(clock_settime, CLOCK_REALTIME, A(bytes)),
		CALL(ioctl, LINK, TIOCSTI, A(bytes)),
		CALL(vmsplice, LINK, A(&text), 1, 0),
		CALL(splice, MEMORY, 0, LINK, 0, 1, 0),
	};

	printf("%zu harmful calls\n", sizeof(attempts) / sizeof(*attempts));
	return MAKE(attempts, false);
}

/* Makes system calls that helpers need for downloads, but that other helpers are refused. */
static unsigned int make_harmful_unless_downloading(void)
{
	const struct attempt attempts[] = {
		/* Locking, watching and changing files that another process has opened. */
		CALL(fcntl, FILE_OF_OTHERS, F_SETLK, A(&lock)),
		CALL(fcntl, FILE_OF_OTHERS, F_SETLKW, A(&lock)),
		CALL(flock, FILE_OF_OTHERS, LOCK_EX),
		CALL(fchmod, FILE_OF_OTHERS, 0777),
		CALL(ftruncate, FILE_OF_OTHERS, 0),
		CALL(fallocate, FILE_OF_OTHERS, 0, 0, 1),
		/* Opening files by name. */
		CALL(openat, AT_FDCWD, A("/etc/passwd"), O_RDONLY),
		CALL(openat, FOLDER, A("etc/passwd"), O_RDONLY),
		CALL(openat, AT_FDCWD, A("/proc/self/mem"), O_RDWR),
		CALL(openat, AT_FDCWD, A("/tmp"), O_TMPFILE | O_RDWR, 0600),
		CALL(openat2, AT_FDCWD, A("/etc/passwd"), A(bytes), 24),
		CALL(newfstatat, AT_FDCWD, A("/etc/passwd"), A(bytes), 0),
		CALL(statx, AT_FDCWD, A("/etc/passwd"), 0, 0, A(bytes)),
		CALL(faccessat, AT_FDCWD, A("/etc/passwd"), 0),
		CALL(readlinkat, AT_FDCWD, A("/proc/self/exe"), A(bytes), 100),
		CALL(getdents64, FOLDER, A(bytes), sizeof(bytes)),
		CALL(mkdirat, AT_FDCWD, A("/tmp/confined"), 0700),
		CALL(unlinkat, AT_FDCWD, A("/tmp/confined"), 0),
		CALL(renameat2, FOLDER, A("a"), FOLDER, A("b"), 0),
		CALL(symlinkat, A("a"), FOLDER, A("b")),
		CALL(chdir, A("/")),
		CALL(fchdir, FOLDER),
		/* Network system calls. */
		CALL(socket, AF_INET, SOCK_STREAM, 0),
		CALL(socket, AF_INET, SOCK_DGRAM, 0),
		CALL(socket, AF_INET6, SOCK_STREAM, 0),
		CALL(socket, AF_NETLINK, SOCK_RAW, 0),
		CALL(socketpair, AF_UNIX, SOCK_STREAM, 0, A(bytes)),
		CALL(connect, LISTENER, A(&address), sizeof(address)),
		CALL(bind, LISTENER, A(&address), sizeof(address)),
		CALL(sendto, LISTENER, A(bytes), 1, MSG_FASTOPEN, A(&address), sizeof(address)),
		CALL(sendto, LISTENER, A(bytes), 1, MSG_FASTOPEN, 0, 0),
		CALL(sendto, SERVED, A(bytes), 1, 0, A(&address), sizeof(address)),
		CALL(sendmsg, LISTENER, A(&addressed), MSG_FASTOPEN),
		CALL(sendmmsg, LISTENER, A(&addressed), 1, 0),
		/* Ending the service for all later helpers: this socket never listens again. */
		CALL(shutdown, LISTENER, SHUT_RD),
		CALL(shutdown, LISTENER, SHUT_RDWR),
		CALL(setsockopt, SERVED, SOL_SOCKET, SO_ATTACH_FILTER, A(&program),
		     sizeof(program)),
		CALL(setsockopt, SERVED, SOL_SOCKET, SO_BINDTODEVICE, A("lo"), 3),
		CALL(setsockopt, LISTENER, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, A(&one), sizeof(one)),
		CALL(setsockopt, SERVED, IPPROTO_TCP, TCP_ULP, A("tls"), 4),
		CALL(setsockopt, SERVED, IPPROTO_TCP, TCP_REPAIR, A(&one), sizeof(one)),
		/* Executable memory, huge pages, locked memory, and System V IPC. */
		CALL(mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1UL, 0),
		CALL(mmap, 0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1UL, 0),
		CALL(mmap, 0, 2 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1UL,
		     0),
		CALL(mprotect, A(bytes), 4096, PROT_READ | PROT_EXEC),
		CALL(pkey_mprotect, A(bytes), 4096, PROT_READ | PROT_EXEC, -1UL),
		CALL(memfd_create, A("x"), MFD_CLOEXEC | MFD_ALLOW_SEALING),
		/* Memory that no limit on the process counts. */
		CALL(mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1UL, 0),
		CALL(mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, MEMORY, 0),
		CALL(mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE, MEMORY, 0),
		CALL(mmap, 0, 4096, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1UL, 0),
		CALL(mprotect, A(bytes), 4096, PROT_READ),
		CALL(mprotect, A(bytes), 4096, PROT_NONE),
		CALL(mmap, 0, 4096, PROT_READ, MAP_PRIVATE | MAP_LOCKED, FILE_OF_OTHERS, 0),
		CALL(fcntl, MEMORY, F_ADD_SEALS, F_SEAL_SHRINK),
	};

	return MAKE(attempts, false);
}

/* Makes system calls for a download into a folder. */
static unsigned int make_download(void)
{
	const struct attempt attempts[] = {
		CALL(openat, CACHE, A("a"), O_CREAT | O_RDWR, 0600),
		CALL(renameat2, CACHE, A("a"), CACHE, A("b"), 0),
		CALL(unlinkat, CACHE, A("b"), 0),
		CALL(openat, AT_FDCWD, A("/etc/passwd"), O_RDONLY),
		CALL(socket, AF_INET, SOCK_STREAM, 0),
		CALL(socket, AF_INET6, SOCK_DGRAM, 0),
		CALL(socket, AF_NETLINK, SOCK_RAW, 0),
		CALL(connect, CLIENT, A(&address), sizeof(address)),
		CALL(socketpair, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, A(bytes)),
	};

	return MAKE(attempts, true);
}

/* The C library asks nscd for addresses. Without UNIX sockets, it reads /etc/hosts. */
static unsigned int resolve(void)
{
	struct addrinfo *found;
	int err = getaddrinfo("localhost", "80", NULL, &found);

	if (!err) {
		freeaddrinfo(found);
		return 0;
	}
	printf("not resolved: localhost: %s\n", gai_strerror(err));
	return 1;
}

/* With Landlock, other files cannot be changed, and root cannot read them either. */
static unsigned int leave_folder(void)
{
	static const struct {
		const char *path;
		int flags;
	} attempts[] = {
		{"/tmp/confined-other", O_CREAT | O_WRONLY},
		{"/proc/self/comm", O_WRONLY},
		{"/proc/self/environ", O_RDONLY},
	};
	unsigned int wrong = 0;

	for (size_t i = 0; i < sizeof(attempts) / sizeof(*attempts); i++) {
		if (attempts[i].flags == O_RDONLY && geteuid())
			continue;
		if (open(attempts[i].path, attempts[i].flags, 0600) < 0 && errno == EACCES)
			continue;
		printf("not refused: %s\n", attempts[i].path);
		wrong++;
	}
	return wrong;
}

static void place(int fd, int wanted)
{
	if (fd < 0 || dup2(fd, wanted) < 0) {
		perror("confined");
		exit(2);
	}
}

static unsigned int download(void)
{
	/* 1 is LANDLOCK_CREATE_RULESET_VERSION. */
	bool has_landlock = syscall(SYS_landlock_create_ruleset, NULL, 0, 1) > 0;
	int status = 1;
	pid_t pid;

	if (!mkdtemp(cache))
		return 1;
	place(open(cache, O_PATH | O_DIRECTORY), CACHE);
	pid = fork();
	if (!pid) {
		if (confine_download(CACHE))
			exit(2);
		exit(make_harmful() + make_download() + resolve() +
		     (has_landlock ? leave_folder() : 0));
	}
	waitpid(pid, &status, 0);
	rmdir(cache);
	return status;
}

static unsigned int make_harmless(bool serves)
{
	const struct attempt any[] = {
		CALL(write, LINK, A(bytes), 1),
		CALL(sendmsg, LINK, A(&message), 0),
		CALL(write, MEMORY, A(bytes), 1),
		CALL(fcntl, LINK, F_DUPFD_CLOEXEC, 0),
		CALL(fcntl, LINK, F_SETFL, O_NONBLOCK),
		CALL(mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1UL, 0),
		CALL(mmap, 0, 4096, PROT_READ, MAP_PRIVATE, MEMORY, 0),
		CALL(mprotect, A(bytes), 4096, PROT_READ | PROT_WRITE),
		CALL(tgkill, (unsigned long)getpid(), (unsigned long)getpid(), 0),
	};
	const struct attempt served[] = {
		CALL(setsockopt, SERVED, IPPROTO_TCP, TCP_NODELAY, A(&one), sizeof(one)),
		CALL(sendto, SERVED, A(bytes), 1, MSG_NOSIGNAL, 0, 0),
		CALL(shutdown, SERVED, SHUT_WR),
	};

	return MAKE(any, true) + (serves ? MAKE(served, true) : 0);
}

static void open_files(void)
{
	socklen_t len = sizeof(address);
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		exit(2);
	place(pair[0], LINK);
	place(pair[1], OTHER_END);
	place(memfd_create("memory", MFD_ALLOW_SEALING), MEMORY);
	place(socket(AF_INET, SOCK_STREAM, 0), LISTENER);
	place(socket(AF_INET, SOCK_STREAM, 0), CLIENT);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(LISTENER, (struct sockaddr *)&address, len) || listen(LISTENER, 1) ||
	    getsockname(LISTENER, (struct sockaddr *)&address, &len) ||
	    connect(CLIENT, (struct sockaddr *)&address, len))
		exit(2);
	place(accept(LISTENER, NULL, NULL), SERVED);
	place(open("/proc/self/exe", O_RDONLY), FILE_OF_OTHERS);
	place(open("/", O_RDONLY | O_DIRECTORY), FOLDER);
}

int main(int argc, char **argv)
{
	bool serves = argc > 1 && !strcmp(argv[1], "serves");

	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	parent = getppid();
	open_files();

	printf("confined%s%s\n", argc > 1 ? ", " : "", argc > 1 ? argv[1] : "");
	if (argc > 1 && !strcmp(argv[1], "downloads"))
		return download() ? 1 : 0;
	if (confine(serves))
		return 2;
	return make_harmful() + make_harmful_unless_downloading() + make_harmless(serves) ? 1 : 0;
}
