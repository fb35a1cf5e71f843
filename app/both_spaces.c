// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the source that combines the source of user memory and the source of kernel memory. */
#include "app/both_spaces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

struct both_spaces {
	struct source source;
	struct symbol_backend symbols;
	struct source *user;
	struct source *kernel;
	int epoll_fd;
};

static struct both_spaces *both_of(const struct source *source)
{
	return (struct both_spaces *)source;
}

static int both_spaces__start(struct source *base)
{
	struct both_spaces *both = both_of(base);
	int err = both->kernel->ops->start(both->kernel);

	return err ? err : both->user->ops->start(both->user);
}

static void both_spaces__describe(const struct source *base)
{
	const struct both_spaces *both = both_of(base);

	both->user->ops->describe(both->user);
	both->kernel->ops->describe(both->kernel);
}

static int both_spaces__poll_fd(const struct source *base)
{
	return both_of(base)->epoll_fd;
}

static int both_spaces__dispatch(struct source *base, const struct event_listener *listener,
				 uint64_t deadline_ns)
{
	struct both_spaces *both = both_of(base);
	int err = both->user->ops->dispatch(both->user, listener, deadline_ns);

	return err ? err : both->kernel->ops->dispatch(both->kernel, listener, deadline_ns);
}

static int both_spaces__drain(struct source *base, const struct event_listener *listener,
			      uint64_t deadline_ns)
{
	struct both_spaces *both = both_of(base);
	int err = both->user->ops->drain(both->user, listener, deadline_ns);

	return err ? err : both->kernel->ops->drain(both->kernel, listener, deadline_ns);
}

static bool both_spaces__ended(const struct source *base)
{
	const struct both_spaces *both = both_of(base);

	return both->user->ops->ended(both->user);
}

static int join_arrays(struct snapshot *a, const struct snapshot *b)
{
	size_t site_cnt = a->site_cnt + b->site_cnt, block_cnt = a->block_cnt + b->block_cnt;
	struct site *sites = reallocarray(a->sites, site_cnt + 1, sizeof(*sites));
	struct block *blocks;

	if (!sites)
		return -ENOMEM;
	a->sites = sites;
	blocks = reallocarray(a->blocks, block_cnt + 1, sizeof(*blocks));
	if (!blocks)
		return -ENOMEM;
	a->blocks = blocks;
	memcpy(sites + a->site_cnt, b->sites, b->site_cnt * sizeof(*sites));
	for (size_t i = 0; i < b->block_cnt; i++) {
		blocks[a->block_cnt + i] = b->blocks[i];
		blocks[a->block_cnt + i].site += a->site_cnt;
	}
	a->site_cnt = site_cnt;
	a->block_cnt = block_cnt;
	return 0;
}

/*
 * Moves the snapshot `b` of kernel memory into the snapshot `a` of user memory. `b` has no
 * summaries and tallies.
 */
static int join(struct snapshot *a, struct snapshot *b)
{
	a->walk_ns = b->t0_ns + b->walk_ns - a->t0_ns;
	for (size_t i = 0; i < LOSS_CNT; i++)
		a->lost[i] += b->lost[i];
	a->calls += b->calls;
	a->stats[SPACE_KERNEL] = b->stats[SPACE_KERNEL];
	a->replaced += b->replaced;
	a->gone_with_page += b->gone_with_page;
	a->beyond_caches += b->beyond_caches;
	a->frees_hidden |= b->frees_hidden;
	a->vmalloc_hidden += b->vmalloc_hidden;
	a->kernel_memory = b->kernel_memory;
	a->kernel_memory_before = b->kernel_memory_before;
	a->kernel_growths = b->kernel_growths;
	a->kernel_growth_cnt = b->kernel_growth_cnt;
	arena_join(&a->arena, &b->arena);
	return join_arrays(a, b);
}

static int both_spaces__read(struct source *base, const struct read_request *request,
			     struct snapshot *ret)
{
	struct both_spaces *both = both_of(base);
	struct snapshot user, kernel;
	int err = both->user->ops->read(both->user, request, &user);

	if (err)
		return err;
	err = both->kernel->ops->read(both->kernel, request, &kernel);
	if (!err) {
		err = join(&user, &kernel);
		snapshot_deinit(&kernel);
	}
	if (err)
		snapshot_deinit(&user);
	else
		*ret = user;
	return err;
}

static void both_spaces__at_end(struct source *base, pid_t pid)
{
	struct source *user = both_of(base)->user;

	user->ops->at_end(user, pid);
}

static void both_spaces__expect_pictures(struct source *base)
{
	struct source *user = both_of(base)->user;

	user->ops->expect_pictures(user);
}

static int both_spaces__processes(const struct source *base, struct traced_process **ret,
				  size_t *ret_cnt)
{
	const struct source *user = both_of(base)->user;

	return user->ops->processes(user, ret, ret_cnt);
}

static uint64_t both_spaces__set_baseline(struct source *base, uint64_t now_ns)
{
	struct both_spaces *both = both_of(base);

	both->kernel->ops->set_baseline(both->kernel, now_ns);
	return both->user->ops->set_baseline(both->user, now_ns);
}

static int both_spaces__maintain(struct source *base, const struct snapshot *snap, bool is_reported)
{
	struct both_spaces *both = both_of(base);
	int err = both->user->ops->maintain(both->user, snap, is_reported);

	return err ? err : both->kernel->ops->maintain(both->kernel, snap, is_reported);
}

static struct both_spaces *both_of_symbols(struct symbol_backend *self)
{
	return (struct both_spaces *)((char *)self - offsetof(struct both_spaces, symbols));
}

/* Lets both backends look up names; each skips the sites of the other address space. */
static int both_spaces__prepare(struct symbol_backend *self, const struct site *const *sites,
				size_t cnt, uint64_t deadline_ns)
{
	struct both_spaces *both = both_of_symbols(self);
	int err = both->user->symbols->prepare(both->user->symbols, sites, cnt, deadline_ns);

	return err ? err
		   : both->kernel->symbols->prepare(both->kernel->symbols, sites, cnt, deadline_ns);
}

static const struct sym_location *both_spaces__lookup(struct symbol_backend *self,
						      const struct site *site, uint64_t addr)
{
	struct both_spaces *both = both_of_symbols(self);
	struct symbol_backend *backend =
		site->space == SPACE_KERNEL ? both->kernel->symbols : both->user->symbols;

	return backend->lookup(backend, site, addr);
}

static const struct sym_location *both_spaces__place(struct symbol_backend *self,
						     const struct site *site, enum sym_kind kind,
						     uint64_t addr, uint64_t deadline_ns)
{
	struct symbol_backend *user = both_of_symbols(self)->user->symbols;

	return user->place ? user->place(user, site, kind, addr, deadline_ns) : NULL;
}

static void both_spaces__free(struct source *base)
{
	struct both_spaces *both = both_of(base);

	both->user->ops->free(both->user);
	both->kernel->ops->free(both->kernel);
	if (both->epoll_fd >= 0)
		close(both->epoll_fd);
	free(both);
}

static const struct source_ops both_spaces_ops = {
	.start = both_spaces__start,
	.describe = both_spaces__describe,
	.poll_fd = both_spaces__poll_fd,
	.dispatch = both_spaces__dispatch,
	.drain = both_spaces__drain,
	.ended = both_spaces__ended,
	.read = both_spaces__read,
	.at_end = both_spaces__at_end,
	.expect_pictures = both_spaces__expect_pictures,
	.processes = both_spaces__processes,
	.set_baseline = both_spaces__set_baseline,
	.maintain = both_spaces__maintain,
	.free = both_spaces__free,
};

static int watch(struct both_spaces *both, const struct source *source)
{
	struct epoll_event event = {.events = EPOLLIN};

	if (epoll_ctl(both->epoll_fd, EPOLL_CTL_ADD, source->ops->poll_fd(source), &event))
		return -errno;
	return 0;
}

int both_spaces__new(struct source *user, struct source *kernel, struct source **ret)
{
	struct both_spaces *both = calloc(1, sizeof(*both));
	int err;

	if (!both) {
		user->ops->free(user);
		kernel->ops->free(kernel);
		return -ENOMEM;
	}
	*both = (struct both_spaces){
		.source = {.ops = &both_spaces_ops, .symbols = &both->symbols},
		.symbols = {.prepare = both_spaces__prepare,
			    .lookup = both_spaces__lookup,
			    .place = both_spaces__place},
		.user = user,
		.kernel = kernel,
		.epoll_fd = epoll_create1(EPOLL_CLOEXEC),
	};
	err = both->epoll_fd < 0 ? -errno : watch(both, user);
	if (!err)
		err = watch(both, kernel);
	if (err) {
		both_spaces__free(&both->source);
		return err;
	}
	*ret = &both->source;
	return 0;
}
