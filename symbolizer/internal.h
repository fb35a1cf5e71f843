/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The library's own objects; of interest to its files and its tests only. */
#ifndef SYMBOLIZER_INTERNAL_H
#define SYMBOLIZER_INTERNAL_H

#include "symbolizer/addr_map.h"
#include "symbolizer/fetcher.h"
#include "symbolizer/module.h"
#include "symbolizer/parser.h"
#include "symbolizer/perf_map.h"
#include "symbolizer/proc_image.h"
#include "symbolizer/regions.h"
#include "symbolizer/symbolizer.h"

struct symbolizer {
	struct parser parser;
	struct fetcher fetcher;
	struct module **modules; /* by id */
	size_t module_cnt;
	size_t module_cap;
};

/*
 * The module of a file; fd is taken over, or closed when the file is known already. path is how
 * the process sees it. Fails only with -ENOMEM.
 */
int symbolizer__module(struct symbolizer *sym, int fd, const struct stat *st, const char *path,
		       struct module **ret);

struct symspace {
	struct symbolizer *sym;
	struct proc_image image;
	struct regions regions;
	unsigned int generation; /* counts refreshes */
	struct addr_map locations;
	struct location **all; /* also those that were replaced */
	size_t all_cnt;
	size_t all_cap;
	struct perf_map jit;
};

#endif
