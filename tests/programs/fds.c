// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fds PART: opens descriptors and closes some of them. Prints `older N`, the number of descriptors
 * that are open before memleak is attached, and `mapping FUNCTION N N descriptor` for each function
 * that leaves N descriptors open. PART: open, close, unseen (opened and closed in ways that memleak
 * does not trace), exec, exec_at_once, fork, grow, turn. The parts grow and turn run until a byte
 * arrives on stdin, or stdin ends.
 */
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "truth.h"

/*
 * A descriptor number so high that memleak's BPF program does not handle all descriptors of a
 * close_range() over FAR_NUMBER / 2 numbers.
 */
#define FAR_NUMBER 3000
#define PER_SECOND 50
#define TURNED 100

static int opened(int fd)
{
	must(fd >= 0, "descriptor");
	return fd;
}

static void keeps(const char *function, size_t cnt)
{
	maps(function, cnt, cnt, "descriptor");
}

static void say_older(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int cnt = -3; /* do not count ".", ".." and the descriptor of dir */

	must(dir != NULL, "opendir");
	while (readdir(dir))
		cnt++;
	closedir(dir);
	say("older %d\n", cnt);
}

OWN_FRAME static int keep_file(void)
{
	return opened(open("/dev/null", O_RDONLY | O_CLOEXEC)); /* LEAK */
}

OWN_FRAME static int keep_socket(void)
{
	return opened(socket(AF_INET, SOCK_STREAM, 0)); /* LEAK */
}

OWN_FRAME static int keep_accepted(int listening)
{
	return opened(accept(listening, NULL, NULL)); /* LEAK */
}

OWN_FRAME static int keep_dup(int fd)
{
	return opened(dup(fd)); /* LEAK */
}

OWN_FRAME static int keep_fcntl(int fd)
{
	return opened(fcntl(fd, F_DUPFD_CLOEXEC, 100)); /* LEAK */
}

OWN_FRAME static void keep_dup_over(int fd, int over)
{
	opened(dup2(fd, over)); /* LEAK */
	opened(dup2(over, over));
}

OWN_FRAME static void keep_pipe(int ends[2])
{
	must(pipe(ends) == 0, "pipe"); /* LEAK */
}

OWN_FRAME static void keep_pair(int ends[2])
{
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair"); /* LEAK */
}

OWN_FRAME static int keep_memfd(void)
{
	return opened(memfd_create("fds", MFD_CLOEXEC)); /* LEAK */
}

OWN_FRAME static void keep_events(void)
{
	sigset_t none;
	int fd;

	sigemptyset(&none);
	opened(eventfd(0, 0));                      /* LEAK */
	opened(epoll_create1(0));                   /* LEAK */
	opened(timerfd_create(CLOCK_MONOTONIC, 0)); /* LEAK */
	opened(inotify_init1(0));                   /* LEAK */
	fd = opened(signalfd(-1, &none, 0));        /* LEAK */
	must(signalfd(fd, &none, 0) == fd, "signalfd");
}

OWN_FRAME static void keep_received(int from)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = {0};
	char byte;
	struct iovec data = {&byte, 1};
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	must(recvmsg(from, &message, 0) == 1, "recvmsg"); /* LEAK */
	must(control.head.cmsg_len == CMSG_LEN(2 * sizeof(int)), "SCM_RIGHTS");
}

static void send_two(int to, int first, int second)
{
	const int sent[] = {first, second};
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(sent))];
	} control = {.head = {CMSG_LEN(sizeof(sent)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec data = {(char[]){0}, 1};
	const struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	memcpy(CMSG_DATA(&control.head), sent, sizeof(sent));
	must(sendmsg(to, &message, 0) == 1, "sendmsg");
}

/*
 * Returns a socket that is connected to the listening socket `*ret_listening`. The connection has
 * not been accepted.
 */
static int connect_to(int *ret_listening)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(address);
	int listening = keep_socket(), connected = keep_socket();

	must(bind(listening, (struct sockaddr *)&address, len) == 0, "bind");
	must(listen(listening, 1) == 0, "listen");
	must(getsockname(listening, (struct sockaddr *)&address, &len) == 0, "getsockname");
	must(connect(connected, (struct sockaddr *)&address, len) == 0, "connect");
	*ret_listening = listening;
	return connected;
}

/*
 * Starts a child that runs in the parent's memory but closes descriptors in its own descriptor
 * table.
 */
static void spawn_and_close(int fd)
{
	char *argv[] = {(char *)"true", NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addclose(&actions, fd);
	must(posix_spawnp(&pid, "true", &actions, NULL, argv, NULL) == 0, "posix_spawn");
	posix_spawn_file_actions_destroy(&actions);
	must(waitpid(pid, NULL, 0) == pid, "waitpid");
}

static void use_files(void)
{
	char line[16];

	for (int i = 0; i < 10; i++) {
		FILE *file = fopen("/proc/self/comm", "r");

		must(file && fgets(line, sizeof(line), file), "fopen");
		fclose(file);
	}
}

static void open_all(void)
{
	int ends[2], listening, file = keep_file();

	connect_to(&listening);
	keep_accepted(listening);
	keep_dup(file);
	keep_fcntl(file);
	keep_pipe(ends);
	keep_pair(ends);
	keep_memfd();
	keep_events();
	send_two(ends[0], file, file);
	keep_received(ends[1]);
	use_files();
	spawn_and_close(file);
	must(open("/no/such/file", O_RDONLY) < 0, "open");
	keeps("keep_file", 1);
	keeps("keep_socket", 2);
	keeps("keep_accepted", 1);
	keeps("keep_dup", 1);
	keeps("keep_fcntl", 1);
	keeps("keep_pipe", 2);
	keeps("keep_pair", 2);
	keeps("keep_memfd", 1);
	keeps("keep_events", 5);
	keeps("keep_received", 2);
}

/*
 * Closes descriptors by each system call that can close them. One of these descriptors was opened
 * before memleak was attached. Then opens a file, which gets the lowest closed number.
 */
static void close_some(int older)
{
	int ends[2], file = keep_file(), first;

	close(older);
	close(keep_file());
	keep_pipe(ends);
	keep_dup_over(file, ends[1]);
	first = keep_memfd();
	for (int i = 1; i < 6; i++)
		must(keep_memfd() == first + i, "numbers");
	must(syscall(SYS_close_range, first, first + 4, 0) == 0, "close_range");
	must(syscall(SYS_close_range, ~0U - 9, ~0U, 0) == 0, "close_range");
	must(syscall(SYS_close_range, file, file, 4 /* CLOSE_RANGE_CLOEXEC */) == 0, "close_range");
	keeps("keep_file", 2);
	keeps("keep_pipe", 1);
	keeps("keep_dup_over", 1);
	keeps("keep_memfd", 1);
	must(keep_file() == first, "numbers");
}

static void do_unseen(void)
{
	struct rlimit limit = {2 * FAR_NUMBER, 2 * FAR_NUMBER};
	int terminal = keep_file(), far;

	close(terminal);
	terminal = opened(posix_openpt(O_RDWR | O_NOCTTY)); /* LEAK */
	must(grantpt(terminal) == 0 && unlockpt(terminal) == 0, "terminal");
	opened(ioctl(terminal, TIOCGPTPEER, O_RDWR | O_NOCTTY));
	must(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
	far = opened(fcntl(terminal, F_DUPFD, FAR_NUMBER));
	must(syscall(SYS_close_range, far - FAR_NUMBER / 2, far, 0) == 0, "close_range");
	say("missed 1\n");
	say("closed_unseen 1\n");
}

/* Forks a child that closes its copy of a descriptor, and opens two other descriptors. */
static void do_fork(void)
{
	int ends[2], fd = keep_file();
	char byte = 0;
	pid_t pid;

	must(pipe(ends) == 0, "pipe");
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fd);
		keep_file();
		keep_file();
		must(write(ends[1], &byte, 1) == 1, "write");
		for (;;)
			pause();
	}
	must(pid > 0 && read(ends[0], &byte, 1) == 1, "fork");
	close(ends[0]);
	close(ends[1]);
	say("child %d 2 2\n", pid);
	keeps("keep_file", 1);
}

static void execute(char *program, const char *part)
{
	char *argv[] = {program, (char *)part, NULL};

	keep_file();
	keep_socket();
	execv(argv[0], argv);
	must(0, "execv");
}

static void keep_one(void)
{
	keep_file();
}

/*
 * Acts like a server that opens and closes descriptors, and always has the same number of them
 * open.
 */
static void turn(void)
{
	static int ring[TURNED];
	static size_t at;

	if (ring[at % TURNED])
		close(ring[at % TURNED]);
	ring[at++ % TURNED] = keep_file();
}

static void run_until_end(void (*step)(void))
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	ready();
	while (poll(&input, 1, 1000 / PER_SECOND) == 0)
		step();
}

/*
 * Runs in the executed program. Descriptors that are open at its start were opened before the exec.
 */
static void be_executed(bool waits)
{
	say_older();
	keep_file();
	keeps("keep_file", 1);
	if (waits)
		ready();
}

static void do_part(const char *part, int older)
{
	if (!strcmp(part, "open"))
		open_all();
	else if (!strcmp(part, "close"))
		close_some(older);
	else if (!strcmp(part, "fork"))
		do_fork();
	else
		do_unseen();
}

int main(int argc, char **argv)
{
	const char *part = argv[1];
	int older;

	must(argc == 2, "usage");
	if (!strcmp(part, "executed") || !strcmp(part, "executed_at_once")) {
		be_executed(!strcmp(part, "executed"));
		return 0;
	}
	older = opened(open("/dev/null", O_RDONLY));
	if (!strcmp(part, "exec")) {
		ready();
		execute(argv[0], "executed");
	}
	if (!strcmp(part, "exec_at_once"))
		execute(argv[0], "executed_at_once");
	say_older();
	if (!strcmp(part, "grow") || !strcmp(part, "turn")) {
		run_until_end(!strcmp(part, "grow") ? keep_one : turn);
		return 0;
	}
	ready();
	do_part(part, older);
	ready();
	return 0;
}
