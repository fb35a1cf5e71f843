// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nosyscall NAME CMD [ARG...]: runs CMD with a seccomp filter that makes the system call NAME fail
 * as on kernels that lack it.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "truth.h"

static const struct {
	const char *name;
	unsigned int number;
} calls[] = {
	{"bpf", __NR_bpf},
	{"perf_event_open", __NR_perf_event_open},
	{"pidfd_open", __NR_pidfd_open},
};

static void forbid(unsigned int number)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = ARRAY_SIZE(filter), .filter = filter};

	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
	must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "seccomp");
}

int main(int argc, char **argv)
{
	must(argc >= 3, "usage");
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (!strcmp(argv[1], calls[i].name)) {
			forbid(calls[i].number);
			execvp(argv[2], argv + 2);
			return 99;
		}
	return 99;
}
