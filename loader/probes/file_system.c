// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the file system of a file with a BPF program. fstatfs() would wait for a FUSE server. */
#include "loader/probes/file_system.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/log.h"
#include "base/regular_file.h"
#include "bpf/user_probes/file_system.skel.h"
#include "loader/probes/skeleton.h"

/* A loaded program, and the variables of its object. */
static struct {
	int program_fd;
	int *file_fd;
	int *file_served;
} check = {.program_fd = -1};

/* Protects check and the variables: several threads open files. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_served(int path_fd)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	bool ret = false;

	pthread_mutex_lock(&lock);
	if (check.program_fd >= 0) {
		*check.file_fd = path_fd;
		*check.file_served = 0;
		ret = !bpf_prog_test_run_opts(check.program_fd, &opts) && *check.file_served;
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

void file_system_refuse_served_by(int program_fd, int *file_fd, int *file_served)
{
	if (check.program_fd >= 0)
		return;
	check.program_fd = program_fd;
	check.file_fd = file_fd;
	check.file_served = file_served;
	regular_file_refuse(is_served);
}

void file_system_forget(int program_fd)
{
	pthread_mutex_lock(&lock);
	if (check.program_fd == program_fd)
		check.program_fd = -1;
	pthread_mutex_unlock(&lock);
}

/* Loads the program, which stays loaded until memleak ends. */
void file_system_refuse_served(void)
{
	static struct file_system_bpf *skel;
	int err;

	if (check.program_fd >= 0)
		return;
	skel = SKELETON_OPEN(file_system_bpf);
	err = skel ? file_system_bpf__load(skel) : -errno;
	if (!err) {
		file_system_refuse_served_by(bpf_program__fd(skel->progs.check_file_system),
					     &skel->bss->file_fd, &skel->bss->file_served);
		return;
	}
	log_verbose("cannot tell which files another process serves (FUSE), so these are opened, "
		    "too: %s",
		    strerror(-err));
	file_system_bpf__destroy(skel);
	skel = NULL;
}
