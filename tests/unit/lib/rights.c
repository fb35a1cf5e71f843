// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/lib/rights.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/capabilities.h"

void need_root(unsigned int cap, const char *name)
{
	struct capability_sets caps;

	if (!geteuid() && !capabilities_read(&caps) && caps.effective & CAPABILITY(cap))
		return;
	print_message("skipped: only root with %s can run this\n", name);
	skip();
}

/* Loads a BPF program. Returns 0 or a positive errno. */
static int load_program(void)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_KPROBE,
		.insns = (uintptr_t)insns,
		.insn_cnt = sizeof(insns) / sizeof(insns[0]),
		.license = (uintptr_t) "GPL",
	};
	int fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

void need_bpf(void)
{
	int err;

	NEED_ROOT(CAP_SYS_PTRACE);
	err = load_program();
	if (err) {
		print_message("skipped: no BPF program can be loaded: %s\n", strerror(err));
		skip();
	}
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		print_message("skipped: /sys/kernel/btf/vmlinux is missing\n");
		skip();
	}
}
