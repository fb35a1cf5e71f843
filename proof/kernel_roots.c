// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lists the descriptors of epoll instances (proc(5), "eventpoll") and io_urings of a process, and
 * passes their files in /proc/PID/fdinfo to a helper process, which reads them.
 */
#include "proof/kernel_roots.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fair_lock.h"
#include "base/limited_call.h"
#include "base/proc.h"
#include "base/test_knobs.h"
#include "helper/call.h"

/* Maximum time, in nanoseconds, that the helper may take for the files of a process. */
#define READ_NS 2000000000ULL
/* Maximum number of different epoll instances and io_urings of a process. */
#define FILES_MAX 4096
/* Maximum number of helpers that hang. If more hang, no helper is started any more. */
#define HUNG_MAX 16

#define LINK_BYTES 32

struct kernel_fd {
	int fd;
	enum kernel_file kind;
};

/* The descriptors of a process; also its timers, which cannot block a reader. */
struct listing {
	pid_t tid; /* a living thread of the process */
	struct kernel_fd *items;
	size_t cnt;
	size_t cap;
	size_t max; /* maximum of timers.cnt */
	struct kernel_words timers;
};

/*
 * Compares the files of two descriptors by their addresses in the kernel, which kcmp() hides but
 * orders. If they cannot be compared, they count as different.
 */
static int compare(pid_t tid, int a, int b)
{
	long order = syscall(SYS_kcmp, tid, tid, KCMP_FILE, a, b);

	return order == 0 ? 0 : order == 1 ? -1 : 1;
}

/* Adds a descriptor, unless the list has a descriptor of the same file. */
static int add_fd(struct listing *listing, int fd, enum kernel_file kind)
{
	size_t low = 0, high = listing->cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare(listing->tid, fd, listing->items[middle].fd);

		if (!order)
			return 0;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	if (listing->cnt >= FILES_MAX)
		return -E2BIG;
	if (array_reserve(&listing->items, &listing->cap, listing->cnt + 1))
		return -ENOMEM;
	array_open(listing->items, listing->cnt, low);
	listing->items[low] = (struct kernel_fd){fd, kind};
	listing->cnt++;
	return 0;
}

/* Adds a descriptor if its link in /proc/PID/fd shows an epoll instance or an io_uring. */
static int add_entry(struct listing *listing, int dir_fd, const char *name)
{
	static const char *const links[] = {
		[KERNEL_FILE_EPOLL] = "anon_inode:[eventpoll]",
		[KERNEL_FILE_URING] = "anon_inode:[io_uring]",
	};
	char link[LINK_BYTES];
	ssize_t len = readlinkat(dir_fd, name, link, sizeof(link) - 1);

	if (len <= 0)
		return 0;
	link[len] = '\0';
	for (enum kernel_file kind = 0; kind < sizeof(links) / sizeof(links[0]); kind++)
		if (!strcmp(link, links[kind]))
			return add_fd(listing, (int)strtol(name, NULL, 10), kind);
	return 0;
}

/* Reads /proc/PID/timers, which only kernels with CONFIG_CHECKPOINT_RESTORE have. */
static int read_timers(struct listing *listing)
{
	cleanup_close int fd = proc_open(listing->tid, "timers", O_RDONLY);

	return fd < 0 ? 0
		      : kernel_words_read(fd, KERNEL_FILE_TIMERS, listing->max, &listing->timers);
}

static int list(int unused, void *data)
{
	struct listing *listing = data;
	cleanup_close int fd = proc_open(listing->tid, "fd", O_RDONLY | O_DIRECTORY);
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	(void)unused;
	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir)
		return -errno;
	fd = -1;
	while (!err && (entry = readdir(dir)))
		err = add_entry(listing, dirfd(dir), entry->d_name);
	closedir(dir);
	return err ? err : read_timers(listing);
}

static void drop(int unused, void *data)
{
	struct listing *listing = data;

	(void)unused;
	free(listing->items);
	free(listing->timers.items);
}

/* Lists the descriptors. May block in kcmp() while the process executes another program. */
static int list_limited(pid_t pid, struct listing *listing)
{
	static const struct limited_function function = {list, drop, sizeof(*listing)};
	int err;

	fair_lock_release();
	listing->tid = proc_living_thread(pid);
	err = limited_call(pid, -1, &function, listing);
	fair_lock_acquire();
	return err == -EAGAIN || err == -E2BIG ? -ENODATA : err;
}

/* In the helper: replies with the user data in a file. */
static int handle(void *unused, struct message *request, struct message *reply)
{
	struct message_cursor cursor = message_read(request);
	enum kernel_file kind = message_get_u32(&cursor);
	size_t max = message_get_u64(&cursor);
	struct kernel_words words = {0};
	int err;

	(void)unused;
	if (cursor.bad || request->fd < 0)
		return -EPROTO;
	err = kernel_words_read(request->fd, kind, max, &words);
	message_put_u32(reply, (uint32_t)-err);
	message_put_bytes(reply, words.items, words.cnt * sizeof(*words.items));
	free(words.items);
	return 0;
}

static void serve(int sock)
{
	helper_serve(sock, handle, NULL);
}

static const struct helper_kind reader_kind = {
	.name = "fdinfo reader",
	.rights = HELPER_DROPS_RIGHTS,
	.work = serve,
};
HELPER_KIND(reader_kind);

static struct helper reader = HELPER_INIT(&reader_kind);
static unsigned int hung_cnt; /* number of helpers that have hung */

struct reading {
	struct kernel_words *words;
	size_t max;
	int status; /* 0 or a negative errno of the helper */
};

static int take(void *arg, struct message *answer)
{
	struct message_cursor cursor = message_read(answer);
	struct reading *reading = arg;
	struct kernel_words *words = reading->words;
	const void *items;
	uint32_t status;
	size_t cnt;

	status = message_get_u32(&cursor);
	reading->status = -(int)status;
	cnt = (size_t)(cursor.end - cursor.at) / sizeof(*words->items);
	items = message_get_bytes(&cursor, cnt * sizeof(*words->items));
	if (cursor.bad || cursor.at != cursor.end || status > 4095 ||
	    cnt > reading->max - words->cnt)
		return -EPROTO;
	if (array_reserve(&words->items, &words->cap, words->cnt + cnt + 1))
		reading->status = -ENOMEM;
	else
		memcpy(words->items + words->cnt, items, cnt * sizeof(*words->items));
	words->cnt += reading->status ? 0 : cnt;
	return 0;
}

/*
 * Ends the helper, which has not answered. Returns -ETIMEDOUT if it hangs, and -EAGAIN if it only
 * waits for a processor or if memleak stopped waiting early.
 */
static int give_up(uint64_t deadline_ns)
{
	bool hangs = !clock_left_ms(deadline_ns) && !helper_is_runnable(&reader);

	hung_cnt += hangs;
	helper_stop(&reader, 0);
	return hangs ? -ETIMEDOUT : -EAGAIN;
}

/* Adds the user data of a file. Ignores a file that the process has closed. */
static int read_file(pid_t pid, const struct kernel_fd *file, uint64_t deadline_ns,
		     struct reading *reading)
{
	char name[sizeof("fdinfo/") + 16];
	struct message request = {.fd = -1};
	cleanup_close int fd = -1;
	int err;

	snprintf(name, sizeof(name), "fdinfo/%d", file->fd);
	fd = proc_open(pid, name, O_RDONLY);
	if (fd < 0)
		return fd == -ENOENT ? 0 : -ENODATA;
	request.fd = fd;
	message_put_u32(&request, file->kind);
	message_put_u64(&request, reading->max - reading->words->cnt);
	err = helper_send(&reader, &request, deadline_ns);
	message_deinit(&request);
	if (!err)
		err = helper_take_unless_ended(&reader, deadline_ns, take, reading);
	if (err == -ETIMEDOUT || err == -EINTR)
		return give_up(deadline_ns);
	if (err)
		return -ENODATA;
	return reading->status == -ENOENT || !reading->status ? 0 : -ENODATA;
}

int kernel_roots_read(pid_t pid, size_t max, struct kernel_words *ret)
{
	struct listing listing = {.max = max};
	uint64_t deadline_ns;
	int err = list_limited(pid, &listing);

	*ret = listing.timers;
	deadline_ns = clock_deadline_ns(patient_ns(READ_NS));
	if (!err && listing.cnt && hung_cnt >= HUNG_MAX)
		err = -ENODATA;
	for (size_t i = 0; !err && i < listing.cnt; i++)
		err = read_file(pid, &listing.items[i], deadline_ns,
				&(struct reading){.words = ret, .max = max});
	free(listing.items);
	return err;
}

void kernel_roots_end(void)
{
	helper_deinit(&reader, HELPER_GRACE_MS);
}
