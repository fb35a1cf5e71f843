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

/* Size of one read, in bytes. Most files in /proc are smaller. */
#define READ_BYTES 4096

/* Size in bytes of the buffer for the file name that proc_open_limited() opens. */
#define OPEN_NAME_MAX 96

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
 * Also checks that the process has memory: kcmp() returns 0 for two ended processes, since neither
 * has memory.
 */
bool proc_share_memory(pid_t pid, pid_t other)
{
	return syscall(SYS_kcmp, pid, other, KCMP_VM, 0, 0) == 0 && proc_shows_memory(pid);
}

/*
 * True for files that are read in the main thread's folder even if the main thread has ended: the
 * process's name (comm) and the files of its threads (task/).
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

struct open_data {
	char name[OPEN_NAME_MAX];
	int flags;
};

static int run_open(int dir_fd, void *data)
{
	const struct open_data *open_data = data;
	int fd = openat(dir_fd, open_data->name, open_data->flags | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static void drop_open(int result, void *data)
{
	(void)data;
	if (result >= 0)
		close(result);
}

int proc_open_limited(pid_t pid, int dir_fd, const char *name, int flags)
{
	static const struct limited_function function = {run_open, drop_open,
							 sizeof(struct open_data)};
	struct open_data data = {.flags = flags};

	if (strlen(name) >= sizeof(data.name))
		return -ENAMETOOLONG;
	strcpy(data.name, name);
	return limited_call(pid, dir_fd, &function, &data);
}

static int run_read(int fd, void *data)
{
	struct proc_text *text = data;
	ssize_t len = pread(fd, text->bytes, sizeof(text->bytes) - 1, 0);

	return len < 0 ? -errno : (int)len;
}

int proc_read_limited(pid_t pid, int fd, struct proc_text *ret)
{
	static const struct limited_function function = {.run = run_read, .size = sizeof(*ret)};

	memset(ret, 0, sizeof(*ret));
	return limited_call(pid, fd, &function, ret);
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
 * Reads /proc/PID/stat into *ret, which the caller must free. Returns a pointer to the third field
 * in *ret; NULL if the file cannot be read.
 */
static const char *read_stat(pid_t pid, char **ret)
{
	const char *name_end;

	if (proc_read(pid, "stat", ret))
		return NULL;
	/* The process's name ends at the last ")": the name may contain parentheses. */
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
