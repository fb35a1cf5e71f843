// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A module that leaks on request: writing "WHAT COUNT" to its parameter `leak` lets the function
 * leak_WHAT allocate COUNT blocks, and writing "free" to it gives everything back. What it calls
 * on purpose carries the comment LEAK.
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

/* What is held, so that it can be given back; the table itself is no allocation. */
struct held {
	void *blocks[MOST];
	unsigned int cnt;
};

static struct held kmallocs, objects, pages, percpus;
static struct kmem_cache *cache;
static DEFINE_MUTEX(lock);

static int hold(struct held *held, void *block)
{
	if (!block)
		return -ENOMEM;
	held->blocks[held->cnt++] = block;
	return 0;
}

static noinline int leak_kmalloc(void)
{
	void *block = kmalloc(KMALLOC_SIZE, GFP_KERNEL); /* LEAK */

	return hold(&kmallocs, block);
}

static noinline int leak_object(void)
{
	void *block = kmem_cache_alloc(cache, GFP_KERNEL); /* LEAK */

	return hold(&objects, block);
}

static noinline int leak_pages(void)
{
	struct page *block = alloc_pages(GFP_KERNEL, PAGE_ORDER); /* LEAK */

	return hold(&pages, block);
}

static noinline int leak_percpu(void)
{
	void __percpu *block = __alloc_percpu(PERCPU_SIZE, 8); /* LEAK */

	return hold(&percpus, (void __force *)block);
}

/* No leak: it is freed by RCU, which no tracepoint of the slab allocator may show. */
static noinline int leak_nothing(void)
{
	struct fleeting *block = kmalloc(sizeof(*block), GFP_KERNEL);

	if (!block)
		return -ENOMEM;
	kfree_rcu(block, rcu);
	return 0;
}

static void free_all(void)
{
	while (kmallocs.cnt)
		kfree(kmallocs.blocks[--kmallocs.cnt]);
	while (objects.cnt)
		kmem_cache_free(cache, objects.blocks[--objects.cnt]);
	while (pages.cnt)
		__free_pages(pages.blocks[--pages.cnt], PAGE_ORDER);
	while (percpus.cnt)
		free_percpu((void __percpu __force *)percpus.blocks[--percpus.cnt]);
}

static const struct {
	const char *name;
	int (*function)(void);
	struct held *held;
} leaks[] = {
	{"kmalloc", leak_kmalloc, &kmallocs}, {"object", leak_object, &objects},
	{"pages", leak_pages, &pages},        {"percpu", leak_percpu, &percpus},
	{"nothing", leak_nothing, NULL},
};

/* A loop of its own, so that each burst is one stack. */
static noinline int burst(unsigned int which, unsigned int cnt)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < cnt; i++) {
		if (leaks[which].held && leaks[which].held->cnt == MOST)
			return -ENOSPC;
		err = leaks[which].function();
	}
	return err;
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
MODULE_PARM_DESC(leak, "WHAT COUNT: kmalloc, object, pages, percpu, nothing; or free");

/* A constructor keeps the allocator from merging the cache with another of that size. */
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
