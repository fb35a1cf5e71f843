// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests which blocks the descendants of a forked process have, against a model that copies all
 * blocks at each fork.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "loader/tables/inheritance.h"
#include "tests/unit/lib/random.h"

#define IMAGES 24
#define PLACES 12
#define FREED_MAX 4096

/* A block in the model. birth_ns: 0 if there is no block. */
struct held {
	uint64_t birth_ns;
	uint32_t owner; /* process image that allocated the block */
};

struct model {
	struct inheritance inheritance;
	uint64_t now_ns;
	/* number of process images so far, numbered from 1; includes ended ones */
	uint32_t image_cnt;
	bool there[IMAGES + 1];
	struct held held[IMAGES + 1][PLACES];
	/* blocks that each image has allocated itself and not freed */
	struct held kept[IMAGES + 1][PLACES];
	uint64_t freed_in_child_ns[IMAGES + 1][PLACES];
	struct inherited_block freed[FREED_MAX];
	size_t freed_cnt;
	bool given[IMAGES + 1][PLACES];
};

static bool is_there(void *arg, uint32_t image)
{
	const struct model *model = arg;

	return model->there[image];
}

static struct inherited_block inherited_block_of(const struct model *model, uint32_t image,
						 size_t place)
{
	return (struct inherited_block){
		.image = image,
		.addr = place,
		.birth_ns = model->kept[image][place].birth_ns,
		.freed_ns = NEVER_NS,
	};
}

static void allocate(struct model *model, uint32_t image, size_t place)
{
	if (model->held[image][place].birth_ns)
		return;
	model->held[image][place] = (struct held){model->now_ns, image};
	model->kept[image][place] = model->held[image][place];
}

static void release(struct model *model, uint32_t image, size_t place)
{
	struct held *held = &model->held[image][place];

	if (!held->birth_ns)
		return;
	if (held->owner != image) {
		model->freed_in_child_ns[image][place] = model->now_ns;
	} else {
		assert_true(model->freed_cnt < FREED_MAX);
		model->freed[model->freed_cnt] = inherited_block_of(model, image, place);
		model->freed[model->freed_cnt++].freed_ns = model->now_ns;
		model->kept[image][place] = (struct held){0};
	}
	*held = (struct held){0};
}

static void make_child(struct model *model, uint32_t parent)
{
	uint32_t child = model->image_cnt + 1;

	if (child > IMAGES)
		return;
	model->image_cnt = child;
	model->there[child] = true;
	memcpy(model->held[child], model->held[parent], sizeof(model->held[child]));
	assert_int_equal(inheritance_fork(&model->inheritance, parent, child, model->now_ns), 0);
}

static int share(void *arg, uint32_t descendant, const struct inherited_block *block)
{
	struct model *model = arg;
	const struct held *held = &model->held[descendant][block->addr];

	if (!model->there[descendant])
		return 0;
	assert_false(model->given[descendant][block->addr]);
	assert_int_equal(held->owner, block->image);
	assert_int_equal(held->birth_ns, block->birth_ns);
	model->given[descendant][block->addr] = true;
	return 0;
}

/* Adds live blocks, freed blocks and frees by children, some of them twice. */
static void add_all(struct model *model)
{
	struct inheritance *inheritance = &model->inheritance;

	inheritance_begin(inheritance);
	for (uint32_t image = 1; image <= model->image_cnt; image++) {
		for (size_t place = 0; place < PLACES; place++) {
			struct inherited_block block = inherited_block_of(model, image, place);

			if (block.birth_ns && inheritance_is_ancestor(inheritance, image))
				assert_int_equal(inheritance_add(inheritance, &block), 0);
		}
	}
	for (size_t i = 0; i < model->freed_cnt && i < 2; i++) {
		struct inherited_block met = model->freed[model->freed_cnt - 1 - i];

		met.freed_ns = NEVER_NS;
		if (inheritance_is_shared(inheritance, met.image, met.birth_ns,
					  model->freed[model->freed_cnt - 1 - i].freed_ns))
			assert_int_equal(inheritance_add(inheritance, &met), 0);
	}
	for (size_t i = 0; i < model->freed_cnt; i++) {
		const struct inherited_block *block = &model->freed[i];

		if (inheritance_is_shared(inheritance, block->image, block->birth_ns,
					  block->freed_ns))
			assert_int_equal(inheritance_add(inheritance, block), 0);
	}
	for (uint32_t image = 1; image <= model->image_cnt; image++) {
		for (size_t place = 0; place < PLACES; place++) {
			struct freed_in_child freed_in_child = {
				image, place, model->freed_in_child_ns[image][place]};

			if (freed_in_child.freed_ns &&
			    inheritance_is_descendant(inheritance, image))
				assert_int_equal(
					inheritance_free_in_child(inheritance, &freed_in_child), 0);
		}
	}
}

static void check(struct model *model)
{
	assert_int_equal(inheritance_update(&model->inheritance, is_there, model), 0);
	add_all(model);
	memset(model->given, 0, sizeof(model->given));
	assert_int_equal(inheritance_share(&model->inheritance, share, model), 0);
	for (uint32_t image = 1; image <= model->image_cnt; image++) {
		for (size_t place = 0; place < PLACES && model->there[image]; place++) {
			const struct held *held = &model->held[image][place];
			bool inherited = held->birth_ns && held->owner != image;

			assert_int_equal(model->given[image][place], inherited);
		}
	}
}

static void step(struct model *model, uint64_t *seed)
{
	uint32_t image = 1 + (uint32_t)(random_next(seed) % model->image_cnt);
	size_t place = random_next(seed) % PLACES;

	model->now_ns++;
	if (!model->there[image])
		return;
	switch (random_next(seed) % 16) {
	case 0:
		make_child(model, image);
		break;
	case 1:
		if (random_next(seed) % 4 == 0)
			model->there[image] = false;
		break;
	case 2:
		check(model);
		break;
	case 3:
	case 4:
	case 5:
	case 6:
		release(model, image, place);
		break;
	default:
		allocate(model, image, place);
	}
}

static void test_random(void **state)
{
	static struct model model;
	uint64_t seed = 7;

	for (int round = 0; round < 300; round++) {
		memset(&model, 0, sizeof(model));
		model.now_ns = 1;
		model.image_cnt = 1;
		model.there[1] = true;
		for (int i = 0; i < 600; i++)
			step(&model, &seed);
		check(&model);
		inheritance_deinit(&model.inheritance);
	}
}

/* The record of a fork is dropped once all descendants have ended. */
static void test_forgotten(void **state)
{
	static struct model model;

	memset(&model, 0, sizeof(model));
	assert_int_equal(inheritance_fork(&model.inheritance, 1, 2, 10), 0);
	assert_int_equal(inheritance_fork(&model.inheritance, 2, 3, 20), 0);
	model.there[3] = true;
	assert_int_equal(inheritance_update(&model.inheritance, is_there, &model), 0);
	assert_true(inheritance_is_ancestor(&model.inheritance, 1));
	assert_true(inheritance_is_descendant(&model.inheritance, 2));
	assert_true(inheritance_is_shared(&model.inheritance, 1, 9, 11));
	assert_false(inheritance_is_shared(&model.inheritance, 1, 10, 11));
	assert_false(inheritance_is_shared(&model.inheritance, 1, 9, 10));
	model.there[3] = false;
	assert_int_equal(inheritance_update(&model.inheritance, is_there, &model), 0);
	assert_false(inheritance_is_ancestor(&model.inheritance, 1));
	assert_int_equal(model.inheritance.fork_cnt, 0);
	inheritance_deinit(&model.inheritance);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
