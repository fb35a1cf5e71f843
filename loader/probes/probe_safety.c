// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rejects Go programs. Also rejects processes with a seccomp filter if a bug in the kernel lets
 * return probes kill them.
 */
#include "loader/probes/probe_safety.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/test_knobs.h"
#include "loader/probes/multi_link.h"
#include "loader/target/modules.h"
#include "prober/prober.h"

static bool is_go(pid_t pid)
{
	cleanup_close int fd = process_open_program(pid);

	return fd >= 0 && prober_has_section(fd, ".go.buildinfo");
}

static bool is_thread_filtered(pid_t pid, const char *tid)
{
	cleanup_free char *name = NULL, *status = NULL;

	if (asprintf(&name, "task/%s/status", tid) < 0) {
		name = NULL;
		return false;
	}
	return proc_read(pid, name, &status) == 0 && proc_status_number(status, "Seccomp") > 0;
}

static bool is_filtered(pid_t pid)
{
	int fd = proc_open(pid, "task", O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	bool filtered = false;

	while (dir && !filtered && (entry = readdir(dir)))
		filtered = entry->d_name[0] != '.' && is_thread_filtered(pid, entry->d_name);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return filtered;
}

static bool seccomp_kills(void)
{
	const char *forced = test_knob(TEST_KNOB_SECCOMP);

	return (forced && !strcmp(forced, "kills")) || !return_probes_pass_seccomp();
}

int probe_safety_check(pid_t pid)
{
	if (is_go(pid)) {
		log_error("process %d is a Go program, which moves its stacks: a return probe "
			  "could crash it. --force traces what its C code allocates; the heap "
			  "profile of Go's net/http/pprof shows Go's own objects",
			  pid);
		return -EPERM;
	}
	if (is_filtered(pid) && seccomp_kills()) {
		log_error(
			"process %d is under a seccomp filter, and on this kernel a return probe "
			"may kill it (CVE-2025-21834): update the kernel. --force traces it anyway",
			pid);
		return -EPERM;
	}
	return 0;
}

int probe_safety_check_shared(void)
{
	if (!seccomp_kills())
		return 0;
	log_error("on this kernel return probes kill processes under a seccomp filter "
		  "(CVE-2025-21834), and --all-processes, --comm, --cgroup and --follow probe "
		  "every process: update the kernel. --force traces anyway");
	return -EPERM;
}
