// SPDX-License-Identifier: GPL-2.0-or-later
/* Fills an array of programs. */
#include "loader/endings.h"

#include <bpf/bpf.h>
#include <errno.h>

int endings_put(const struct bpf_map *map,
		const struct bpf_program *const programs[MEMLEAK_ENDING_CNT])
{
	for (uint32_t i = 0; i < MEMLEAK_ENDING_CNT; i++) {
		int fd = bpf_program__fd(programs[i]);

		if (fd >= 0 && bpf_map_update_elem(bpf_map__fd(map), &i, &fd, BPF_ANY))
			return -errno;
	}
	return 0;
}
