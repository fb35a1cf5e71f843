// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A kernel module that leaks on request: writing "WHAT COUNT" to its parameter `leak` makes the
 * function leak_WHAT() allocate COUNT blocks; writing "free" frees all blocks. Source lines that
 * leak have the comment LEAK.
 */
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#define MOST 4096U
#define KMALLOC_SIZE 1024
#define OBJECT_SIZE 192
#define PAGE_ORDER 1
#define PERCPU_SIZE 64

struct object {
	char bytes[OBJECT_SIZE];
};

struct fleeting {
	struct rcu_head rcu;
	char bytes[1000];
};

/*
 * Blocks that one leak function has allocated; free_all() frees them. Variables of this type are
 * static: if they were allocated, memleak would report them.
 */
struct held {
	void *blocks[MOST];
	unsigned int cnt;
};

static struct held kmallocs, objects, bulk_objects, pages, bulk_pages, percpus;
static struct kmem_cache *cache;
static DEFINE_MUTEX(lock);

static int hold(struct held *held, void *block)
{
	if (!block)
		return -ENOMEM;
	held->blocks[held->cnt++] = block;
	return 1;
}

/*
 * Returns the number of blocks for the next bulk allocation: varies from 1 to 512, the number of
 * pointers that fit into a page, but is at most `most`.
 */
static unsigned int bulk_size(unsigned int most)
{
	static const unsigned int sizes[] = {1, 2, 65, 7, 512, 100, 63};
	static unsigned int turn;

	return min(most, sizes[turn++ % ARRAY_SIZE(sizes)]);
}

static noinline int leak_kmalloc(unsigned int most)
{
	void *block = kmalloc(KMALLOC_SIZE, GFP_KERNEL); /* LEAK */

	return hold(&kmallocs, block);
}

static noinline int leak_object(unsigned int most)
{
	void *block = kmem_cache_alloc(cache, GFP_KERNEL); /* LEAK */

	return hold(&objects, block);
}

static noinline int leak_bulk_object(unsigned int most)
{
	void **to = &bulk_objects.blocks[bulk_objects.cnt];
	int cnt = kmem_cache_alloc_bulk(cache, GFP_KERNEL, bulk_size(most), to); /* LEAK */

	bulk_objects.cnt += cnt;
	return cnt ? cnt : -ENOMEM;
}

static noinline int leak_pages(unsigned int most)
{
	struct page *block = alloc_pages(GFP_KERNEL, PAGE_ORDER); /* LEAK */

	return hold(&pages, block);
}

/*
 * Allocates by alloc_pages_bulk_array(), which fills the empty entries of an array. Before that,
 * puts up to 40 old pages into every second entry at the front of the array, so that empty entries
 * are not adjacent there.
 */
static noinline int leak_bulk_page(unsigned int most)
{
	static struct page *array[MOST];
	unsigned int size = bulk_size(most), old = min3(size, bulk_pages.cnt, 40U), i;
	unsigned int before = bulk_pages.cnt;

	memset(array, 0, sizeof(array));
	for (i = 0; i < old; i++)
		array[2 * i + 1] = bulk_pages.blocks[i];
	alloc_pages_bulk_array(GFP_KERNEL, size + old, array); /* LEAK */
	for (i = 0; i < size + old; i++)
		if (array[i] && (i % 2 == 0 || i >= 2 * old))
			hold(&bulk_pages, array[i]);
	return bulk_pages.cnt > before ? bulk_pages.cnt - before : -ENOMEM;
}

static noinline int leak_percpu(unsigned int most)
{
	void __percpu *block = __alloc_percpu(PERCPU_SIZE, 8); /* LEAK */

	return hold(&percpus, (void __force *)block);
}

/*
 * Allocates memory that RCU frees, possibly without a tracepoint event. memleak must not report
 * this memory.
 */
static noinline int leak_nothing(unsigned int most)
{
	struct fleeting *block = kmalloc(sizeof(*block), GFP_KERNEL);

	if (!block)
		return -ENOMEM;
	kfree_rcu(block, rcu);
	return 1;
}

static void free_all(void)
{
	while (kmallocs.cnt)
		kfree(kmallocs.blocks[--kmallocs.cnt]);
	while (objects.cnt)
		kmem_cache_free(cache, objects.blocks[--objects.cnt]);
	if (bulk_objects.cnt)
		kmem_cache_free_bulk(cache, bulk_objects.cnt, bulk_objects.blocks);
	bulk_objects.cnt = 0;
	while (bulk_pages.cnt)
		__free_page(bulk_pages.blocks[--bulk_pages.cnt]);
	while (pages.cnt)
		__free_pages(pages.blocks[--pages.cnt], PAGE_ORDER);
	while (percpus.cnt)
		free_percpu((void __percpu __force *)percpus.blocks[--percpus.cnt]);
}

/*
 * function: allocates up to `most` blocks, and returns their number or a negative errno. held:
 * table of the function's blocks, or NULL.
 */
static const struct {
	const char *name;
	int (*function)(unsigned int most);
	struct held *held;
} leaks[] = {
	{"kmalloc", leak_kmalloc, &kmallocs},
	{"object", leak_object, &objects},
	{"bulk_object", leak_bulk_object, &bulk_objects},
	{"pages", leak_pages, &pages},
	{"bulk_page", leak_bulk_page, &bulk_pages},
	{"percpu", leak_percpu, &percpus},
	{"nothing", leak_nothing, NULL},
};

/*
 * Allocates `cnt` blocks by the function number `which`. Calls it at one place in a loop, so that
 * all blocks have the same stack. Returns 0 or a negative errno.
 */
static noinline int burst(unsigned int which, unsigned int cnt)
{
	int done;

	for (; cnt; cnt -= done) {
		if (leaks[which].held && cnt > MOST - leaks[which].held->cnt)
			return -ENOSPC;
		done = leaks[which].function(cnt);
		if (done < 0)
			return done;
	}
	return 0;
}

static int on_write(const char *text, const struct kernel_param *param)
{
	unsigned int cnt, i;
	char name[16];
	int err = -EINVAL;

	mutex_lock(&lock);
	if (sysfs_streq(text, "free")) {
		free_all();
		err = 0;
	} else if (sscanf(text, "%15s %u", name, &cnt) == 2) {
		for (i = 0; i < ARRAY_SIZE(leaks); i++)
			if (strcmp(name, leaks[i].name) == 0)
				err = burst(i, cnt);
	}
	mutex_unlock(&lock);
	return err;
}

static const struct kernel_param_ops leak_ops = {.set = on_write};

module_param_cb(leak, &leak_ops, NULL, 0200);
MODULE_PARM_DESC(leak, "WHAT COUNT, where WHAT is the name of a function without leak_; or free");

/* A constructor keeps the kernel from merging the cache with other caches of this object size. */
static void construct(void *block)
{
	memset(block, 0, OBJECT_SIZE);
}

static int __init leaky_init(void)
{
	cache = kmem_cache_create("leaky_objects", sizeof(struct object), 0, 0, construct);
	return cache ? 0 : -ENOMEM;
}

static void __exit leaky_exit(void)
{
	free_all();
	kmem_cache_destroy(cache);
}

module_init(leaky_init);
module_exit(leaky_exit);
MODULE_DESCRIPTION("leaks on request, for memleak's tests");
MODULE_LICENSE("GPL");
