// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * probe nothing|get_stack PID LIBC
 *
 * Attaches the named BPF program of probe.bpf.c to malloc in the file LIBC of the process PID, and
 * prints "ready". When stdin ends, prints the number of frames that the latest stack walk found.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/probe.skel.h"

static int report(struct probe_bpf *skel, struct bpf_program *program, int pid, const char *libc)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .func_name = "malloc");
	struct bpf_link *link = bpf_program__attach_uprobe_opts(program, pid, libc, 0, &opts);
	char byte;

	if (!link)
		return 1;
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	printf("%llu\n", (unsigned long long)skel->bss->frame_cnt);
	bpf_link__destroy(link);
	return 0;
}

int main(int argc, char **argv)
{
	struct probe_bpf *skel;
	int result;

	if (argc != 4)
		return 2;
	skel = probe_bpf__open_and_load();
	if (!skel)
		return 1;
	result = report(skel,
			strcmp(argv[1], "nothing") ? skel->progs.get_stack : skel->progs.nothing,
			atoi(argv[2]), argv[3]);
	probe_bpf__destroy(skel);
	return result;
}
