// SPDX-License-Identifier: GPL-2.0-or-later
/* The symbolizer: its helper and the files that were opened. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "symbolizer/internal.h"

int symbolizer__new(struct symbolizer **ret)
{
	struct symbolizer *sym = calloc(1, sizeof(*sym));
	int err;

	if (!sym)
		return -ENOMEM;
	err = parser_init(&sym->parser);
	if (err) {
		free(sym);
		return err;
	}
	fetcher_init(&sym->fetcher);
	*ret = sym;
	return 0;
}

void symbolizer__free(struct symbolizer *sym)
{
	if (!sym)
		return;
	parser_deinit(&sym->parser);
	fetcher_deinit(&sym->fetcher);
	for (size_t i = 0; i < sym->module_cnt; i++)
		module__free(sym->modules[i]);
	free(sym->modules);
	free(sym);
}

int symbolizer__add_module(struct symbolizer *sym, struct module *module)
{
	if (sym->module_cnt == sym->module_cap) {
		size_t cap = sym->module_cap ? sym->module_cap * 2 : 64;
		struct module **modules = reallocarray(sym->modules, cap, sizeof(*modules));

		if (!modules)
			return -ENOMEM;
		sym->modules = modules;
		sym->module_cap = cap;
	}
	module->id = sym->module_cnt;
	sym->modules[sym->module_cnt++] = module;
	return 0;
}

int symbolizer__module(struct symbolizer *sym, int fd, const struct stat *st, const char *path,
		       struct module **ret)
{
	struct module *module = NULL;
	int err;

	for (size_t i = 0; i < sym->module_cnt; i++) {
		if (module__is(sym->modules[i], st)) {
			close(fd);
			*ret = sym->modules[i];
			return 0;
		}
	}
	err = module__new(fd, st, path, &module);
	if (err) {
		close(fd);
		return err;
	}
	err = symbolizer__add_module(sym, module);
	if (err) {
		module__free(module);
		return err;
	}
	*ret = module;
	return 0;
}

int symbolizer__add_file(struct symbolizer *sym, int fd, const char *path, uint32_t *ret)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0), err;
	struct module *module;
	struct stat st;

	if (own < 0)
		return -errno;
	if (fstat(own, &st)) {
		err = -errno;
		close(own);
		return err;
	}
	err = symbolizer__module(sym, own, &st, path, &module);
	if (!err)
		*ret = module->id + 1;
	return err;
}
