// SPDX-License-Identifier: GPL-2.0-or-later
/* Probes kernel features. */
#include "loader/probes/features.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "loader/probes/multi_link.h"

static bool has_helper(enum bpf_func_id helper)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, helper, NULL) == 1;
}

void features_probe(struct features *ret)
{
	ret->session_links = session_link_supported(&ret->trap_ns);
	ret->multi_links = ret->session_links || multi_link_supported(&ret->trap_ns);
	if (!ret->multi_links)
		ret->trap_ns = 0;
	ret->cookies = has_helper(BPF_FUNC_get_attach_cookie);
	ret->find_vma = has_helper(BPF_FUNC_find_vma);
	/*
	 * Hash tables that allocate entries on demand are safe in tracing programs since they use
	 * the BPF memory allocator (commit fba1a1c6c912, "bpf: Convert hash map to bpf_mem_alloc").
	 * That commit cannot be detected, so the user ring buffer of the same release is tested
	 * instead.
	 */
	ret->hash_on_demand = libbpf_probe_bpf_map_type(BPF_MAP_TYPE_USER_RINGBUF, NULL) == 1;
}

bool features_have_exchange(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_STX | BPF_MEM | BPF_DW,
		 .dst_reg = BPF_REG_10,
		 .src_reg = BPF_REG_0,
		 .off = -8},
		{.code = BPF_STX | BPF_ATOMIC | BPF_DW,
		 .dst_reg = BPF_REG_10,
		 .src_reg = BPF_REG_0,
		 .off = -8,
		 .imm = BPF_CMPXCHG},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "exchange", "GPL", insns,
			       sizeof(insns) / sizeof(insns[0]), NULL);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

uint32_t features_walk_depth(uint32_t wanted)
{
	cleanup_fclose FILE *file = fopen("/proc/sys/kernel/perf_event_max_stack", "re");
	unsigned int most;

	if (!file || fscanf(file, "%u", &most) != 1 || most >= wanted)
		return wanted;
	return most;
}
