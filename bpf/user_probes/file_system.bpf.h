/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks whether an open file is on a file system that is served by a process (FUSE), or on an
 * overlay of such a file system. Sends no request to that process. memleak runs this program with
 * bpf_prog_test_run_opts().
 */
#ifndef BPF_USER_PROBES_FILE_SYSTEM_BPF_H
#define BPF_USER_PROBES_FILE_SYSTEM_BPF_H

#include "bpf/compat.bpf.h"

/* The fields that are used here. Other headers declare other fields of some structures. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct file_system_type {
	const char *name;
};

struct super_block___system {
	struct file_system_type *s_type;
	void *s_fs_info;
};

struct inode___system {
	struct super_block___system *i_sb;
};

struct file___system {
	struct inode___system *f_inode;
};

struct fdtable {
	struct file___system **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct task_struct___system {
	struct files_struct *files;
};

#pragma clang attribute pop

/*
 * Layout of the overlay module's data. It is fixed here, because reading it from the module's BTF
 * takes CAP_SYS_ADMIN. If the kernel's layout differs, garbage is read: no name matches, or
 * part_cnt exceeds PARTS_MAX.
 */
struct overlay_part {
	struct super_block___system *sb;
	__u64 rest;
};

struct overlay {
	__u32 layer_cnt;
	__u32 part_cnt; /* number of parts, which are the different file systems in the overlay */
	/*
	 * Pointers to the layers and to the parts. On newer kernels, a word with an additional
	 * count precedes the pointers; it is recognised by its clear top bit.
	 */
	__u64 words[3];
};

/*
 * Maximum number of parts of an overlay that are examined. Two or three are usual; an overlay with
 * more parts is treated as served by a process.
 */
#define PARTS_MAX 16

int file_fd; /* an open descriptor of memleak */
int file_served;

static __always_inline __u64 name_of(struct super_block___system *sb)
{
	__u64 name = 0;

	bpf_probe_read_kernel_str(&name, sizeof(name), BPF_CORE_READ(sb, s_type, name));
	return name;
}

/* The first seven letters of a name as an integer. */
#define NAME(a, b, c, d, e, f, g)                                                                  \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32 |   \
	 (__u64)(f) << 40 | (__u64)(g) << 48)

/* True for FUSE, but not for virtiofs, which is served by the host. */
static __always_inline bool is_fuse(__u64 name)
{
	return name == NAME('f', 'u', 's', 'e', 0, 0, 0) ||
	       name == NAME('f', 'u', 's', 'e', 'b', 'l', 'k');
}

static __always_inline bool is_overlay(__u64 name)
{
	return name == NAME('o', 'v', 'e', 'r', 'l', 'a', 'y');
}

static __always_inline struct super_block___system *part_of(const struct overlay *overlay, __u32 at)
{
	bool counts = !(overlay->words[0] >> 63);
	struct overlay_part *parts = (void *)overlay->words[counts ? 2 : 1], part = {0};

	bpf_probe_read_kernel(&part, sizeof(part), parts + at);
	return part.sb;
}

/*
 * Defines a function that returns true if a process serves the file system whose super block is at
 * a given address. An overlay counts as served by a process if one of its parts is. An overlay may
 * contain other overlays, but only one level deep. The functions are global, so that the verifier
 * checks each once and not for each call.
 */
#define DEFINE_SERVED(name, of_part)                                                               \
	__noinline int name(__u64 addr)                                                            \
	{                                                                                          \
		struct super_block___system *sb = (void *)addr;                                    \
		struct overlay overlay = {0};                                                      \
		__u64 type = name_of(sb);                                                          \
                                                                                                   \
		if (!is_overlay(type))                                                             \
			return is_fuse(type);                                                      \
		bpf_probe_read_kernel(&overlay, sizeof(overlay), BPF_CORE_READ(sb, s_fs_info));    \
		for (__u32 i = 0; i < PARTS_MAX && i < overlay.part_cnt; i++)                      \
			if (of_part((__u64)part_of(&overlay, i)))                                  \
				return 1;                                                          \
		return overlay.part_cnt > PARTS_MAX;                                               \
	}

__noinline int is_served_plain(__u64 addr)
{
	return is_fuse(name_of((void *)addr));
}

DEFINE_SERVED(is_served_below, is_served_plain)
DEFINE_SERVED(is_served, is_served_below)

SEC("raw_tp")
int check_file_system(void *ctx)
{
	struct task_struct___system *task = (void *)bpf_get_current_task();
	struct file___system **files = BPF_CORE_READ(task, files, fdt, fd);
	struct file___system *file = NULL;

	bpf_probe_read_kernel(&file, sizeof(file), files + file_fd);
	file_served = is_served((__u64)BPF_CORE_READ(file, f_inode, i_sb));
	return 0;
}

#endif
