// SPDX-License-Identifier: GPL-2.0-or-later
/* Asks the kernel by mapping the file. */
#include "loader/real_file.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "bpf/user_probes/real_file.skel.h"
#include "loader/skeleton.h"
#include "symbolizer/proc_maps.h"

/* The kernel does not wait for another thread of ours that maps something at the moment. */
#define TRIES 1000

/* Bits of a device's minor number in the kernel. */
#define KERNEL_MINOR_BITS 20

static bool is_on_overlay(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

/* Loaded with the first file of an overlay; it stays. NULL: the kernel, before 5.17, cannot. */
static struct real_file_bpf *program(void)
{
	static struct real_file_bpf *skel;
	static bool tried;

	if (tried)
		return skel;
	tried = true;
	skel = SKELETON_OPEN(real_file_bpf);
	if (skel && real_file_bpf__load(skel)) {
		real_file_bpf__destroy(skel);
		skel = NULL;
	}
	return skel;
}

static bool ask_program(const void *at, struct stat *ret)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	struct real_file_bpf *skel = program();

	if (!skel)
		return false;
	skel->bss->addr = (uintptr_t)at;
	skel->bss->ino = 0;
	for (int i = 0; i < TRIES; i++) {
		if (bpf_prog_test_run_opts(bpf_program__fd(skel->progs.find_file), &opts))
			return false;
		if (skel->bss->err != -EBUSY)
			break;
		sched_yield();
	}
	if (!skel->bss->ino)
		return false;
	ret->st_ino = skel->bss->ino;
	ret->st_dev = makedev(skel->bss->dev >> KERNEL_MINOR_BITS,
			      skel->bss->dev & ((1U << KERNEL_MINOR_BITS) - 1));
	return true;
}

/* Kernels that have no such program show it there. */
static void ask_maps(const void *at, struct stat *ret)
{
	const struct mapping *mapping;
	struct proc_maps maps;

	if (proc_maps_read(getpid(), &maps))
		return;
	mapping = proc_maps_find(&maps, (uintptr_t)at);
	if (mapping && mapping->inode) {
		ret->st_ino = mapping->inode;
		ret->st_dev = makedev(mapping->dev_major, mapping->dev_minor);
	}
	proc_maps_deinit(&maps);
}

int real_file_stat(int fd, struct stat *ret)
{
	size_t len = (size_t)sysconf(_SC_PAGESIZE);
	void *at;

	if (fstat(fd, ret))
		return -errno;
	if (!is_on_overlay(fd))
		return 0;
	/* Shared: probes stay out of it. */
	at = mmap(NULL, len, PROT_NONE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	if (!ask_program(at, ret))
		ask_maps(at, ret);
	munmap(at, len);
	return 0;
}
