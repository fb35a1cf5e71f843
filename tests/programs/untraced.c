// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * untraced PART: until a byte arrives on stdin or stdin ends, grows in a way that memleak does not
 * trace or does not show. Prints `grows PER_SECOND`, the maximum rate, then `ready`. PART is what
 * each step adds:
 *
 *	shared       a mapped memfd
 *	files        a mapping of this program's file
 *	descriptors  an eventfd
 *	sockets      five sockets
 *	threads      a thread that sleeps
 *	mappings     an untouched mapping of this program's file
 *	children     a child that sleeps (every fourth step only)
 *	orphan       nothing, but the first step leaves a sleeping process whose parent has ended
 *	zombies      a child that has ended (every fourth step only)
 *	anonymous    touched pages of private memory that is mapped at the start
 *	used         touched pages of shared memory that is mapped at the start; this is no growth
 *	unmapped     data in a memfd that is not mapped
 *	unread       data in sockets that this process does not read
 *	timers       a POSIX timer
 *	queues       a System V message queue with a message
 *	copied       bytes of a heap block, which is replaced by a larger copy
 *	segments     a System V segment, left by a child that has ended
 *	trifle       touched pages of private memory that is mapped in rare steps, and a small block
 *	nothing      nothing
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "truth.h"

#define PIECES_PER_SECOND 20
#define PIECES_MAX 2000
#define PIECE (256 << 10)
#define FILE_PIECE (16 << 10)
#define COPIED (64 << 10)
#define SOCKETS 5
#define UNREAD (16 << 10)
#define CONNECTIONS 128
#define STEPS_PER_ROOM 140

static char *room; /* memory that is mapped at the start, and touched piece by piece */
static size_t used;

static void *map_room(int flags)
{
	void *mapped = mmap(NULL, (size_t)PIECES_MAX * PIECE, PROT_READ | PROT_WRITE,
			    flags | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	must(mapped != MAP_FAILED, "mmap");
	return mapped;
}

static void share(void)
{
	int fd = memfd_create("piece", MFD_CLOEXEC);
	char *mapped;

	must(fd >= 0 && ftruncate(fd, PIECE) == 0, "memfd");
	mapped = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(mapped != MAP_FAILED, "mmap");
	memset(mapped, 1, PIECE);
	close(fd);
}

static void map_file(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *mapped = mmap(NULL, FILE_PIECE, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);

	must(fd >= 0 && mapped != MAP_FAILED, "map the program");
	close(fd);
}

static void open_descriptor(void)
{
	must(eventfd(0, EFD_CLOEXEC) >= 0, "eventfd");
}

static void open_sockets(void)
{
	static struct rlimit limit;

	if (!limit.rlim_cur && !getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		must(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
	}
	for (int i = 0; i < SOCKETS; i++)
		must(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0, "socket");
}

static void *wait_forever(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static void start_thread(void)
{
	static pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 << 10);
	must(pthread_create(&thread, &attributes, wait_forever, NULL) == 0, "pthread_create");
}

/*
 * Makes a child in every fourth step. If `sleeps` is set, the child sleeps until this process ends,
 * otherwise it ends at once and stays a zombie.
 */
static void make_child(bool sleeps)
{
	static unsigned int step;
	pid_t pid = step++ % 4 ? -1 : fork();

	if (pid)
		return;
	if (sleeps && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0)
		wait_forever(NULL);
	_exit(0);
}

static void start_child(void)
{
	make_child(true);
}

static void leave_zombie(void)
{
	make_child(false);
}

static void map_untouched(void)
{
	static off_t at;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	/* The kernel merges mappings only if they are contiguous in the file. */
	at = at ? 0 : FILE_PIECE;
	must(fd >= 0 && mmap(NULL, FILE_PIECE, PROT_READ, MAP_SHARED, fd, at) != MAP_FAILED,
	     "map the program");
	close(fd);
}

/* Leaves a process that sleeps until this process ends, and with it the pipe. */
static void leave_orphan(void)
{
	static int end[2];
	char byte;
	pid_t pid;

	if (end[1])
		return;
	must(pipe(end) == 0, "pipe");
	pid = fork();
	if (!pid) {
		close(end[1]);
		_exit(!fork() && read(end[0], &byte, 1) < 0);
	}
	must(pid > 0 && waitpid(pid, NULL, 0) == pid, "fork");
}

static void use_room(void)
{
	must(used < PIECES_MAX, "room");
	memset(room + used++ * PIECE, 1, PIECE);
}

static void write_memfd(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("written", MFD_CLOEXEC);
	must(write(fd, room, PIECE) == PIECE, "write to a memfd");
}

static void make_timer(void)
{
	struct sigevent silent = {.sigev_notify = SIGEV_NONE};
	timer_t timer;

	must(timer_create(CLOCK_MONOTONIC, &silent, &timer) == 0, "timer_create");
}

static void make_queue(void)
{
	struct {
		long type;
		char text;
	} message = {.type = 1};
	int queue = msgget(IPC_PRIVATE, 0600);

	must(queue >= 0 && msgsnd(queue, &message, sizeof(message.text), 0) == 0, "msgsnd");
}

static int senders[CONNECTIONS];

/* Connects sockets of this process with one another. */
static void connect_sockets(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	must(bind(listener, (struct sockaddr *)&address, len) == 0 && listen(listener, 8) == 0 &&
		     getsockname(listener, (struct sockaddr *)&address, &len) == 0,
	     "listen");
	for (int i = 0; i < CONNECTIONS; i++) {
		senders[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		must(connect(senders[i], (struct sockaddr *)&address, len) == 0 &&
			     accept(listener, NULL, NULL) >= 0,
		     "connect");
	}
}

/* The kernel keeps about 64 KiB for each connection. */
static void send_unread(void)
{
	static unsigned int step;

	must(send(senders[step++ % CONNECTIONS], room, UNREAD, MSG_DONTWAIT) == UNREAD, "send");
}

static void copy_larger(void)
{
	static char *copied;
	static size_t size;
	char *copy = malloc(size + COPIED);

	must(copy != NULL, "malloc");
	if (copied)
		memcpy(copy, copied, size);
	memset(copy + size, 1, COPIED);
	free(copied);
	copied = copy;
	size += COPIED;
}

static void leave_segment(void)
{
	pid_t pid = fork();
	void *mapped;

	must(pid >= 0, "fork");
	if (!pid) {
		mapped = shmat(shmget(IPC_PRIVATE, PIECE, IPC_CREAT | 0600), NULL, 0);
		must(mapped != (void *)-1, "shmat");
		memset(mapped, 1, PIECE);
		_exit(0);
	}
	must(waitpid(pid, NULL, 0) == pid, "waitpid");
}

static void leak_trifle(void)
{
	static unsigned int step;

	if (step++ % STEPS_PER_ROOM == 0) {
		room = map_room(MAP_PRIVATE);
		used = 0;
	}
	use_room();
	keep(malloc(1)); /* LEAK */
}

static void do_nothing(void)
{
}

static const struct kind {
	const char *name;
	void (*grow)(void);
	long each; /* maximum growth per step: bytes, or number of things */
} kinds[] = {
	{"shared", share, PIECE},
	{"files", map_file, FILE_PIECE},
	{"descriptors", open_descriptor, 1},
	{"threads", start_thread, 1},
	{"mappings", map_untouched, 1},
	{"children", start_child, 1},
	{"orphan", leave_orphan, 0},
	{"zombies", leave_zombie, 1},
	{"anonymous", use_room, PIECE},
	{"used", use_room, 0},
	{"unmapped", write_memfd, PIECE},
	{"unread", send_unread, UNREAD},
	{"timers", make_timer, 1},
	{"queues", make_queue, 1},
	{"copied", copy_larger, COPIED},
	{"segments", leave_segment, 0},
	{"trifle", leak_trifle, 0},
	{"nothing", do_nothing, 0},
	{"sockets", open_sockets, SOCKETS},
};

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	must(0, "usage");
	return NULL;
}

int main(int argc, char **argv)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	const struct kind *kind;

	must(argc == 2, "usage");
	kind = find_kind(argv[1]);
	room = map_room(!strcmp(argv[1], "used") ? MAP_SHARED : MAP_PRIVATE);
	if (kind->grow == send_unread)
		connect_sockets();
	say("grows %ld\n", kind->each * PIECES_PER_SECOND);
	ready();
	while (poll(&input, 1, 1000 / PIECES_PER_SECOND) == 0)
		kind->grow();
	return 0;
}
