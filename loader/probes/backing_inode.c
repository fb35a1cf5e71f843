// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the inode behind a file on an overlay: maps the file and asks the kernel which inode is
 * mapped.
 */
#include "loader/probes/backing_inode.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/mapped_file.h"
#include "base/regular_file.h"
#include "bpf/user_probes/backing_inode.skel.h"
#include "loader/probes/skeleton.h"

/*
 * Maximum number of runs of the BPF program. A run fails with -EBUSY if another thread of memleak
 * is changing mappings.
 */
#define TRIES 1000

/* Number of bits in the minor number of a device, in the kernel's format. */
#define KERNEL_MINOR_BITS 20

/*
 * Returns the BPF program, and loads it at the first call. Returns NULL if the kernel cannot run
 * the program (before 5.17).
 */
static struct backing_inode_bpf *program(void)
{
	static struct backing_inode_bpf *skel;
	static bool tried;

	if (tried)
		return skel;
	tried = true;
	skel = SKELETON_OPEN(backing_inode_bpf);
	if (skel && backing_inode_bpf__load(skel)) {
		backing_inode_bpf__destroy(skel);
		skel = NULL;
	}
	return skel;
}

static bool ask_program(const void *at, struct file_id *ret)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	struct backing_inode_bpf *skel = program();

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
	ret->ino = skel->bss->ino;
	ret->dev = makedev(skel->bss->dev >> KERNEL_MINOR_BITS,
			   skel->bss->dev & ((1U << KERNEL_MINOR_BITS) - 1));
	return true;
}

int backing_inode(int fd, struct file_id *ret)
{
	size_t len = (size_t)sysconf(_SC_PAGESIZE);
	struct stat st;
	bool found;
	void *at;
	int err;

	err = file_stat(fd, &st);
	if (err)
		return err;
	*ret = file_id_of(&st);
	if (!file_is_on(fd, OVERLAYFS_SUPER_MAGIC))
		return 0;
	/* Use MAP_SHARED because the kernel inserts no probes into shared mappings. */
	at = mmap(NULL, len, PROT_NONE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	found = ask_program(at, ret);
	munmap(at, len);
	/* Kernels without bpf_find_vma() show the backing inode in /proc/PID/maps. */
	if (!found)
		mapped_file_id(fd, ret);
	return 0;
}
