/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --fds: open descriptors as blocks of size 1, and the system calls that open and close them. */
#ifndef BPF_DESCRIPTORS_H
#define BPF_DESCRIPTORS_H

/* System call numbers are below this limit. */
#define MEMLEAK_SYSCALLS 512

/* Effects of system calls on descriptors. */
enum memleak_fd_call {
	MEMLEAK_FD_NONE,
	MEMLEAK_FD_CLOSE,       /* close() */
	MEMLEAK_FD_CLOSE_RANGE, /* close_range() */
	MEMLEAK_FD_NEW,         /* returns a new descriptor */
	MEMLEAK_FD_SIGNAL, /* signalfd(): returns a new descriptor if its first argument is -1 */
	MEMLEAK_FD_FCNTL,  /* fcntl(): with F_DUPFD, returns a new descriptor */
	MEMLEAK_FD_BPF,    /* bpf(): with some commands, returns a new descriptor */
	MEMLEAK_FD_DUP_TO, /* dup2(): the new descriptor replaces any that had its number */
	MEMLEAK_FD_PAIR_IN_1ST, /* pipe(): stores two new descriptors at its first argument */
	/* socketpair(): stores two new descriptors at its fourth argument */
	MEMLEAK_FD_PAIR_IN_4TH,
	MEMLEAK_FD_MESSAGE, /* recvmsg(): the message may contain new descriptors */
};

/*
 * The address that stands for a file descriptor in a block's key. It is never 0, and its low bits
 * are 0, since the recent-block cache keeps a block's state there.
 */
#define MEMLEAK_FD_ADDR(fd) (((__u64)(__u32)(fd) + 1) << 12)
#define MEMLEAK_ADDR_FD(addr) ((__u32)((addr) >> 12) - 1)

#endif
