// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads files in /proc/PID. */
#include "base/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/limited_call.h"
#include "base/number.h"

/* Size of one read, in bytes; larger than most files. */
#define READ_BYTES 4096

#define NSEC_PER_SEC UINT64_C(1000000000)

bool proc_shows_memory(pid_t tid)
{
	char path[64], target;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)tid);
	return readlink(path, &target, 1) > 0 || errno != ENOENT;
}

pid_t proc_living_thread(pid_t pid)
{
	struct dirent *entry;
	char path[64];
	pid_t ret = pid;
	DIR *dir;

	if (proc_shows_memory(pid))
		return pid;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return pid;
	while (ret == pid && (entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && tid != pid && proc_shows_memory(tid))
			ret = tid;
	}
	closedir(dir);
	return ret;
}

int proc_visit(int (*visit)(void *arg, pid_t pid), void *arg)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int err = proc ? 0 : -errno;

	while (!err && (entry = readdir(proc))) {
		uint64_t pid;

		if (number_parse(entry->d_name, 1, INT_MAX, &pid) == 0)
			err = visit(arg, (pid_t)pid);
	}
	if (proc)
		closedir(proc);
	return err;
}

/*
 * Also checks that the process has memory: two ended processes compare equal, since neither has
 * any.
 */
bool proc_share_memory(pid_t pid, pid_t other)
{
	return syscall(SYS_kcmp, pid, other, KCMP_VM, 0, 0) == 0 && proc_shows_memory(pid);
}

/*
 * True for files that are read in the main thread's folder, even after that thread has ended: the
 * process's name (comm) and its threads (task/).
 */
static bool is_main_thread_s(const char *name)
{
	return !strcmp(name, "comm") || !strncmp(name, "task/", strlen("task/"));
}

int proc_open(pid_t pid, const char *name, int flags)
{
	cleanup_free char *path = NULL;
	pid_t tid = is_main_thread_s(name) ? pid : proc_living_thread(pid);
	int fd;

	if (asprintf(&path, "/proc/%d/%s", (int)tid, name) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int proc_read_fd(int fd, char **ret, size_t *ret_len)
{
	cleanup_free char *text = NULL;
	size_t len = 0, cap = 0;
	ssize_t got;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	do {
		if (array_reserve(&text, &cap, len + READ_BYTES))
			return -ENOMEM;
		got = read(fd, text + len, cap - len - 1);
		if (got > 0)
			len += (size_t)got;
		else if (got < 0 && errno != EINTR && errno != ESRCH)
			return -errno;
	} while (got > 0 || (got < 0 && errno == EINTR));
	text[len] = '\0';
	*ret = text;
	text = NULL;
	if (ret_len)
		*ret_len = len;
	return 0;
}

/* An access that may block. Has its own copies of all data, since its caller may give up. */
struct access {
	int fd;      /* descriptor to read from, or of a directory; closed with the access */
	int result;  /* return value: a descriptor, a number of bytes, or a negative errno */
	int flags;   /* open: flags of openat() */
	size_t len;  /* read: size of `text` */
	char text[]; /* open: name of the file; read: bytes that were read */
};

static struct access *new_access(int fd, size_t len)
{
	struct access *access = calloc(1, sizeof(*access) + len);

	if (!access)
		return NULL;
	access->fd = fd == AT_FDCWD ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	access->len = len;
	return access;
}

static void free_access(struct access *access)
{
	if (access->fd >= 0)
		close(access->fd);
	free(access);
}

static void run_open(void *arg)
{
	struct access *access = arg;

	access->result = openat(access->fd, access->text, access->flags | O_CLOEXEC);
	if (access->result < 0)
		access->result = -errno;
}

static void drop_open(void *arg)
{
	struct access *access = arg;

	if (access->result >= 0)
		close(access->result);
	free_access(access);
}

int proc_open_limited(pid_t pid, int dir_fd, const char *name, int flags)
{
	struct access *access = new_access(dir_fd, strlen(name) + 1);
	int ret;

	if (!access)
		return -ENOMEM;
	strcpy(access->text, name);
	access->flags = flags;
	access->result = -EBUSY; /* for drop_open(), if the file is not opened */
	ret = limited_call(pid, run_open, drop_open, access);
	if (ret)
		return ret;
	ret = access->result;
	free_access(access);
	return ret;
}

static void run_pread(void *arg)
{
	struct access *access = arg;

	access->result = (int)pread(access->fd, access->text, access->len, 0);
	if (access->result < 0)
		access->result = -errno;
}

static void drop_pread(void *arg)
{
	free_access(arg);
}

ssize_t proc_pread_limited(pid_t pid, int fd, char *buf, size_t len)
{
	struct access *access = new_access(fd, len);
	int ret;

	if (!access)
		return -ENOMEM;
	ret = limited_call(pid, run_pread, drop_pread, access);
	if (ret)
		return ret;
	ret = access->result;
	if (ret > 0)
		memcpy(buf, access->text, (size_t)ret);
	free_access(access);
	return ret;
}

const char *proc_error(int err)
{
	bool is_locked = err == -ETIMEDOUT || err == -EBUSY;

	return is_locked ? "it keeps its memory map locked" : strerror(-err);
}

int proc_read(pid_t pid, const char *name, char **ret)
{
	cleanup_close int fd = proc_open(pid, name, O_RDONLY);

	return fd < 0 ? fd : proc_read_fd(fd, ret, NULL);
}

static char *read_comm(pid_t pid, const char *name)
{
	char *comm;
	size_t len;

	if (proc_read(pid, name, &comm))
		return NULL;
	len = strlen(comm);
	if (!len) {
		free(comm);
		return NULL;
	}
	/* drop the final newline, which the kernel appends; other newlines are part of the name */
	comm[len - 1] = '\0';
	return comm;
}

char *proc_comm(pid_t pid)
{
	return read_comm(pid, "comm");
}

char *proc_thread_comm(pid_t pid, pid_t tid)
{
	char name[64];

	snprintf(name, sizeof(name), "task/%d/comm", (int)tid);
	return read_comm(pid, name);
}

/*
 * Reads the line about a process in /proc/PID/stat. Returns its fields from the third on, which
 * point into *ret; NULL if they cannot be read. The caller must free *ret.
 */
static const char *read_stat(pid_t pid, char **ret)
{
	const char *name_end;

	if (proc_read(pid, "stat", ret))
		return NULL;
	/* Search for the last ")": the name, which may itself contain parentheses, ends there. */
	name_end = strrchr(*ret, ')');
	return name_end ? name_end + 1 : NULL;
}

static uint64_t ticks_ns(uint64_t ticks)
{
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);

	return ticks / hz * NSEC_PER_SEC + ticks % hz * NSEC_PER_SEC / hz;
}

uint64_t proc_cpu_ns(pid_t pid)
{
	cleanup_free char *stat = NULL;
	const char *fields = read_stat(pid, &stat);
	uint64_t ticks[4];

	if (!fields || sscanf(fields,
			      "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64 " %" SCNu64
			      " %" SCNu64 " %" SCNu64,
			      &ticks[0], &ticks[1], &ticks[2], &ticks[3]) != 4)
		return 0;
	return ticks_ns(ticks[0] + ticks[1] + ticks[2] + ticks[3]);
}

uint64_t proc_age_ns(pid_t pid)
{
	cleanup_free char *stat = NULL;
	const char *fields = read_stat(pid, &stat);
	uint64_t begin;

	if (!fields || sscanf(fields,
			      "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			      "%*s %*s %*s %" SCNu64,
			      &begin) != 1)
		return UINT64_MAX;
	return clock_ns(CLOCK_BOOTTIME) - ticks_ns(begin);
}

uint64_t proc_delay_ns(pid_t pid)
{
	cleanup_free char *text = NULL;
	uint64_t delay_ns;

	if (proc_read(pid, "schedstat", &text) || sscanf(text, "%*s %" SCNu64, &delay_ns) != 1)
		return 0;
	return delay_ns;
}

/* A process cannot fake a field through its name: the kernel escapes newlines in the name. */
const char *proc_status_field(const char *status, const char *field)
{
	size_t len = strlen(field);

	for (const char *line = status, *end; line; line = end ? end + 1 : NULL) {
		if (!strncmp(line, field, len) && line[len] == ':')
			return line + len + 1 + strspn(line + len + 1, " \t");
		end = strchr(line, '\n');
	}
	return NULL;
}

long proc_status_number(const char *status, const char *field)
{
	const char *at = proc_status_field(status, field);

	return at && is_digit(*at) ? strtol(at, NULL, 10) : -1;
}
