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

static struct file_system_bpf *skel;
/* Protects skel->bss: several threads open files. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_served(int path_fd)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	bool ret;

	pthread_mutex_lock(&lock);
	skel->bss->fd = path_fd;
	skel->bss->served = 0;
	ret = !bpf_prog_test_run_opts(bpf_program__fd(skel->progs.look), &opts) &&
	      skel->bss->served;
	pthread_mutex_unlock(&lock);
	return ret;
}

/* Loads the program, which stays loaded until memleak ends. */
void file_system_refuse_served(void)
{
	int err;

	if (skel)
		return;
	skel = SKELETON_OPEN(file_system_bpf);
	err = skel ? file_system_bpf__load(skel) : -errno;
	if (!err) {
		regular_file_refuse(is_served);
		return;
	}
	log_verbose("cannot tell which files another process serves (FUSE), so these are opened, "
		    "too: %s",
		    strerror(-err));
	file_system_bpf__destroy(skel);
	skel = NULL;
}
