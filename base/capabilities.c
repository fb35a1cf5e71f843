// SPDX-License-Identifier: GPL-2.0-or-later
/* Uses the system calls directly, to avoid a dependency on libcap. */
#include "base/capabilities.h"

#include <errno.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int capabilities_read(struct capability_sets *ret)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data))
		return -errno;
	*ret = (struct capability_sets){
		.effective = (uint64_t)data[1].effective << 32 | data[0].effective,
		.permitted = (uint64_t)data[1].permitted << 32 | data[0].permitted,
		.inheritable = (uint64_t)data[1].inheritable << 32 | data[0].inheritable,
	};
	return 0;
}

int capabilities_set(uint64_t effective, uint64_t permitted)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		data[i] = (struct __user_cap_data_struct){
			.effective = (uint32_t)(effective >> 32 * i),
			.permitted = (uint32_t)(permitted >> 32 * i),
		};
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

void capabilities_bound(uint64_t kept)
{
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!(kept & CAPABILITY(cap)))
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}
