// SPDX-License-Identifier: GPL-2.0-or-later
/* Who has which blocks of which forebears. */
#include "loader/inheritance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void inheritance_deinit(struct inheritance *inheritance)
{
	free(inheritance->forks);
	free(inheritance->blocks);
	free(inheritance->disowned);
	image_set_deinit(&inheritance->forebears);
	image_set_deinit(&inheritance->heirs);
	*inheritance = (struct inheritance){0};
}

/* Room for one more; NULL: no memory. */
static void *grow(void *items, size_t cnt, size_t *cap, size_t size)
{
	size_t wanted = *cap ? *cap * 2 : 64;
	void *grown;

	if (cnt < *cap)
		return items;
	grown = reallocarray(items, wanted, size);
	if (grown)
		*cap = wanted;
	return grown;
}

/* The first fork of a parent that is later. */
static size_t first_after(const struct inheritance *inheritance, uint32_t parent, uint64_t ns)
{
	size_t low = 0, high = inheritance->fork_cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct fork *fork = &inheritance->forks[middle];

		if (fork->parent < parent || (fork->parent == parent && fork->forked_ns <= ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether it is one of the parent's, from before a time. */
static bool is_fork(const struct inheritance *inheritance, size_t at, uint32_t parent,
		    uint64_t until_ns)
{
	return at < inheritance->fork_cnt && inheritance->forks[at].parent == parent &&
	       inheritance->forks[at].forked_ns < until_ns;
}

int inheritance_fork(struct inheritance *inheritance, uint32_t parent, uint32_t child,
		     uint64_t forked_ns)
{
	struct fork *grown = grow(inheritance->forks, inheritance->fork_cnt, &inheritance->fork_cap,
				  sizeof(*grown));
	size_t at;

	if (!grown)
		return -ENOMEM;
	inheritance->forks = grown;
	at = first_after(inheritance, parent, forked_ns);
	memmove(&grown[at + 1], &grown[at], (inheritance->fork_cnt - at) * sizeof(*grown));
	grown[at] = (struct fork){.parent = parent, .child = child, .forked_ns = forked_ns};
	inheritance->fork_cnt++;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct fork *x = *(struct fork *const *)a, *y = *(struct fork *const *)b;

	return x->forked_ns < y->forked_ns ? -1 : x->forked_ns > y->forked_ns;
}

/* Children are younger than their parents: the last are asked first. */
static int find_forebears(struct inheritance *inheritance, struct fork **forks, living_fn *living,
			  void *arg)
{
	int err = 0;

	for (size_t i = 0; i < inheritance->fork_cnt; i++)
		forks[i] = &inheritance->forks[i];
	qsort(forks, inheritance->fork_cnt, sizeof(*forks), by_time);
	for (size_t i = inheritance->fork_cnt; !err && i-- > 0;) {
		struct fork *fork = forks[i];

		fork->matters = living(arg, fork->child) ||
				image_set_has(&inheritance->forebears, fork->child);
		if (!fork->matters)
			continue;
		err = image_set_add(&inheritance->forebears, fork->parent);
		if (!err)
			err = image_set_add(&inheritance->heirs, fork->child);
	}
	return err;
}

int inheritance_update(struct inheritance *inheritance, living_fn *living, void *arg)
{
	struct fork **forks = calloc(inheritance->fork_cnt + 1, sizeof(*forks));
	size_t kept = 0;
	int err = -ENOMEM;

	image_set_clear(&inheritance->forebears);
	image_set_clear(&inheritance->heirs);
	if (forks)
		err = find_forebears(inheritance, forks, living, arg);
	free(forks);
	if (err)
		return err;
	for (size_t i = 0; i < inheritance->fork_cnt; i++)
		if (inheritance->forks[i].matters)
			inheritance->forks[kept++] = inheritance->forks[i];
	inheritance->fork_cnt = kept;
	return 0;
}

bool inheritance_is_forebear(const struct inheritance *inheritance, uint32_t image)
{
	return image_set_has(&inheritance->forebears, image);
}

bool inheritance_is_heir(const struct inheritance *inheritance, uint32_t image)
{
	return image_set_has(&inheritance->heirs, image);
}

bool inheritance_is_shared(const struct inheritance *inheritance, uint32_t image, uint64_t birth_ns,
			   uint64_t freed_ns)
{
	return is_fork(inheritance, first_after(inheritance, image, birth_ns), image, freed_ns);
}

void inheritance_begin(struct inheritance *inheritance)
{
	inheritance->block_cnt = 0;
	inheritance->disowned_cnt = 0;
}

int inheritance_add(struct inheritance *inheritance, const struct heirloom *block)
{
	struct heirloom *grown = grow(inheritance->blocks, inheritance->block_cnt,
				      &inheritance->block_cap, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	inheritance->blocks = grown;
	grown[inheritance->block_cnt++] = *block;
	return 0;
}

int inheritance_disown(struct inheritance *inheritance, const struct disowned *disowned)
{
	struct disowned *grown = grow(inheritance->disowned, inheritance->disowned_cnt,
				      &inheritance->disowned_cap, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	inheritance->disowned = grown;
	grown[inheritance->disowned_cnt++] = *disowned;
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct disowned *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static uint64_t disowned_ns(const struct inheritance *inheritance, uint32_t image, uint64_t addr)
{
	const struct disowned wanted = {.image = image, .addr = addr}, *found = NULL;

	if (inheritance->disowned_cnt)
		found = bsearch(&wanted, inheritance->disowned, inheritance->disowned_cnt,
				sizeof(wanted), by_place);
	return found ? found->freed_ns : NEVER_NS;
}

struct gift {
	const struct inheritance *inheritance;
	const struct heirloom *block;
	give_fn *give;
	void *arg;
};

/* To those that were forked while the image had it, and on to theirs. */
static int give_to_heirs(const struct gift *gift, uint32_t image, uint64_t since_ns,
			 uint64_t until_ns)
{
	const struct inheritance *inheritance = gift->inheritance;
	int err = 0;

	for (size_t i = first_after(inheritance, image, since_ns);
	     !err && is_fork(inheritance, i, image, until_ns); i++) {
		const struct fork *fork = &inheritance->forks[i];
		uint64_t freed_ns = disowned_ns(inheritance, fork->child, gift->block->addr);

		if (freed_ns == NEVER_NS)
			err = gift->give(gift->arg, fork->child, gift->block);
		if (!err)
			err = give_to_heirs(gift, fork->child, fork->forked_ns, freed_ns);
	}
	return err;
}

static int by_birth(const void *a, const void *b)
{
	const struct heirloom *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->birth_ns < y->birth_ns ? -1 : x->birth_ns > y->birth_ns;
}

/* The first of those that images had. */
static size_t first_freed(const struct inheritance *inheritance)
{
	size_t at = inheritance->block_cnt;

	while (at > 0 && inheritance->blocks[at - 1].freed_ns != NEVER_NS)
		at--;
	return at;
}

int inheritance_share(struct inheritance *inheritance, give_fn *give, void *arg)
{
	struct gift gift = {.inheritance = inheritance, .give = give, .arg = arg};
	size_t freed = first_freed(inheritance), freed_cnt = inheritance->block_cnt - freed;
	int err = 0;

	if (inheritance->disowned_cnt)
		qsort(inheritance->disowned, inheritance->disowned_cnt,
		      sizeof(*inheritance->disowned), by_place);
	if (freed_cnt)
		qsort(&inheritance->blocks[freed], freed_cnt, sizeof(*inheritance->blocks),
		      by_birth);
	for (size_t i = 0; !err && i < inheritance->block_cnt; i++) {
		const struct heirloom *block = &inheritance->blocks[i];

		if (i < freed && freed_cnt &&
		    bsearch(block, &inheritance->blocks[freed], freed_cnt, sizeof(*block),
			    by_birth))
			continue;
		gift.block = block;
		err = give_to_heirs(&gift, block->image, block->birth_ns, block->freed_ns);
	}
	return err;
}
