/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The running kernel as a thing with names: its symbols and who owns them. It changes while it
 * runs, by modules and BPF programs that come and go.
 */
#ifndef SYMBOLIZER_KERNEL_IMAGE_H
#define SYMBOLIZER_KERNEL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/kallsyms.h"
#include "symbolizer/kernel_files.h"

struct module;

/* The core kernel, a module, or what stands in brackets in the list of symbols. Never removed. */
struct kernel_part {
	char *name;
	uint64_t start;
	uint64_t end;        /* 0: not known */
	char *build_id;      /* hex; NULL: none */
	bool gone;           /* unloaded, or loaded again elsewhere */
	bool searched;       /* for the file with its DWARF */
	struct module *file; /* NULL: none can be found */
};

struct kernel_image {
	struct kernel_roots roots;
	struct kallsyms table;
	struct kernel_part **parts; /* [KALLSYMS_CORE] is the core kernel; by number of owner */
	size_t part_cnt;
	size_t part_cap;
	uint64_t modules_hash; /* of what was loaded */
	uint64_t read_ns;      /* when the table was read */
	uint64_t pause_ns;     /* it is not read again before so long, for one read takes long */
	int error; /* 0; -EPERM: the kernel hides its addresses; why kallsyms was not read */
};

/* What lies at an address. */
struct kernel_place {
	struct kernel_part *part; /* NULL: nothing is known to be there */
	const char *symbol;       /* NULL: no function; valid until the table is read again */
	uint64_t start;           /* of the function */
};

/* A kernel that says nothing of itself is no failure: error says why. -ENOMEM. */
int kernel_image_init(const struct kernel_roots *roots, struct kernel_image *ret);
void kernel_image_deinit(struct kernel_image *image);

/* Reads everything again. -ENOMEM; the image goes on as it was. */
int kernel_image_read(struct kernel_image *image);

/* Whether modules came or went since the table was read. */
bool kernel_image_is_stale(const struct kernel_image *image);

struct kernel_place kernel_image_find(const struct kernel_image *image, uint64_t addr);

#endif
