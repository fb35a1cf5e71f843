/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Translates pids into a pid namespace. */
#ifndef BPF_PID_NUMBER_BPF_H
#define BPF_PID_NUMBER_BPF_H

#include "bpf/compat.bpf.h"

#define MAX_PID_LEVELS 33

/*
 * Returns the pid that a process has in the namespace with this inode; 0 if it has none there. A
 * process has a pid in each namespace from the initial one down to its own.
 */
static __always_inline __u32 number_in(struct pid *pid, __u32 namespace)
{
	void *numbers = (void *)pid + bpf_core_field_offset(pid->numbers);
	__u32 level = BPF_CORE_READ(pid, level);

	for (__u32 i = 0; i < MAX_PID_LEVELS; i++) {
		struct upid *number = numbers + i * bpf_core_type_size(struct upid);

		/*
		 * Without barrier_var(), some compilers merge the two loop conditions into a test
		 * for equality, which older verifiers do not accept as a bound.
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
