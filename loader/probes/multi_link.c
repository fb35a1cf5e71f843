// SPDX-License-Identifier: GPL-2.0-or-later
/* Creates uprobe_multi links with bpf(2), and tests whether the kernel supports them. */
#include "loader/probes/multi_link.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/proc_maps.h"

#define MULTI_RETURN 1U /* BPF_F_UPROBE_MULTI_RETURN */

/* The part of union bpf_attr that BPF_LINK_CREATE reads. Older kernel headers lack it. */
struct link_create_attr {
	__u32 prog_fd;
	__u32 target_fd;
	__u32 attach_type;
	__u32 flags;
	__aligned_u64 path;
	__aligned_u64 offsets;
	__aligned_u64 ref_ctr_offsets;
	__aligned_u64 cookies;
	__u32 cnt;
	__u32 multi_flags;
	__u32 pid;
	__u32 reserved;
};

static __u32 attach_type(enum multi_link_when when)
{
	return when == MULTI_LINK_SESSION ? SESSION_LINK_ATTACH_TYPE : MULTI_LINK_ATTACH_TYPE;
}

int multi_link_create(const struct multi_link *link)
{
	struct link_create_attr attr = {
		.prog_fd = (__u32)link->prog_fd,
		.attach_type = attach_type(link->when),
		.path = (uintptr_t)link->path,
		.offsets = (uintptr_t)link->offsets,
		.cookies = (uintptr_t)link->cookies,
		.cnt = (__u32)link->cnt,
		.multi_flags = link->when == MULTI_LINK_RETURN ? MULTI_RETURN : 0,
		.pid = (__u32)link->pid,
	};
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : (int)fd;
}

/* Number of calls of the probed function in a trial. */
#define TRIED_CALLS 512

#define CACHE_BYTES (256 << 10)
#define CACHE_LINE_BYTES 64

/*
 * Function that is probed in a trial. Kernels emulate its first instruction and do not single-step
 * it.
 */
static void __attribute__((noinline)) tried_function(void)
{
	__asm__ volatile("nop");
}

static int compare_ns(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

/*
 * Calls tried_function() repeatedly, and sets *arg to the median time of a call, in nanoseconds.
 * Between calls it writes to memory, as traced programs do, to displace the contents of the CPU
 * cache.
 */
static void *run_tried_function(void *arg)
{
	static volatile char memory[CACHE_BYTES];
	uint64_t took_ns[TRIED_CALLS], begin_ns, *usual_ns = arg;

	for (size_t i = 0; i < TRIED_CALLS; i++) {
		for (size_t j = 0; j < sizeof(memory); j += CACHE_LINE_BYTES)
			memory[j]++;
		begin_ns = clock_ns(CLOCK_MONOTONIC);
		tried_function();
		took_ns[i] = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	}
	qsort(took_ns, TRIED_CALLS, sizeof(*took_ns), compare_ns);
	*usual_ns = took_ns[TRIED_CALLS / 2];
	return NULL;
}

static bool find_tried_function(uint64_t *offset)
{
	uint64_t addr = (uintptr_t)tried_function;
	const struct mapping *mapping;
	struct proc_maps maps;

	if (proc_maps_read(getpid(), &maps))
		return false;
	mapping = proc_maps_find(&maps, addr);
	if (mapping)
		*offset = addr - mapping->start + mapping->offset;
	proc_maps_deinit(&maps);
	return mapping != NULL;
}

/*
 * Loads a program that counts its runs in the only element of an array. With session links, the
 * program returns 0 on its first run and 1 on later runs. Other links require 0.
 */
static int load_counting_program(int map_fd, enum multi_link_when when)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_LD | BPF_DW | BPF_IMM,
		 .dst_reg = BPF_REG_1,
		 .src_reg = BPF_PSEUDO_MAP_VALUE,
		 .imm = map_fd},
		{0},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 1},
		{.code = BPF_STX | BPF_ATOMIC | BPF_DW,
		 .dst_reg = BPF_REG_1,
		 .src_reg = BPF_REG_2,
		 .imm = BPF_ADD | BPF_FETCH},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_2, .imm = 0, .off = 1},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K,
		 .dst_reg = BPF_REG_0,
		 .imm = when == MULTI_LINK_SESSION},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = (enum bpf_attach_type)attach_type(when));

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "memleak_trial", "GPL", insns,
			     sizeof(insns) / sizeof(insns[0]), &opts);
}

static bool run_in_thread(uint64_t *ret_ns)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_tried_function, ret_ns))
		return false;
	return pthread_join(thread, NULL) == 0;
}

static int create_counter(void)
{
	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "memleak_trial", sizeof(__u32), sizeof(uint64_t),
			      1, NULL);
}

/* Returns the number of runs of the program in TRIED_CALLS calls; negative if the trial failed. */
static int64_t try_link(enum multi_link_when when, uint64_t *ret_ns)
{
	cleanup_close int map_fd = -1, prog_fd = -1, link_fd = -1;
	uint64_t offset, cookie = 0, hits = 0;
	struct multi_link link = {
		.path = "/proc/self/exe",
		.pid = getpid(),
		.when = when,
		.offsets = &offset,
		.cookies = &cookie,
		.cnt = 1,
	};
	__u32 key = 0;

	map_fd = create_counter();
	if (map_fd < 0 || !find_tried_function(&offset))
		return -1;
	prog_fd = load_counting_program(map_fd, when);
	if (prog_fd < 0)
		return -1;
	link.prog_fd = prog_fd;
	link_fd = multi_link_create(&link);
	if (link_fd < 0 || !run_in_thread(ret_ns))
		return -1;
	return bpf_map_lookup_elem(map_fd, &key, &hits) ? -1 : (int64_t)hits;
}

/* The number of uretprobe(2) on x86-64; on other machines no system call has this number. */
#define RETURN_PROBE_CALL 335

static void call_under_filter(int start_fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, RETURN_PROBE_CALL, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};
	const struct rlimit no_core = {0};
	char byte;

	setrlimit(RLIMIT_CORE, &no_core);
	if (read(start_fd, &byte, 1) == 1 && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	    !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) {
		tried_function();
		_exit(0);
	}
	_exit(1);
}

/*
 * Attaches a return probe to a new child process, which then runs under a seccomp filter. True if
 * the child was not killed.
 */
static bool child_survives(int prog_fd)
{
	cleanup_close int start_fd = -1, link_fd = -1, wait_fd = -1;
	uint64_t offset, cookie = 0;
	struct multi_link link = {
		.prog_fd = prog_fd,
		.path = "/proc/self/exe",
		.when = MULTI_LINK_RETURN,
		.offsets = &offset,
		.cookies = &cookie,
		.cnt = 1,
	};
	int ends[2], status;

	if (!find_tried_function(&offset) || pipe2(ends, O_CLOEXEC))
		return false;
	wait_fd = ends[0];
	start_fd = ends[1];
	link.pid = fork();
	if (link.pid < 0)
		return false;
	if (!link.pid) {
		close(start_fd);
		call_under_filter(wait_fd);
	}
	link_fd = multi_link_create(&link);
	if (link_fd < 0 || write(start_fd, "", 1) != 1)
		kill(link.pid, SIGKILL);
	return waitpid(link.pid, &status, 0) == link.pid && WIFEXITED(status) &&
	       !WEXITSTATUS(status);
}

bool return_probes_pass_seccomp(void)
{
	cleanup_close int map_fd = -1, prog_fd = -1;
	uint64_t trap_ns;

	/* A kernel without multi links has no uretprobe(2) that a filter could refuse. */
	if (!multi_link_supported(&trap_ns))
		return true;
	map_fd = create_counter();
	if (map_fd < 0)
		return false;
	prog_fd = load_counting_program(map_fd, MULTI_LINK_RETURN);
	return prog_fd >= 0 && child_survives(prog_fd);
}

bool multi_link_supported(uint64_t *ret_trap_ns)
{
	return try_link(MULTI_LINK_ENTRY, ret_trap_ns) == TRIED_CALLS;
}

/*
 * In the trial, the program runs at the entry and return of the first call, but only at the entry
 * of later calls.
 */
bool session_link_supported(uint64_t *ret_trap_ns)
{
	return try_link(MULTI_LINK_SESSION, ret_trap_ns) == TRIED_CALLS + 1;
}
