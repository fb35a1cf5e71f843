// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shows whether a proof disturbs a program. Runs threads that wait in all kinds of system calls,
 * and threads that never sleep. Each thread checks the results of its system calls. Prints "ready"
 * and waits for a byte or the end of stdin. Prints up to 20 wrong results when they occur, or
 * "unharmed" at the end if there were none.
 *
 *   prove_waits [loners|family|walls] [THREADS]
 *
 * loners: a thread checks again and again that the program has no children. family: threads make
 * children and wait for them. walls: a thread waits for any child, even one made by clone()
 * (__WALL). THREADS: number of additional sleeping threads.
 */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000L

struct waiter {
	const char *name;
	/* waits once, and returns true if the result was as expected */
	bool (*once)(struct waiter *self);
	bool endless;                      /* true if once() must not return */
	int fds[2];                        /* a pipe that is never written to */
	int sock[2];
	int epoll;
	atomic_ulong turns;
	int error; /* not used */
};

static atomic_int faults;
static atomic_bool ending;
static atomic_ulong ticks, odd_signals;
static int semaphores, messages;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void fault(const char *name, const char *what, int error)
{
	if (atomic_fetch_add(&faults, 1) < 20)
		printf("fault: %s: %s (%s)\n", name, what, strerror(error));
}

static const struct timespec brief = {0, 3 * MS}, endless = {100000, 0};

/* True if a timed wait had the expected result and lasted at least 3 ms. */
static bool ends_in_time(bool as_expected, uint64_t begin_ns)
{
	return as_expected && now_ns() - begin_ns >= 3 * MS;
}

static bool nanosleep_brief(struct waiter *self)
{
	uint64_t begin_ns = now_ns();

	return ends_in_time(!nanosleep(&brief, NULL), begin_ns);
}

static bool nanosleep_endless(struct waiter *self)
{
	nanosleep(&endless, NULL);
	return false;
}

static bool clock_brief(struct waiter *self)
{
	struct timespec until;
	uint64_t begin_ns = now_ns();

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += 3 * MS;
	if (until.tv_nsec >= 1000 * MS) {
		until.tv_nsec -= 1000 * MS;
		until.tv_sec++;
	}
	return ends_in_time(!clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL),
			    begin_ns);
}

static bool poll_brief(struct waiter *self)
{
	struct pollfd pfd = {.fd = self->fds[0], .events = POLLIN};
	uint64_t begin_ns = now_ns();

	return ends_in_time(!poll(&pfd, 1, 3), begin_ns);
}

static bool poll_endless(struct waiter *self)
{
	struct pollfd pfd = {.fd = self->fds[0], .events = POLLIN};

	poll(&pfd, 1, -1);
	return false;
}

static bool ppoll_brief(struct waiter *self)
{
	struct pollfd pfd = {.fd = self->fds[0], .events = POLLIN};
	uint64_t begin_ns = now_ns();
	sigset_t none;

	sigfillset(&none);
	return ends_in_time(!ppoll(&pfd, 1, &brief, &none), begin_ns);
}

static bool select_brief(struct waiter *self)
{
	struct timeval tv = {0, 3000};
	uint64_t begin_ns = now_ns();
	fd_set set;

	FD_ZERO(&set);
	FD_SET(self->fds[0], &set);
	return ends_in_time(!select(self->fds[0] + 1, &set, NULL, NULL, &tv), begin_ns);
}

static bool futex_brief(struct waiter *self)
{
	uint32_t word = 0;
	uint64_t begin_ns = now_ns();
	long got = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &brief, NULL, 0);

	return ends_in_time(got < 0 && errno == ETIMEDOUT, begin_ns);
}

static bool futex_endless(struct waiter *self)
{
	uint32_t word = 0;

	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return false;
}

static bool read_endless(struct waiter *self)
{
	char byte;

	(void)!read(self->fds[0], &byte, 1);
	return false;
}

static bool epoll_brief(struct waiter *self)
{
	struct epoll_event event;
	uint64_t begin_ns = now_ns();

	return ends_in_time(!epoll_wait(self->epoll, &event, 1, 3), begin_ns);
}

static bool epoll_endless(struct waiter *self)
{
	struct epoll_event event;

	epoll_wait(self->epoll, &event, 1, -1);
	return false;
}

static bool epoll_masked(struct waiter *self)
{
	struct epoll_event event;
	uint64_t begin_ns = now_ns();
	sigset_t all;

	sigfillset(&all);
	return ends_in_time(!epoll_pwait(self->epoll, &event, 1, 3, &all), begin_ns);
}

static bool sigtimedwait_brief(struct waiter *self)
{
	uint64_t begin_ns = now_ns();
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return ends_in_time(sigtimedwait(&set, NULL, &brief) < 0 && errno == EAGAIN, begin_ns);
}

static bool sigwait_endless(struct waiter *self)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigwaitinfo(&set, NULL);
	return false;
}

static bool pause_endless(struct waiter *self)
{
	pause();
	return false;
}

static bool semtimedop_brief(struct waiter *self)
{
	struct sembuf take = {0, -1, 0};
	uint64_t begin_ns = now_ns();

	return ends_in_time(semtimedop(semaphores, &take, 1, &brief) < 0 && errno == EAGAIN,
			    begin_ns);
}

static bool semop_endless(struct waiter *self)
{
	struct sembuf take = {0, -1, 0};

	semop(semaphores, &take, 1);
	return false;
}

static bool msgrcv_endless(struct waiter *self)
{
	struct {
		long type;
		char text[8];
	} message;

	msgrcv(messages, &message, sizeof(message.text), 0, 0);
	return false;
}

static bool recv_brief(struct waiter *self)
{
	struct timeval tv = {0, 20000}; /* the kernel measures this time in ticks of up to 10 ms */
	uint64_t begin_ns = now_ns();
	char byte;

	setsockopt(self->sock[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	return ends_in_time(recv(self->sock[0], &byte, 1, 0) < 0 && errno == EAGAIN, begin_ns);
}

static bool recv_timed_endless(struct waiter *self)
{
	struct timeval tv = {100000, 0};
	char byte;

	setsockopt(self->sock[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	recv(self->sock[0], &byte, 1, 0);
	return false;
}

static bool timerfd_ticks(struct waiter *self)
{
	struct itimerspec each = {{0, 1 * MS}, {0, 1 * MS}};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	bool good = fd >= 0 && !timerfd_settime(fd, 0, &each, NULL);
	uint64_t cnt;

	for (int i = 0; good && i < 20; i++)
		good = read(fd, &cnt, sizeof(cnt)) == sizeof(cnt) && cnt;
	close(fd);
	return good;
}

/*
 * Reads from a pipe whose write end is closed. The read hangs if another process, such as a copy of
 * this one, still has the write end open.
 */
static bool pipe_ends(struct waiter *self)
{
	int ends[2];
	char byte;
	bool good = !pipe(ends);

	close(ends[1]);
	good = good && !read(ends[0], &byte, 1);
	close(ends[0]);
	return good;
}

static void *return_at_once(void *arg)
{
	return arg;
}

static bool threads_come_and_go(struct waiter *self)
{
	pthread_t thread;
	void *ret = NULL;

	return !pthread_create(&thread, NULL, return_at_once, self) &&
	       !pthread_join(thread, &ret) && ret == self;
}

static bool memory_comes_and_goes(struct waiter *self)
{
	size_t len = 1 << 20;
	char *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool good = at != MAP_FAILED;

	for (size_t i = 0; good && i < len; i += 4096)
		at[i] = (char)(i >> 12);
	for (size_t i = 0; good && i < len; i += 4096)
		good = at[i] == (char)(i >> 12);
	return !munmap(at, len) && good;
}

/*
 * Repeats a computation. Its result differs from the first one if something has changed the
 * thread's registers.
 */
static bool burn(struct waiter *self)
{
	uint64_t x = 88172645463325252ULL, sum = 0;
	double real = 1;

	for (int i = 0; i < 2000000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		sum += x;
		real = real * 1.0000001 + 1e-9;
	}
	static _Atomic uint64_t known_sum;
	static _Atomic double known_real;
	uint64_t none = 0;
	double no_real = 0;

	atomic_compare_exchange_strong(&known_sum, &none, sum);
	atomic_compare_exchange_strong(&known_real, &no_real, real);
	return known_sum == sum && known_real == real;
}

/* Makes short system calls in a loop, so that a tracer mostly stops the thread in a system call. */
static bool calls_in_a_row(struct waiter *self)
{
	uint64_t one = 1, got = 0;

	for (int i = 0; i < 200; i++) {
		if (write(self->fds[1], &one, sizeof(one)) != sizeof(one) ||
		    read(self->fds[0], &got, sizeof(got)) != sizeof(got) || got != 1)
			return false;
		if (syscall(SYS_getppid) != getppid() || lseek(self->fds[0], 0, SEEK_CUR) >= 0 ||
		    errno != ESPIPE)
			return false;
	}
	return true;
}

static bool has_no_children(struct waiter *self)
{
	int status;

	return waitpid(-1, &status, WNOHANG) < 0 && errno == ECHILD;
}

static bool child_is_waited_for(struct waiter *self)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		nanosleep(&brief, NULL);
		_exit(7);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 7;
}

static bool vfork_sleeps(struct waiter *self)
{
	pid_t pid = vfork();
	int status;

	if (!pid) {
		syscall(SYS_nanosleep, &brief, NULL);
		_exit(5);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 5;
}

static pid_t sleeping_child;

static bool wait_endless(struct waiter *self)
{
	waitpid(sleeping_child, NULL, 0);
	return false;
}

static bool wall_endless(struct waiter *self)
{
	wait4(-1, NULL, __WALL, NULL);
	return false;
}

#define BRIEF(function) {.name = #function, .once = function}
#define ENDLESS(function) {.name = #function, .once = function, .endless = true}

static struct waiter waiters[] = {
	BRIEF(nanosleep_brief),
	ENDLESS(nanosleep_endless),
	BRIEF(clock_brief),
	BRIEF(poll_brief),
	ENDLESS(poll_endless),
	BRIEF(ppoll_brief),
	BRIEF(select_brief),
	BRIEF(futex_brief),
	ENDLESS(futex_endless),
	ENDLESS(read_endless),
	BRIEF(epoll_brief),
	ENDLESS(epoll_endless),
	BRIEF(epoll_masked),
	BRIEF(sigtimedwait_brief),
	ENDLESS(sigwait_endless),
	ENDLESS(pause_endless),
	BRIEF(semtimedop_brief),
	ENDLESS(semop_endless),
	ENDLESS(msgrcv_endless),
	BRIEF(recv_brief),
	ENDLESS(recv_timed_endless),
	BRIEF(timerfd_ticks),
	BRIEF(pipe_ends),
	BRIEF(threads_come_and_go),
	BRIEF(memory_comes_and_goes),
	BRIEF(burn),
	BRIEF(calls_in_a_row),
};
static struct waiter loners[] = {BRIEF(has_no_children)};
static struct waiter family[] = {
	BRIEF(child_is_waited_for),
	BRIEF(vfork_sleeps),
	ENDLESS(wait_endless),
};
static struct waiter walls[] = {ENDLESS(wall_endless)};

static void *run_waiter(void *arg)
{
	struct waiter *self = arg;

	while (!ending) {
		errno = 0;
		if (!self->once(self) && !ending)
			fault(self->name, self->endless ? "it came back" : "not as it must be", errno);
		self->turns++;
		/* Pause between short waits, which would otherwise use all of the CPU. */
		if (!self->endless && self->once != burn)
			nanosleep(&(struct timespec){0, 1 * MS}, NULL);
	}
	return NULL;
}

static void *sleep_long(void *arg)
{
	nanosleep(&endless, NULL);
	if (!ending)
		fault("sleeper", "it came back", errno);
	return NULL;
}

static void start_thread(void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	if (pthread_create(&thread, &attr, run, arg)) {
		printf("cannot make a thread\n");
		exit(99);
	}
}

static void start_waiters(struct waiter *list, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		struct waiter *self = &list[i];
		struct epoll_event event = {.events = EPOLLIN};

		if (pipe(self->fds) || socketpair(AF_UNIX, SOCK_STREAM, 0, self->sock))
			exit(99);
		self->epoll = epoll_create1(0);
		epoll_ctl(self->epoll, EPOLL_CTL_ADD, self->sock[0], &event);
		start_thread(run_waiter, self);
	}
}

static void tick(int sig, siginfo_t *info, void *context)
{
	if (info->si_code != SI_TIMER)
		odd_signals++;
	ticks += 1 + (unsigned long)info->si_overrun;
}

static void note_odd(int sig)
{
	odd_signals++;
}

/* Starts a timer, and checks that its signals, and nothing else, end pause(). */
static void *run_timer(void *arg)
{
	struct sigaction action = {.sa_sigaction = tick, .sa_flags = SA_SIGINFO};
	struct itimerspec each = {{0, 1 * MS}, {0, 1 * MS}};
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = SIGALRM,
	};
	timer_t timer;
	sigset_t set;

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	sigaction(SIGALRM, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &each, NULL);
	while (!ending) {
		unsigned long before = ticks;
		uint64_t begin_ns = now_ns();

		if (pause() == 0 || errno != EINTR)
			fault("timer", "pause has not ended by a signal", errno);
		if (ticks == before && now_ns() - begin_ns < 500000)
			fault("timer", "pause has ended without a signal", errno);
	}
	return NULL;
}

/*
 * Installs handlers that count signals that nobody should have sent. Blocks the signals that only
 * the threads waiting for them may receive.
 */
static void watch_signals(void)
{
	static const int odd[] = {SIGTRAP, SIGCONT, SIGUSR1, SIGHUP, SIGURG, SIGIO};
	sigset_t set;

	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		signal(odd[i], note_odd);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigaddset(&set, SIGUSR2);
	/*
	 * Also block SIGCHLD: while the process is traced, the kernel delivers even ignored
	 * signals. A SIGCHLD could then end the wait of any thread that does not block it.
	 */
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

#define CNT(list) (sizeof(list) / sizeof(*(list)))

static void start_all(const char *variant, int sleepers)
{
	if (strcmp(variant, "loners")) {
		sleeping_child = fork();
		if (!sleeping_child) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pause();
			_exit(0);
		}
	}
	start_waiters(waiters, CNT(waiters));
	if (!strcmp(variant, "loners"))
		start_waiters(loners, CNT(loners));
	if (!strcmp(variant, "family"))
		start_waiters(family, CNT(family));
	if (!strcmp(variant, "walls"))
		start_waiters(walls, CNT(walls));
	start_thread(run_timer, NULL);
	for (int i = 0; i < sleepers; i++)
		start_thread(sleep_long, NULL);
}

/*
 * Waits up to 10 s for each thread's number of turns to increase, and records a failure for each
 * thread that hangs in its wait. Ignores threads that wait endlessly.
 */
static void check_turns(struct waiter *list, size_t cnt)
{
	unsigned long before[64];

	for (size_t i = 0; i < cnt; i++)
		before[i] = list[i].turns;
	for (int tries = 0; tries < 100; tries++) {
		bool all = true;

		nanosleep(&(struct timespec){0, 100 * MS}, NULL);
		for (size_t i = 0; i < cnt; i++)
			all &= list[i].endless || list[i].turns != before[i];
		if (all)
			return;
	}
	for (size_t i = 0; i < cnt; i++)
		if (!list[i].endless && list[i].turns == before[i])
			fault(list[i].name, "it hangs", 0);
}

static void check_children(const char *variant)
{
	int status;

	if (!strcmp(variant, "loners"))
		return;
	/* No child may have ended, since the only child sleeps. */
	if (!strcmp(variant, "walls") && wait4(-1, &status, WNOHANG | __WALL, NULL))
		fault("children", "there is one more", 0);
}

/* The value of `ticks`, read at some time between before_ns and after_ns. */
struct moment {
	uint64_t before_ns;
	unsigned long ticks;
	uint64_t after_ns;
};

static struct moment moment_now(void)
{
	struct moment moment;

	moment.before_ns = now_ns();
	moment.ticks = ticks;
	moment.after_ns = now_ns();
	return moment;
}

/*
 * Checks that one tick per millisecond has arrived. Allows a difference of 200 ticks, since several
 * may arrive together, a bit late.
 */
static void check_ticks(struct moment begin, struct moment end)
{
	unsigned long least = (end.before_ns - begin.after_ns) / MS;
	unsigned long most = (end.after_ns - begin.before_ns) / MS;
	unsigned long seen = end.ticks - begin.ticks;

	if (seen + 200 >= least && seen <= most + 200)
		return;
	printf("fault: %lu ticks of a timer in %lu to %lu ms\n", seen, least, most);
	faults++;
}

int main(int argc, char **argv)
{
	const char *variant = argc > 1 ? argv[1] : "loners";
	struct moment begin;
	char byte;

	setvbuf(stdout, NULL, _IOLBF, 0);
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	messages = msgget(IPC_PRIVATE, 0600);
	watch_signals();
	start_all(variant, argc > 2 ? atoi(argv[2]) : 0);
	nanosleep(&(struct timespec){0, 50 * MS}, NULL);
	begin = moment_now();
	printf("ready\n");
	fflush(stdout);
	while (read(0, &byte, 1) < 0 && errno == EINTR)
		fault("main", "read was interrupted", errno);
	check_ticks(begin, moment_now());
	check_turns(waiters, CNT(waiters));
	if (!strcmp(variant, "loners"))
		check_turns(loners, CNT(loners));
	if (!strcmp(variant, "family"))
		check_turns(family, CNT(family));
	check_children(variant);
	if (odd_signals)
		printf("fault: %lu signals that nobody sent\n", odd_signals), faults++;
	ending = true;
	semctl(semaphores, 0, IPC_RMID);
	msgctl(messages, IPC_RMID, NULL);
	if (sleeping_child)
		kill(sleeping_child, SIGKILL);
	if (!faults)
		printf("unharmed\n");
	fflush(stdout);
	_exit(faults ? 1 : 0);
}
