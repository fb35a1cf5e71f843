// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the kernel's inode behind one of memleak's own mappings. memleak runs this program with
 * bpf_prog_test_run_opts().
 */
#include "bpf/compat.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct super_block {
	__u32 s_dev;
};

struct inode {
	unsigned long i_ino;
	struct super_block *i_sb;
};

struct file {
	struct inode *f_inode;
};

struct vm_area_struct {
	struct file *vm_file;
};

#pragma clang attribute pop

__u64 addr; /* input: an address in the mapping */
__u64 ino;  /* inode number; 0 if no file was found */
__u32 dev;  /* device number in the kernel's encoding */
int err;

static long note_file(struct task_struct *task, struct vm_area_struct *mapping, void *unused)
{
	struct inode *inode = BPF_CORE_READ(mapping, vm_file, f_inode);

	ino = BPF_CORE_READ(inode, i_ino);
	dev = BPF_CORE_READ(inode, i_sb, s_dev);
	return 0;
}

SEC("raw_tp")
int find_file(void *ctx)
{
	err = (int)bpf_find_vma(bpf_get_current_task_btf(), addr, note_file, NULL, 0);
	return 0;
}
