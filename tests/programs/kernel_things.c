// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Things (see kernel_things.h) for which the kernel allocates slab objects. Also functions that
 * enter a new IPC or network namespace. The kernel frees the objects of a namespace when it ends.
 */
#include <fcntl.h>
#include <linux/keyctl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include "kernel_things.h"

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	must(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), path);
	close(fd);
}

void enter_own_ipc(void)
{
	static int entered;

	if (!entered++ && unshare(CLONE_NEWIPC))
		missing("IPC namespaces");
}

void enter_own_net(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd;

	if (unshare(CLONE_NEWNET))
		missing("network namespaces");
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	must(fd >= 0 && !ioctl(fd, SIOCSIFFLAGS, &lo), "lo is up");
	close(fd);
}

/* SysV messages of SIZE bytes, after the kernel's header of 48 bytes. */

#define MSG_HEADER 48

static int queue;
static __thread struct message {
	long type;
	char text[65536];
} message;

static void messages_init(int cnt, int size)
{
	enter_own_ipc();
	write_file("/proc/sys/kernel/msgmnb", "1000000000");
	write_file("/proc/sys/kernel/msgmax", "1000000");
	queue = msgget(IPC_PRIVATE, 0600);
	if (queue < 0)
		missing("SysV messages");
}

static void messages_make(int i, int size)
{
	message.type = 1;
	must(!msgsnd(queue, &message, size, IPC_NOWAIT), "msgsnd");
}

static void messages_drop(int i, int size)
{
	must(msgrcv(queue, &message, size, 0, IPC_NOWAIT) == size, "msgrcv");
}

static long messages_bytes(int size)
{
	long bytes = 8;

	while (bytes < size + MSG_HEADER)
		bytes *= 2;
	return bytes;
}

/* Eventfds, timerfds, and watches of epoll. */

static struct handles watched, events, timers;
static int epoll;

static void watches_init(int cnt, int size)
{
	epoll = epoll_create1(EPOLL_CLOEXEC);
	handles_init(&watched, cnt);
	for (int i = 0; i < cnt; i++)
		must((watched.at[i] = eventfd(0, EFD_CLOEXEC)) >= 0, "eventfd");
}

static void watches_make(int i, int size)
{
	struct epoll_event event = {.events = EPOLLIN};

	must(!epoll_ctl(epoll, EPOLL_CTL_ADD, watched.at[i], &event), "EPOLL_CTL_ADD");
}

static void watches_drop(int i, int size)
{
	must(!epoll_ctl(epoll, EPOLL_CTL_DEL, watched.at[i], NULL), "EPOLL_CTL_DEL");
}

static void eventfds_init(int cnt, int size)
{
	handles_init(&events, cnt);
}

static void eventfds_make(int i, int size)
{
	must((events.at[i] = eventfd(0, EFD_CLOEXEC)) >= 0, "eventfd");
}

static void eventfds_drop(int i, int size)
{
	close(events.at[i]);
}

static long eventfds_bytes(int size)
{
	return 64;
}

static void timerfds_init(int cnt, int size)
{
	handles_init(&timers, cnt);
}

static void timerfds_make(int i, int size)
{
	must((timers.at[i] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)) >= 0, "timerfd");
}

static void timerfds_drop(int i, int size)
{
	close(timers.at[i]);
}

/* Keys with SIZE bytes of payload, after a header of 24 bytes. */

#define KEY_HEADER 24

static struct handles keys;

static void keys_init(int cnt, int size)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0)
		missing("keyrings");
	handles_init(&keys, cnt);
}

static void keys_make(int i, int size)
{
	static const char payload[32000];
	char name[32];

	snprintf(name, sizeof(name), "memleak-test-%d", i);
	keys.at[i] = syscall(SYS_add_key, "user", name, payload, size, KEY_SPEC_SESSION_KEYRING);
	must(keys.at[i] >= 0, "add_key");
}

static void keys_drop(int i, int size)
{
	must(!syscall(SYS_keyctl, KEYCTL_UNLINK, keys.at[i], KEY_SPEC_SESSION_KEYRING), "unlink");
}

static long keys_bytes(int size)
{
	return size + KEY_HEADER;
}

/*
 * Datagrams queued in sockets. The kernel allocates SIZE bytes, rounded up to a multiple of 64, and
 * 320 bytes of its own. datagrams_bytes() is right only for multiples of 64.
 */

#define QUEUED 8

static struct handles ends[2];

static void datagrams_init(int cnt, int size)
{
	handles_init(&ends[0], cnt / QUEUED + 1);
	handles_init(&ends[1], cnt / QUEUED + 1);
	for (int i = 0; i <= cnt / QUEUED; i++) {
		int fds[2];

		must(!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds),
		     "socketpair");
		ends[0].at[i] = fds[0];
		ends[1].at[i] = fds[1];
	}
}

static void datagrams_make(int i, int size)
{
	char data[4096] = {0};

	must(send(ends[0].at[i / QUEUED], data, size, 0) == size, "send");
}

static void datagrams_drop(int i, int size)
{
	char data[4096];

	must(recv(ends[1].at[i / QUEUED], data, size, 0) == size, "recv");
}

static long datagrams_bytes(int size)
{
	return size + 320;
}

/*
 * With the default sizes, SIZE plus the kernel's 48, 24 or 320 bytes is a power of two, so that
 * requested and allocated sizes are equal.
 */
const struct thing slab_things[] = {
	{"messages", "slab", 464, messages_init, messages_make, messages_drop, messages_bytes,
	 NULL},
	{"watches", "slab", 0, watches_init, watches_make, watches_drop, NULL, NULL},
	{"eventfds", "slab", 0, eventfds_init, eventfds_make, eventfds_drop, eventfds_bytes, NULL},
	{"timerfds", "slab", 0, timerfds_init, timerfds_make, timerfds_drop, NULL, NULL},
	{"keys", "slab", 488, keys_init, keys_make, keys_drop, keys_bytes, NULL},
	{"datagrams", "slab", 1728, datagrams_init, datagrams_make, datagrams_drop,
	 datagrams_bytes, NULL},
	{0},
};
