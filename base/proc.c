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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_id.h"
#include "base/limited_call.h"
#include "base/number.h"
#include "base/regular_file.h"

/* Size of one read, in bytes. Most files in /proc are smaller. */
#define READ_BYTES 4096

/* Size in bytes of the buffer for the name of a file of /proc. */
#define NAME_BYTES 96

/* Maximum number of threads with which one limited call compares a process. */
#define COMPARED_MAX 256

#define NSEC_PER_SEC UINT64_C(1000000000)

/* The file "statm" begins with the number of pages, 0 without memory. Reading it takes no lock. */
bool proc_shows_memory(pid_t tid)
{
	cleanup_close int fd = -1;
	char path[32], pages[2];

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? errno != ENOENT
		      : read(fd, pages, sizeof(pages)) == sizeof(pages) && memcmp(pages, "0 ", 2);
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

struct comparison {
	pid_t pid;
	pid_t tids[COMPARED_MAX];
	size_t cnt;
};

/* Returns the index of the first thread that uses the memory of the process, or cnt. */
static int run_kcmp(int fd, void *data)
{
	const struct comparison *compared = data;
	size_t i = 0;

	(void)fd;
	while (i < compared->cnt &&
	       syscall(SYS_kcmp, compared->pid, compared->tids[i], KCMP_VM, 0, 0) != 0)
		i++;
	return (int)i;
}

/* kcmp() waits while either process is in exec. */
size_t proc_find_memory(pid_t pid, const pid_t *tids, size_t cnt)
{
	static const struct limited_function function = {.run = run_kcmp,
							 .size = sizeof(struct comparison)};
	struct comparison part = {.pid = pid};
	int found;

	for (size_t at = 0; at < cnt; at += part.cnt) {
		part.cnt = cnt - at < COMPARED_MAX ? cnt - at : COMPARED_MAX;
		memcpy(part.tids, &tids[at], part.cnt * sizeof(*tids));
		found = limited_call(pid, -1, &function, &part);
		if (found < 0)
			return cnt;
		if ((size_t)found < part.cnt)
			return at + (size_t)found;
	}
	return cnt;
}

/*
 * Compares the process with itself: if it is this process that keeps kcmp() waiting, that must not
 * be held against processes that are compared with it.
 */
pid_t proc_memory_thread(pid_t pid)
{
	pid_t tid = proc_living_thread(pid);

	return proc_find_memory(tid, &tid, 1) == 0 ? tid : 0;
}

/* Checks last that the process has memory: kcmp() returns 0 for two ended processes. */
bool proc_share_memory(pid_t pid, pid_t other)
{
	pid_t tid = proc_memory_thread(pid);

	return tid && proc_find_memory(other, &tid, 1) == 0 && proc_shows_memory(tid);
}

/*
 * True for files that are read in the main thread's folder even if the main thread has ended: the
 * process's name (comm) and the files of its threads (task/).
 */
static bool is_main_thread_s(const char *name)
{
	return !strcmp(name, "comm") || !strncmp(name, "task/", strlen("task/"));
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

/* Data of a limited call for a file below /proc/PID. */
struct request {
	char name[NAME_BYTES];
	int flags;             /* of open() */
	char *text;            /* result of run_read() */
	struct stat st;        /* result of run_stat() */
	char target[PATH_MAX]; /* result of run_readlink() */
};

/*
 * Finds the name of a file for a limited call. dir_fd: the folder of the file, or -1 for that of
 * the process. Returns the folder for the call, or -ENAMETOOLONG.
 */
static int place(pid_t pid, int dir_fd, const char *name, struct request *ret)
{
	pid_t tid = dir_fd >= 0 || is_main_thread_s(name) ? pid : proc_living_thread(pid);
	int len = dir_fd >= 0
			  ? snprintf(ret->name, sizeof(ret->name), "%s", name)
			  : snprintf(ret->name, sizeof(ret->name), "/proc/%d/%s", (int)tid, name);

	if (len >= (int)sizeof(ret->name))
		return -ENAMETOOLONG;
	return dir_fd >= 0 ? dir_fd : AT_FDCWD;
}

/*
 * True if the kernel opens and reads a file of /proc/PID without waiting for the process, even if
 * the process keeps its memory map locked or is in exec. On recent kernels, "stat" waits, too.
 */
static bool never_waits(const char *name)
{
	static const char *const names[] = {"comm",   "status", "statm", "schedstat",
					    "cgroup", "timers", "fd",    "task"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return !strncmp(name, "fdinfo/", strlen("fdinfo/")) ||
	       !strncmp(name, "task/", strlen("task/"));
}

/* Makes a limited call for the file `name`, unless the kernel never waits for this file. */
static int call(pid_t pid, int dir_fd, const char *name, const struct limited_function *function,
		struct request *request)
{
	int at_fd = place(pid, dir_fd, name, request);

	if (at_fd == -ENAMETOOLONG)
		return at_fd;
	return never_waits(name) ? function->run(at_fd, request)
				 : limited_call(pid, at_fd, function, request);
}

static int run_open(int at_fd, void *data)
{
	const struct request *request = data;
	int fd = openat(at_fd, request->name, request->flags | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static void drop_open(int result, void *data)
{
	(void)data;
	if (result >= 0)
		close(result);
}

int proc_open_at(pid_t pid, int dir_fd, const char *name, int flags)
{
	static const struct limited_function function = {run_open, drop_open,
							 sizeof(struct request)};
	struct request request = {.flags = flags};

	return call(pid, dir_fd, name, &function, &request);
}

int proc_open(pid_t pid, const char *name, int flags)
{
	return proc_open_at(pid, -1, name, flags);
}

static int run_read(int at_fd, void *data)
{
	struct request *request = data;
	cleanup_close int fd = run_open(at_fd, data);

	return fd < 0 ? fd : proc_read_fd(fd, &request->text, NULL);
}

static void drop_read(int result, void *data)
{
	const struct request *request = data;

	if (!result)
		free(request->text);
}

int proc_read(pid_t pid, const char *name, char **ret)
{
	static const struct limited_function function = {run_read, drop_read,
							 sizeof(struct request)};
	struct request request = {.flags = O_RDONLY};
	int err = call(pid, -1, name, &function, &request);

	if (!err)
		*ret = request.text;
	return err;
}

static int run_readlink(int at_fd, void *data)
{
	struct request *request = data;
	ssize_t len =
		readlinkat(at_fd, request->name, request->target, sizeof(request->target) - 1);

	return len < 0 ? -errno : (int)len;
}

int proc_readlink(pid_t pid, int dir_fd, const char *name, char ret[PATH_MAX])
{
	static const struct limited_function function = {.run = run_readlink,
							 .size = sizeof(struct request)};
	struct request request = {0};
	int len = call(pid, dir_fd, name, &function, &request);

	if (len >= 0)
		strcpy(ret, request.target);
	return len;
}

static int run_stat(int at_fd, void *data)
{
	struct request *request = data;

	return file_stat_at(at_fd, request->name, &request->st);
}

int proc_stat_link(pid_t pid, int dir_fd, const char *name, struct stat *ret)
{
	static const struct limited_function function = {.run = run_stat,
							 .size = sizeof(struct request)};
	struct request request = {0};
	int err = call(pid, dir_fd, name, &function, &request);

	if (!err)
		*ret = request.st;
	return err;
}

static int run_read_text(int fd, void *data)
{
	struct proc_text *text = data;
	ssize_t len = pread(fd, text->bytes, sizeof(text->bytes) - 1, 0);

	return len < 0 ? -errno : (int)len;
}

int proc_read_limited(pid_t pid, int fd, struct proc_text *ret)
{
	static const struct limited_function function = {.run = run_read_text,
							 .size = sizeof(*ret)};

	memset(ret, 0, sizeof(*ret));
	return limited_call(pid, fd, &function, ret);
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

bool proc_relations(pid_t pid, struct proc_relations *ret)
{
	cleanup_free char *stat = NULL;
	const char *fields = read_stat(pid, &stat);

	return fields && sscanf(fields,
				"%*s %d %d %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
				"%*s %*s %" SCNu64,
				&ret->parent, &ret->group, &ret->session, &ret->begin) == 4;
}

uint64_t proc_delay_ns(pid_t pid)
{
	cleanup_free char *text = NULL;
	uint64_t delay_ns;

	if (proc_read(pid, "schedstat", &text) || sscanf(text, "%*s %" SCNu64, &delay_ns) != 1)
		return 0;
	return delay_ns;
}

bool proc_has_own_root(pid_t pid)
{
	struct stat ours, theirs;

	return !file_stat_at(AT_FDCWD, "/", &ours) && !proc_stat_link(pid, -1, "root", &theirs) &&
	       is_same_file(&ours, &theirs);
}

bool proc_has_own_namespace(pid_t pid, int dir_fd, const char *kind)
{
	static const char self[] = "/proc/self/";
	struct stat ours, theirs;
	char path[32];

	snprintf(path, sizeof(path), "%sns/%s", self, kind);
	return !stat(path, &ours) && !proc_stat_link(pid, dir_fd, path + strlen(self), &theirs) &&
	       is_same_file(&ours, &theirs);
}

uint64_t proc_namespace(pid_t pid, const char *kind)
{
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "ns/%s", kind);
	return proc_stat_link(pid, -1, path, &st) ? 0 : st.st_ino;
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
