// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the footprint of a process from /proc/PID/status, and counts kernel objects. */
#include "loader/target/footprint.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/prefix.h"
#include "base/proc.h"
#include "loader/target/open_fds.h"

/* Maximum threads of a process whose children are counted. */
#define THREADS_MAX 1024
/* Maximum timers that are counted: the time for reading their list grows with its square. */
#define TIMERS_MAX 16384
/* Maximum children of a thread whose state is read. Further children count as living. */
#define STATES_MAX 4096

static uint64_t status_bytes(const char *status, const char *field)
{
	long kib = proc_status_number(status, field);

	return kib > 0 ? (uint64_t)kib << 10 : 0;
}

static uint64_t count_entries(const char *path)
{
	DIR *dir = opendir(path);
	uint64_t cnt = 0;

	if (!dir)
		return 0;
	while (cnt < OPEN_FDS_MAX && readdir(dir))
		cnt++;
	closedir(dir);
	return cnt > 2 ? cnt - 2 : 0; /* subtracts "." and ".." */
}

/* Counts open descriptors. Since Linux 6.2, their number is the size of /proc/PID/fd. */
static uint64_t count_descriptors(pid_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	if (stat(path, &st))
		return 0;
	return st.st_size > 0 ? (uint64_t)st.st_size : count_entries(path);
}

static bool is_zombie(pid_t pid)
{
	cleanup_free char *status = NULL;
	const char *state;

	if (proc_read(pid, "status", &status))
		return false;
	state = proc_status_field(status, "State");
	return state && *state == 'Z';
}

static void count_children(const char *path, bool (*is_counted)(const void *arg, pid_t child),
			   const void *arg, struct footprint *ret)
{
	FILE *file = fopen(path, "re");
	unsigned int states = 0;
	int child;

	if (!file)
		return;
	while (fscanf(file, "%d", &child) == 1)
		if (child != getpid() && child != getppid() && is_counted(arg, child))
			ret->parts[states++ < STATES_MAX && is_zombie(child)
					   ? FOOTPRINT_ZOMBIES
					   : FOOTPRINT_CHILDREN]++;
	fclose(file);
}

/* /proc lists children separately for each thread: those that it has forked. */
void footprint_read_children(pid_t pid, bool (*is_counted)(const void *arg, pid_t child),
			     const void *arg, struct footprint *ret)
{
	char path[64];
	const struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	for (int i = 0; dir && i < THREADS_MAX && (entry = readdir(dir)); i++) {
		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.12s/children", pid, entry->d_name);
		count_children(path, is_counted, arg, ret);
	}
	if (dir)
		closedir(dir);
}

/*
 * /proc/PID/timers has a line "ID: NUMBER", and further lines, for each timer. Only kernels with
 * CONFIG_CHECKPOINT_RESTORE have the file.
 */
void footprint_read_timers(pid_t pid, struct footprint *ret)
{
	int fd = proc_open(pid, "timers", O_RDONLY);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	uint64_t *cnt = &ret->parts[FOOTPRINT_TIMERS];
	char line[128];

	if (!file) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while (*cnt < TIMERS_MAX && fgets(line, sizeof(line), file))
		*cnt += behind_prefix(line, "ID: ") != NULL;
	fclose(file);
}

/*
 * Each line of /proc/sysvipc/msg has: key id perms bytes messages, and the pids of the last sender
 * and the last receiver. The kernel does not know who made a queue, only which user.
 */
void footprint_read_queues(pid_t pid, struct footprint *ret)
{
	FILE *file = fopen("/proc/sysvipc/msg", "re");
	uint64_t cnt = 0;
	int sender, receiver;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%*d %*d %*o %*u %*u %d %d", &sender, &receiver) == 2 &&
		    (sender == pid || receiver == pid))
			cnt++;
	if (file)
		fclose(file);
	if (cnt && proc_has_own_namespace(pid, -1, "ipc"))
		ret->parts[FOOTPRINT_QUEUES] = cnt;
}

/*
 * True if memleak has stopped the process to search its memory: the tracer is then memleak's child.
 */
static bool is_traced_by_memleak(const char *status)
{
	long tracer = proc_status_number(status, "TracerPid");
	cleanup_free char *of_tracer = NULL;

	return tracer > 0 && !proc_read((pid_t)tracer, "status", &of_tracer) &&
	       proc_status_number(of_tracer, "PPid") == getpid();
}

/*
 * The kernel may swap out anonymous memory and read it back: without swapped-out bytes, memory that
 * is read back would look like growth, and growth that is swapped out would not be seen.
 */
void footprint_parse_memory(const char *status, struct footprint *ret)
{
	ret->parts[FOOTPRINT_ANONYMOUS] =
		status_bytes(status, "RssAnon") + status_bytes(status, "VmSwap");
	ret->parts[FOOTPRINT_SHARED] = status_bytes(status, "RssShmem");
	ret->parts[FOOTPRINT_HUGE] = status_bytes(status, "HugetlbPages");
	ret->parts[FOOTPRINT_VIRTUAL] = status_bytes(status, "VmSize");
	ret->parts[FOOTPRINT_PAGE_TABLES] = status_bytes(status, "VmPTE");
	ret->parts[FOOTPRINT_FILES] = status_bytes(status, "RssFile");
}

struct footprint footprint_read(pid_t pid)
{
	cleanup_free char *status = NULL;
	struct footprint footprint = {0};
	const char *state;
	long threads;

	if (proc_read(pid, "status", &status))
		return footprint;
	state = proc_status_field(status, "State");
	footprint.is_stopped =
		state && (*state == 'T' || *state == 't') && !is_traced_by_memleak(status);
	threads = proc_status_number(status, "Threads");
	/* A zombie has no memory to report. */
	footprint.is_known = threads > 0 && proc_status_field(status, "VmSize");
	footprint_parse_memory(status, &footprint);
	footprint.parts[FOOTPRINT_THREADS] = threads > 0 ? (uint64_t)threads : 0;
	if (footprint.is_known)
		footprint.parts[FOOTPRINT_DESCRIPTORS] = count_descriptors(pid);
	return footprint;
}
