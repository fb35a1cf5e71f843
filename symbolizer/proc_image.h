/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What /proc has of one process image, by files that were opened while it lived: they do not turn
 * into another process's when the pid is used again, nor into another image's after an exec.
 */
#ifndef SYMBOLIZER_PROC_IMAGE_H
#define SYMBOLIZER_PROC_IMAGE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/file_id.h"
#include "base/proc_maps.h"
#include "symbolizer/regions.h"

struct proc_image {
	int proc_fd; /* the directory /proc/PID, or that of a thread; -1: it was gone before */
	int maps_fd;
	int root_fd;    /* O_PATH; -1: may not be seen */
	bool foreign;   /* in another user namespace: anything may be mounted below the root */
	uid_t uid;      /* effective */
	char *jit_path; /* where a JIT map would be, below the root */
};

/* -ESRCH: there is no such process, or it has no memory any more. */
int proc_image_init(pid_t pid, struct proc_image *ret);
/* Of a process that was gone before anybody looked. */
void proc_image_init_ended(struct proc_image *ret);
void proc_image_deinit(struct proc_image *image);

/* -ESRCH: the image is gone. */
int proc_image_maps(const struct proc_image *image, struct proc_maps *ret);

/*
 * Opens the file of a mapping, also when it was deleted or lies in another mount namespace. An fd
 * or a negative errno. The vdso, which has no file, is copied into one, whose version has a number
 * made from its content for an inode. Of a process that was gone, what lies at the path is
 * opened if it is the file that was mapped, and the vdso is our own.
 */
int proc_image_open(const struct proc_image *image, const struct region *region,
		    struct file_version *ret);

#endif
