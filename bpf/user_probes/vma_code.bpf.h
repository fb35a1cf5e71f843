/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the unwind rule for an address by the kernel's own description of the mapping (VMA). The
 * file of the mapping is looked up among all files that have an unwind table, whichever process
 * maps them. So the stacks of a program whose files are known are complete before the loader has
 * read its mappings.
 *
 *  - Walks use unwind_spaces first, since its mappings can be cached. It is out of date after an
 *    exec, and after libraries are loaded or unloaded, until the loader reads the mappings again.
 *  - If a mapping is missing or may be out of date, a tail call to a program that uses the kernel's
 *    VMAs starts the walk again.
 *  - A frame found here is an offset in the file that was mapped at that moment. Later changes of
 *    the mappings do not affect it.
 *  - Files are identified by inode, device, size and modification time, since inode numbers are
 *    soon reused (in builds, for instance).
 *  - Kernels before 5.17 have no bpf_find_vma(). There, stacks with missing mappings are cut or
 *    deferred.
 */
#ifndef BPF_USER_PROBES_VMA_CODE_BPF_H
#define BPF_USER_PROBES_VMA_CODE_BPF_H

#include "bpf/user_probes/unwind_tables.bpf.h"

#define VMA_EXECUTABLE 4 /* VM_EXEC */
#define VMA_PAGE_BITS 12

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct super_block {
	__u32 s_dev;
};

struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
};

struct inode {
	unsigned long i_ino;
	struct super_block *i_sb;
	__s64 i_size;
	__s64 i_mtime_sec;
	__u32 i_mtime_nsec;
};

struct inode___6_7 {
	struct timespec64 __i_mtime;
};

struct inode___5_17 {
	struct timespec64 i_mtime;
};

struct file {
	struct inode *f_inode;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_pgoff;
	unsigned long vm_flags;
	struct file *vm_file;
};

#pragma clang attribute pop

/* Unwind tables of the files that the loader has read. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_FILES_MAX);
	__type(key, struct unwind_file_key);
	__type(value, struct unwind_file_table);
} unwind_files SEC(".maps");

struct vma_code {
	__u64 start;
	__u64 end;
	__u64 offset; /* offset of `start` in the file */
	struct inode *inode;
	bool executable;
};

static long note_vma(struct task_struct *task, struct vm_area_struct *vma, struct vma_code *ret)
{
	struct file *file = BPF_CORE_READ(vma, vm_file);

	ret->start = BPF_CORE_READ(vma, vm_start);
	ret->end = BPF_CORE_READ(vma, vm_end);
	ret->offset = BPF_CORE_READ(vma, vm_pgoff) << VMA_PAGE_BITS;
	ret->executable = BPF_CORE_READ(vma, vm_flags) & VMA_EXECUTABLE;
	ret->inode = file ? BPF_CORE_READ(file, f_inode) : NULL;
	return 0;
}

/* True if the file has not changed since its table was made. */
static __always_inline bool inode__has(struct inode *inode, const struct unwind_file_table *table)
{
	struct inode___6_7 *inode_6_7 = (void *)inode;
	struct inode___5_17 *inode_5_17 = (void *)inode;
	__s64 sec;
	__u32 nsec;

	if (bpf_core_field_exists(inode->i_mtime_sec)) {
		sec = BPF_CORE_READ(inode, i_mtime_sec);
		nsec = BPF_CORE_READ(inode, i_mtime_nsec);
	} else if (bpf_core_field_exists(inode_6_7->__i_mtime)) {
		sec = BPF_CORE_READ(inode_6_7, __i_mtime.tv_sec);
		nsec = BPF_CORE_READ(inode_6_7, __i_mtime.tv_nsec);
	} else {
		sec = BPF_CORE_READ(inode_5_17, i_mtime.tv_sec);
		nsec = BPF_CORE_READ(inode_5_17, i_mtime.tv_nsec);
	}
	return sec == table->mtime_sec && nsec == table->mtime_nsec &&
	       BPF_CORE_READ(inode, i_size) == table->size;
}

static __always_inline const struct unwind_file_table *inode__table(struct inode *inode)
{
	struct unwind_file_key key = {
		.ino = BPF_CORE_READ(inode, i_ino),
		.dev = BPF_CORE_READ(inode, i_sb, s_dev),
	};
	const struct unwind_file_table *table = bpf_map_lookup_elem(&unwind_files, &key);

	return table && inode__has(inode, table) ? table : NULL;
}

/*
 * Sets walk->here to the VMA that contains addr. False if it is not executable, or if its file is
 * not in unwind_files. For code without a file (made at run time), walk->here has no unwind table.
 */
static __always_inline bool walk__find_vma(struct walk *walk, __u64 addr)
{
	const struct unwind_file_table *table = NULL;
	struct vma_code code = {0};

	if (bpf_find_vma(bpf_get_current_task_btf(), addr, note_vma, &code, 0) || !code.executable)
		return false;
	walk->here.start = code.start;
	walk->here.end = code.end;
	walk->here.granule_cnt = 0;
	walk->here.to_frame = 0;
	if (!code.inode)
		return true;
	table = inode__table(code.inode);
	if (!table) {
		walk->here.end = code.start;
		return false;
	}
	code.start -= code.offset;
	walk->here.base = code.start + table->first;
	walk->here.granule_cnt = table->granule_cnt;
	walk->here.index = table->index;
	walk->here.arena = table->arena;
	walk->here.page = table->page;
	if (table->frame && code.end - code.start < 1ULL << MEMLEAK_FRAME_OFFSET_BITS)
		walk->here.to_frame = table->frame - code.start;
	return true;
}

/* Like walk__rule(), but uses the kernel's VMAs. */
static __always_inline bool walk__rule_by_vma(struct walk *walk, __u64 addr, __u64 *rule)
{
	if (!mapping__holds(&walk->here, addr) && !walk__find_vma(walk, addr))
		return false;
	*rule = config.unwind == MEMLEAK_UNWIND_FP ? 0 : walk_find_rule(walk->entry, addr);
	walk->to_frame = walk->here.to_frame;
	walk->permanent = 1;
	return true;
}

#endif
