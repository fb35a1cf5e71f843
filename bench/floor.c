// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * floor session|multi|perf calls|entries PID FILE MALLOC FREE | floor kernel
 *
 * Attaches empty BPF programs. The first form attaches uprobes to the process PID, with links of
 * the kind session, multi or perf. With "calls", the probes are at the entry and the return of
 * malloc and at the entry of free; with "entries", only at the entries of malloc and free. MALLOC
 * and FREE are offsets in FILE, in hexadecimal. "floor kernel" attaches the programs to the
 * kernel's tracepoints kmalloc and kfree. Prints "ready" when attached, and detaches when stdin
 * ends.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/floor.skel.h"
#include "loader/probes/multi_link.h"

struct place {
	const char *kind; /* kind of link */
	const char *path;
	pid_t pid;
	uint64_t offset;
};

static int attach(const struct place *place, struct bpf_program *program, enum multi_link_when when)
{
	uint64_t cookie = 0;
	struct multi_link link = {
		.prog_fd = bpf_program__fd(program),
		.path = place->path,
		.pid = place->pid,
		.when = when,
		.offsets = &place->offset,
		.cookies = &cookie,
		.cnt = 1,
	};

	if (!strcmp(place->kind, "perf"))
		return bpf_program__attach_uprobe(program, when == MULTI_LINK_RETURN, place->pid,
						  place->path, place->offset)
			       ? 0
			       : -1;
	return multi_link_create(&link);
}

/* Attaches BPF programs to a process. The links exist until floor ends. */
static int attach_user(struct floor_bpf *skel, const char *what, struct place malloc_place,
		       struct place free_place)
{
	int entries = !strcmp(what, "entries"), err;

	if (strcmp(malloc_place.kind, "session")) {
		err = attach(&malloc_place, skel->progs.nothing, MULTI_LINK_ENTRY);
		if (err >= 0 && !entries)
			err = attach(&malloc_place, skel->progs.nothing, MULTI_LINK_RETURN);
	} else {
		err = attach(&malloc_place,
			     entries ? skel->progs.session_entry : skel->progs.session,
			     MULTI_LINK_SESSION);
	}
	return err < 0 ? err : attach(&free_place, skel->progs.nothing, MULTI_LINK_ENTRY);
}

/* Loads only the BPF programs that will be attached: older kernels reject session programs. */
static int load(struct floor_bpf *skel, const char *kind)
{
	int kernel = !strcmp(kind, "kernel"), is_session = !strcmp(kind, "session");

	bpf_program__set_autoload(skel->progs.kmalloc, kernel);
	bpf_program__set_autoload(skel->progs.kfree, kernel);
	bpf_program__set_autoload(skel->progs.nothing, !kernel);
	bpf_program__set_autoload(skel->progs.session, is_session);
	bpf_program__set_autoload(skel->progs.session_entry, is_session);
	bpf_program__set_expected_attach_type(skel->progs.session,
					      (enum bpf_attach_type)SESSION_LINK_ATTACH_TYPE);
	bpf_program__set_expected_attach_type(skel->progs.session_entry,
					      (enum bpf_attach_type)SESSION_LINK_ATTACH_TYPE);
	if (strcmp(kind, "perf") != 0)
		bpf_program__set_expected_attach_type(skel->progs.nothing,
						      (enum bpf_attach_type)MULTI_LINK_ATTACH_TYPE);
	return floor_bpf__load(skel);
}

static int attach_kernel(struct floor_bpf *skel)
{
	return bpf_program__attach_trace(skel->progs.kmalloc) &&
			       bpf_program__attach_trace(skel->progs.kfree)
		       ? 0
		       : -1;
}

static int attach_words(struct floor_bpf *skel, char **argv)
{
	struct place place = {.kind = argv[1], .path = argv[4], .pid = atoi(argv[3])};
	struct place malloc_place = place, free_place = place;

	malloc_place.offset = strtoull(argv[5], NULL, 16);
	free_place.offset = strtoull(argv[6], NULL, 16);
	return attach_user(skel, argv[2], malloc_place, free_place);
}

int main(int argc, char **argv)
{
	struct floor_bpf *skel;
	char byte;

	if (argc != 7 && argc != 2)
		return 2;
	skel = floor_bpf__open();
	if (!skel || load(skel, argv[1]))
		return 1;
	if ((argc == 7 ? attach_words(skel, argv) : attach_kernel(skel)) < 0)
		return 1;
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
