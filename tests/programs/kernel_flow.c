// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kernel_flow WHAT [COUNT [THREADS]]: makes the kernel allocate and free memory. Each phase does
 * the same, and leaves no memory allocated, except where the list says otherwise.
 *
 *	messages    sends and receives messages, with one queue per thread; also calls malloc() and
 *	            free(), which are traced, too, and must not hide frees in the kernel
 *	watches     adds and removes a watch of epoll, which is freed after an RCU grace period
 *	timerfds    creates and closes timerfds, which are freed in bulk, without an event
 *	options     sets IP options again and again; the old ones are freed in bulk
 *	fragments   sends datagrams of many fragments over lo; their buffers are freed in bulk
 *	children    makes connections that nobody accepts; the kernel allocates their sockets in
 *	            interrupts; connections of the first phase stay open until the second phase
 *	packets     sends datagrams both ways through a veth pair between two network namespaces
 *	child       a child of the process sends messages; the process itself sends none
 *	exec        sends messages to its own queue, then executes another program; the messages
 *	            stay in the queue
 *	receive     makes a queue, and empties it in each phase
 *	send        COUNT is the pid of a `kernel_flow receive`: each phase puts ten messages into
 *	            its queue
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "kernel_things.h"

#define MESSAGE 464
#define SENT 10
#define KEY 0x6d656d6c

static int cnt = 1000, thread_cnt = 1;

struct message {
	long type;
	char text[MESSAGE];
};

OWN_FRAME static void *churn_block(void)
{
	return keep(malloc(64)); /* LEAK */
}

static void *messages_thread(void *arg)
{
	struct message message = {.type = 1};
	int queue = msgget(IPC_PRIVATE, 0600);

	must(queue >= 0, "msgget");
	for (int i = 0; i < cnt; i++) {
		void *block = churn_block();

		must(!msgsnd(queue, &message, MESSAGE, 0), "msgsnd");
		free(block);
		must(msgrcv(queue, &message, MESSAGE, 1, 0) == MESSAGE, "msgrcv");
	}
	msgctl(queue, IPC_RMID, NULL);
	return NULL;
}

static void messages(int phase)
{
	pthread_t threads[64];

	if (phase < 0)
		enter_own_ipc();
	for (int i = 0; i < thread_cnt; i++)
		must(!pthread_create(&threads[i], NULL, messages_thread, NULL), "thread");
	for (int i = 0; i < thread_cnt; i++)
		pthread_join(threads[i], NULL);
}

static void watches(int phase)
{
	static int epoll, fd;
	struct epoll_event event = {.events = EPOLLIN};

	if (phase < 0) {
		epoll = epoll_create1(EPOLL_CLOEXEC);
		fd = eventfd(0, EFD_CLOEXEC);
	}
	for (int i = 0; i < cnt; i++) {
		must(!epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), "EPOLL_CTL_ADD");
		must(!epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL), "EPOLL_CTL_DEL");
	}
}

static void timerfds(int phase)
{
	for (int i = 0; i < cnt; i++) {
		int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

		must(fd >= 0, "timerfd_create");
		close(fd);
	}
}

static void options(int phase)
{
	const char nops[40] = {[0 ... 39] = 1};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	for (int i = 0; i < cnt; i++)
		must(!setsockopt(fd, IPPROTO_IP, IP_OPTIONS, nops, sizeof(nops)), "IP_OPTIONS");
	close(fd);
}

static int bound_socket(int type, struct sockaddr_in *ret)
{
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(*ret);

	*ret = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	must(fd >= 0 && !bind(fd, (struct sockaddr *)ret, len), "bind");
	must(!getsockname(fd, (struct sockaddr *)ret, &len), "getsockname");
	return fd;
}

static void lo_mtu(int mtu)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_mtu = mtu};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	must(!ioctl(fd, SIOCSIFMTU, &lo), "MTU of lo");
	close(fd);
}

static void fragments(int phase)
{
	static char data[50000];
	static struct sockaddr_in to;
	static int in, out;

	if (phase < 0) {
		enter_own_net();
		lo_mtu(1500);
		in = bound_socket(SOCK_DGRAM, &to);
		out = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	}
	for (int i = 0; i < cnt; i++) {
		must(sendto(out, data, sizeof(data), 0, (struct sockaddr *)&to, sizeof(to)) ==
			     sizeof(data), "sendto");
		must(recv(in, data, sizeof(data), 0) == sizeof(data), "recv");
	}
}

/* Closes the connections by a reset, so that no socket stays in TIME_WAIT for a minute. */
static void hang_up(int *fds)
{
	struct linger linger = {.l_onoff = 1};

	for (int i = 0; i < cnt; i++) {
		setsockopt(fds[i], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
		close(fds[i]);
	}
}

static void children(int phase)
{
	static int fds[4096], server = -1;
	struct sockaddr_in to;

	must(cnt <= 4096, "number of connections");
	if (phase < 0)
		enter_own_net();
	if (phase == 1) {
		hang_up(fds);
		close(server);
		return;
	}
	server = bound_socket(SOCK_STREAM, &to);
	must(!listen(server, cnt), "listen");
	for (int i = 0; i < cnt; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		must(!connect(fds[i], (struct sockaddr *)&to, sizeof(to)), "connect");
	}
	if (phase < 0) {
		hang_up(fds);
		close(server);
	}
}

static int net_of(int pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	must(fd >= 0, "network namespace");
	return fd;
}

/* Starts a process that stays in a network namespace of its own. Returns its pid. */
static int start_neighbour(void)
{
	int done[2], pid;
	char byte;

	must(!pipe2(done, O_CLOEXEC), "pipe");
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		enter_own_net();
		write(done[1], "x", 1);
		pause();
		_exit(0);
	}
	must(pid > 0 && read(done[0], &byte, 1) == 1, "fork");
	close(done[0]);
	close(done[1]);
	return pid;
}

static int datagram_socket(const char *address)
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(7777)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	inet_pton(AF_INET, address, &here.sin_addr);
	must(fd >= 0 && !bind(fd, (struct sockaddr *)&here, sizeof(here)), "bind");
	return fd;
}

static void pair_of_interfaces(int *fds)
{
	char command[256];
	int pid, near, far;

	if (system("ip link show >/dev/null 2>&1"))
		missing("ip command");
	enter_own_net();
	pid = start_neighbour();
	near = net_of(getpid());
	far = net_of(pid);
	snprintf(command, sizeof(command),
		 "ip link add near type veth peer name far && ip link set far netns %d && "
		 "ip addr add 10.77.0.1/24 dev near && ip link set near up", pid);
	if (system(command))
		missing("veth interfaces");
	fds[0] = datagram_socket("10.77.0.1");
	must(!setns(far, CLONE_NEWNET), "setns");
	must(!system("ip addr add 10.77.0.2/24 dev far && ip link set far up"), "ip");
	fds[1] = datagram_socket("10.77.0.2");
	must(!setns(near, CLONE_NEWNET), "setns");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(near);
	close(far);
}

static void packets(int phase)
{
	static int fds[2];
	char data[600] = {0};

	if (phase < 0)
		pair_of_interfaces(fds);
	for (int way = 0; way < 2; way++) {
		struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(7777)};

		inet_pton(AF_INET, way ? "10.77.0.1" : "10.77.0.2", &to.sin_addr);
		for (int i = 0; i < cnt; i++) {
			sendto(fds[way], data, sizeof(data), 0, (struct sockaddr *)&to, sizeof(to));
			while (recv(fds[!way], data, sizeof(data), 0) > 0)
				continue;
		}
	}
}

static void receive(int phase)
{
	struct message message;
	int queue = phase < 0 ? -1 : msgget(KEY, 0600);

	if (phase < 0) {
		enter_own_ipc();
		must((queue = msgget(KEY, IPC_CREAT | 0600)) >= 0, "msgget");
	}
	while (msgrcv(queue, &message, MESSAGE, 0, IPC_NOWAIT) == MESSAGE)
		continue;
}

static void send_ten(void)
{
	struct message message = {.type = 1};
	int queue = msgget(KEY, 0600);

	for (int i = 0; i < SENT; i++)
		must(queue >= 0 && !msgsnd(queue, &message, MESSAGE, IPC_NOWAIT), "msgsnd");
}

static void send_messages(int phase)
{
	char path[64];
	int fd;

	if (phase < 0) {
		snprintf(path, sizeof(path), "/proc/%d/ns/ipc", cnt);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		must(fd >= 0 && !setns(fd, CLONE_NEWIPC), "IPC namespace of the peer");
		close(fd);
		return;
	}
	send_ten();
	say("kernel messages %d %d slab\n", SENT * (phase + 1),
	    SENT * (phase + 1) * 512);
}

static void child(int phase)
{
	int pid, status;

	receive(phase);
	if (phase < 0)
		return;
	pid = fork();
	if (!pid) {
		send_ten();
		_exit(0);
	}
	must(pid > 0 && waitpid(pid, &status, 0) == pid && !status, "fork");
}

static void nothing(int phase)
{
}

static void exec_holder(int phase)
{
	if (phase < 0)
		receive(phase);
	if (phase == 0)
		send_ten();
	if (phase == 1)
		execl("/proc/self/exe", "kernel_flow", "nothing", NULL);
}

static const struct {
	const char *name;
	/* called with phase -1 before tracing: sets up and runs one round */
	void (*round)(int phase);
} flows[] = {
	{"messages", messages}, {"watches", watches},	  {"timerfds", timerfds},
	{"options", options},	{"fragments", fragments}, {"children", children},
	{"receive", receive},	{"send", send_messages}, {"packets", packets},
	{"child", child},	{"exec", exec_holder},	  {"nothing", nothing},
};

int main(int argc, char **argv)
{
	void (*round)(int phase) = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(flows); i++)
		if (argc > 1 && !strcmp(argv[1], flows[i].name))
			round = flows[i].round;
	must(round != NULL, "name of a flow");
	cnt = argc > 2 ? atoi(argv[2]) : cnt;
	thread_cnt = argc > 3 ? atoi(argv[3]) : thread_cnt;
	must(thread_cnt > 0 && thread_cnt <= 64, "number of threads");
	for (volatile int phase = -1; phase < 3; phase++) {
		round(phase);
		ready();
	}
	return 0;
}
