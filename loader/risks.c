// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds out what must not be probed: programs in Go, and what some kernels' seccomp would kill. */
#include "loader/risks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/cleanup.h"
#include "loader/elf_functions.h"
#include "loader/log.h"
#include "loader/multi_link.h"

static bool is_go(pid_t pid)
{
	cleanup_free char *path = NULL;
	cleanup_close int fd = -1;

	if (asprintf(&path, "/proc/%d/exe", pid) < 0) {
		path = NULL;
		return false;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && elf_has_section(fd, ".go.buildinfo");
}

static bool is_thread_filtered(pid_t pid, const char *tid)
{
	cleanup_free char *path = NULL, *line = NULL;
	cleanup_fclose FILE *file = NULL;
	int mode = 0;
	size_t cap = 0;

	if (asprintf(&path, "/proc/%d/task/%s/status", pid, tid) < 0) {
		path = NULL;
		return false;
	}
	file = fopen(path, "re");
	while (file && !mode && getline(&line, &cap, file) > 0)
		sscanf(line, "Seccomp: %d", &mode);
	return mode;
}

static bool is_filtered(pid_t pid)
{
	cleanup_free char *path = NULL;
	const struct dirent *entry;
	bool filtered = false;
	DIR *dir;

	if (asprintf(&path, "/proc/%d/task", pid) < 0) {
		path = NULL;
		return false;
	}
	dir = opendir(path);
	while (dir && !filtered && (entry = readdir(dir)))
		filtered = entry->d_name[0] != '.' && is_thread_filtered(pid, entry->d_name);
	if (dir)
		closedir(dir);
	return filtered;
}

/* MEMLEAK_SECCOMP=kills: as if the kernel were one of those, for tests. */
static bool seccomp_kills(void)
{
	const char *forced = getenv("MEMLEAK_SECCOMP");

	return (forced && !strcmp(forced, "kills")) || !return_probes_pass_seccomp();
}

int risks_check(pid_t pid)
{
	if (is_go(pid)) {
		log_error("process %d is a program in Go, which moves its stacks: a return probe "
			  "could hurt it, and its own memory is the garbage collector's. --force "
			  "traces what its C code allocates",
			  pid);
		return -EPERM;
	}
	if (is_filtered(pid) && seccomp_kills()) {
		log_error("process %d is under a seccomp filter, and on this kernel a return probe "
			  "could end it (CVE-2025-21834): update the kernel. --force traces it "
			  "all the same",
			  pid);
		return -EPERM;
	}
	return 0;
}

int risks_check_shared(void)
{
	if (!seccomp_kills())
		return 0;
	log_error("on this kernel a return probe ends processes under a seccomp filter "
		  "(CVE-2025-21834), and with --all-processes, --comm, --cgroup and --follow "
		  "probes are in all of them: update the kernel. --force traces all the same");
	return -EPERM;
}
