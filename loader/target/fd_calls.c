// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lists the system calls that open or close descriptors. ioctl() and recvmmsg() are left out,
 * although they can open descriptors: reports count these descriptors as missed.
 */
#include "loader/target/fd_calls.h"

#include <string.h>
#include <sys/syscall.h>

void fd_calls_fill(uint8_t ret[MEMLEAK_SYSCALLS])
{
	static const uint8_t calls[MEMLEAK_SYSCALLS] = {
		[SYS_close] = MEMLEAK_FD_CLOSE,
		[SYS_openat] = MEMLEAK_FD_NEW,
		[SYS_open_by_handle_at] = MEMLEAK_FD_NEW,
		[SYS_mq_open] = MEMLEAK_FD_NEW,
		[SYS_socket] = MEMLEAK_FD_NEW,
		[SYS_accept] = MEMLEAK_FD_NEW,
		[SYS_accept4] = MEMLEAK_FD_NEW,
		[SYS_dup] = MEMLEAK_FD_NEW,
		[SYS_eventfd2] = MEMLEAK_FD_NEW,
		[SYS_epoll_create1] = MEMLEAK_FD_NEW,
		[SYS_timerfd_create] = MEMLEAK_FD_NEW,
		[SYS_inotify_init1] = MEMLEAK_FD_NEW,
		[SYS_fanotify_init] = MEMLEAK_FD_NEW,
		[SYS_perf_event_open] = MEMLEAK_FD_NEW,
		[SYS_memfd_create] = MEMLEAK_FD_NEW,
		[SYS_userfaultfd] = MEMLEAK_FD_NEW,
		[SYS_signalfd4] = MEMLEAK_FD_SIGNAL,
		[SYS_bpf] = MEMLEAK_FD_BPF,
		[SYS_fcntl] = MEMLEAK_FD_FCNTL,
		[SYS_dup3] = MEMLEAK_FD_DUP_TO,
		[SYS_pipe2] = MEMLEAK_FD_PAIR_IN_1ST,
		[SYS_socketpair] = MEMLEAK_FD_PAIR_IN_4TH,
		[SYS_recvmsg] = MEMLEAK_FD_MESSAGE,
/* Older system calls, which new architectures do not have. */
#ifdef SYS_open
		[SYS_open] = MEMLEAK_FD_NEW,
		[SYS_creat] = MEMLEAK_FD_NEW,
		[SYS_dup2] = MEMLEAK_FD_DUP_TO,
		[SYS_eventfd] = MEMLEAK_FD_NEW,
		[SYS_epoll_create] = MEMLEAK_FD_NEW,
		[SYS_inotify_init] = MEMLEAK_FD_NEW,
		[SYS_signalfd] = MEMLEAK_FD_SIGNAL,
		[SYS_pipe] = MEMLEAK_FD_PAIR_IN_1ST,
#endif
		/*
		 * Newer system calls, which have the same number on all architectures. Old headers
		 * do not define them.
		 */
		[425] = MEMLEAK_FD_NEW,         /* io_uring_setup */
		[428] = MEMLEAK_FD_NEW,         /* open_tree */
		[430] = MEMLEAK_FD_NEW,         /* fsopen */
		[432] = MEMLEAK_FD_NEW,         /* fsmount */
		[433] = MEMLEAK_FD_NEW,         /* fspick */
		[434] = MEMLEAK_FD_NEW,         /* pidfd_open */
		[436] = MEMLEAK_FD_CLOSE_RANGE, /* close_range */
		[437] = MEMLEAK_FD_NEW,         /* openat2 */
		[438] = MEMLEAK_FD_NEW,         /* pidfd_getfd */
		[447] = MEMLEAK_FD_NEW,         /* memfd_secret */
	};

	memcpy(ret, calls, sizeof(calls));
}
