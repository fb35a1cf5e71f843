// SPDX-License-Identifier: GPL-2.0-or-later
/* Determines which descendants have copies of which blocks of their ancestors. */
#include "loader/tables/inheritance.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/bisect.h"

void inheritance_deinit(struct inheritance *inheritance)
{
	free(inheritance->forks);
	free(inheritance->blocks);
	free(inheritance->freed_in_child);
	image_set_deinit(&inheritance->ancestors);
	image_set_deinit(&inheritance->descendants);
	*inheritance = (struct inheritance){0};
}

struct fork_position {
	const struct fork *forks;
	uint32_t parent;
	uint64_t ns;
};

static bool is_fork_until(const void *arg, size_t at)
{
	const struct fork_position *position = arg;
	const struct fork *fork = &position->forks[at];

	return fork->parent < position->parent ||
	       (fork->parent == position->parent && fork->forked_ns <= position->ns);
}

/* Returns the index of the parent's first fork after the time `ns`. */
static size_t first_after(const struct inheritance *inheritance, uint32_t parent, uint64_t ns)
{
	const struct fork_position position = {inheritance->forks, parent, ns};

	return bisect(inheritance->fork_cnt, is_fork_until, &position);
}

/* True if the fork at this index is a fork of the parent and happened before until_ns. */
static bool is_fork(const struct inheritance *inheritance, size_t at, uint32_t parent,
		    uint64_t until_ns)
{
	return at < inheritance->fork_cnt && inheritance->forks[at].parent == parent &&
	       inheritance->forks[at].forked_ns < until_ns;
}

int inheritance_fork(struct inheritance *inheritance, uint32_t parent, uint32_t child,
		     uint64_t forked_ns)
{
	size_t at;

	if (array_reserve(&inheritance->forks, &inheritance->fork_cap, inheritance->fork_cnt + 1))
		return -ENOMEM;
	at = first_after(inheritance, parent, forked_ns);
	array_open(inheritance->forks, inheritance->fork_cnt, at);
	inheritance->forks[at] =
		(struct fork){.parent = parent, .child = child, .forked_ns = forked_ns};
	inheritance->fork_cnt++;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct fork *x = *(struct fork *const *)a, *y = *(struct fork *const *)b;

	return x->forked_ns < y->forked_ns ? -1 : x->forked_ns > y->forked_ns;
}

/*
 * Finds the ancestors of living images. Visits the latest forks first: a child's own forks are
 * visited before the fork that created the child, and show whether the child has living
 * descendants.
 */
static int find_ancestors(struct inheritance *inheritance, struct fork **forks, living_fn *living,
			  void *arg)
{
	int err = 0;

	for (size_t i = 0; i < inheritance->fork_cnt; i++)
		forks[i] = &inheritance->forks[i];
	qsort(forks, inheritance->fork_cnt, sizeof(*forks), by_time);
	for (size_t i = inheritance->fork_cnt; !err && i-- > 0;) {
		struct fork *fork = forks[i];

		fork->matters = living(arg, fork->child) ||
				image_set_has(&inheritance->ancestors, fork->child);
		if (!fork->matters)
			continue;
		err = image_set_add(&inheritance->ancestors, fork->parent);
		if (!err)
			err = image_set_add(&inheritance->descendants, fork->child);
	}
	return err;
}

int inheritance_update(struct inheritance *inheritance, living_fn *living, void *arg)
{
	struct fork **forks = calloc(inheritance->fork_cnt + 1, sizeof(*forks));
	size_t kept = 0;
	int err = -ENOMEM;

	image_set_clear(&inheritance->ancestors);
	image_set_clear(&inheritance->descendants);
	if (forks)
		err = find_ancestors(inheritance, forks, living, arg);
	free(forks);
	if (err)
		return err;
	for (size_t i = 0; i < inheritance->fork_cnt; i++)
		if (inheritance->forks[i].matters)
			inheritance->forks[kept++] = inheritance->forks[i];
	inheritance->fork_cnt = kept;
	return 0;
}

bool inheritance_is_ancestor(const struct inheritance *inheritance, uint32_t image)
{
	return image_set_has(&inheritance->ancestors, image);
}

bool inheritance_is_descendant(const struct inheritance *inheritance, uint32_t image)
{
	return image_set_has(&inheritance->descendants, image);
}

bool inheritance_is_shared(const struct inheritance *inheritance, uint32_t image, uint64_t birth_ns,
			   uint64_t freed_ns)
{
	return is_fork(inheritance, first_after(inheritance, image, birth_ns), image, freed_ns);
}

void inheritance_begin(struct inheritance *inheritance)
{
	inheritance->block_cnt = 0;
	inheritance->freed_in_child_cnt = 0;
}

int inheritance_add(struct inheritance *inheritance, const struct inherited_block *block)
{
	if (array_reserve(&inheritance->blocks, &inheritance->block_cap,
			  inheritance->block_cnt + 1))
		return -ENOMEM;
	inheritance->blocks[inheritance->block_cnt++] = *block;
	return 0;
}

int inheritance_free_in_child(struct inheritance *inheritance,
			      const struct freed_in_child *freed_in_child)
{
	if (array_reserve(&inheritance->freed_in_child, &inheritance->freed_in_child_cap,
			  inheritance->freed_in_child_cnt + 1))
		return -ENOMEM;
	inheritance->freed_in_child[inheritance->freed_in_child_cnt++] = *freed_in_child;
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct freed_in_child *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static uint64_t freed_in_child_ns(const struct inheritance *inheritance, uint32_t image,
				  uint64_t addr)
{
	const struct freed_in_child wanted = {.image = image, .addr = addr}, *found = NULL;

	if (inheritance->freed_in_child_cnt)
		found = bsearch(&wanted, inheritance->freed_in_child,
				inheritance->freed_in_child_cnt, sizeof(wanted), by_place);
	return found ? found->freed_ns : NEVER_NS;
}

struct sharing {
	const struct inheritance *inheritance;
	const struct inherited_block *block;
	share_fn *share;
	void *arg;
};

/*
 * Passes the block to all descendants that were forked while their parents had it and that have not
 * freed it since. The image itself had the block from since_ns to until_ns.
 */
static int share_with_descendants(const struct sharing *sharing, uint32_t image, uint64_t since_ns,
				  uint64_t until_ns)
{
	const struct inheritance *inheritance = sharing->inheritance;
	int err = 0;

	for (size_t i = first_after(inheritance, image, since_ns);
	     !err && is_fork(inheritance, i, image, until_ns); i++) {
		const struct fork *fork = &inheritance->forks[i];
		uint64_t freed_ns =
			freed_in_child_ns(inheritance, fork->child, sharing->block->addr);

		if (freed_ns == NEVER_NS)
			err = sharing->share(sharing->arg, fork->child, sharing->block);
		if (!err)
			err = share_with_descendants(sharing, fork->child, fork->forked_ns,
						     freed_ns);
	}
	return err;
}

static int by_birth(const void *a, const void *b)
{
	const struct inherited_block *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->birth_ns < y->birth_ns ? -1 : x->birth_ns > y->birth_ns;
}

/* Returns the index of the first freed block. All outstanding blocks precede it. */
static size_t first_freed(const struct inheritance *inheritance)
{
	size_t at = inheritance->block_cnt;

	while (at > 0 && inheritance->blocks[at - 1].freed_ns != NEVER_NS)
		at--;
	return at;
}

int inheritance_share(struct inheritance *inheritance, share_fn *share, void *arg)
{
	struct sharing sharing = {.inheritance = inheritance, .share = share, .arg = arg};
	size_t freed = first_freed(inheritance), freed_cnt = inheritance->block_cnt - freed;
	int err = 0;

	if (inheritance->freed_in_child_cnt)
		qsort(inheritance->freed_in_child, inheritance->freed_in_child_cnt,
		      sizeof(*inheritance->freed_in_child), by_place);
	if (freed_cnt)
		qsort(&inheritance->blocks[freed], freed_cnt, sizeof(*inheritance->blocks),
		      by_birth);
	for (size_t i = 0; !err && i < inheritance->block_cnt; i++) {
		const struct inherited_block *block = &inheritance->blocks[i];

		if (i < freed && freed_cnt &&
		    bsearch(block, &inheritance->blocks[freed], freed_cnt, sizeof(*block),
			    by_birth))
			continue;
		sharing.block = block;
		err = share_with_descendants(&sharing, block->image, block->birth_ns,
					     block->freed_ns);
	}
	return err;
}
