/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of processes and threads in a pid namespace. */
#ifndef BPF_PID_NUMBER_BPF_H
#define BPF_PID_NUMBER_BPF_H

#include "bpf/compat.bpf.h"

#define MAX_PID_LEVELS 33

/*
 * A process has a number in each namespace from the initial one to its own. 0: it has none in this
 * one, which is told by its inode.
 */
static __always_inline __u32 number_in(struct pid *pid, __u32 namespace)
{
	void *numbers = (void *)pid + bpf_core_field_offset(pid->numbers);
	__u32 level = BPF_CORE_READ(pid, level);

	for (__u32 i = 0; i < MAX_PID_LEVELS; i++) {
		struct upid *number = numbers + i * bpf_core_type_size(struct upid);

		/*
		 * Else some compilers make one end of both, and compare for equality, in which
		 * older verifiers see no end.
		 */
		barrier_var(level);
		if (i > level)
			break;
		if (BPF_CORE_READ(number, ns, ns.inum) == namespace)
			return BPF_CORE_READ(number, nr);
	}
	return 0;
}

#endif
