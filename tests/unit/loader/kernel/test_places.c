// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests finding the arguments of kernel events in the BTF of several kernel versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "loader/kernel/places.h"

#define NONE MEMLEAK_VALUE_NONE

/*
 * BTF of a fake kernel with these types, by letter: l long, i int, b bool, v void *, k struct
 * kmem_cache *, p struct page *, f function pointer, h struct callback_head *, L struct list_head
 * *.
 */
struct maker {
	struct btf *btf;
	int types[128];
};

static struct maker make(void)
{
	struct maker maker = {.btf = btf__new_empty()};
	struct btf *btf = maker.btf;
	int size_t_id, cache, page, head, list, proto;

	assert_non_null(btf);
	maker.types['i'] = btf__add_int(btf, "unsigned int", 4, 0);
	size_t_id = btf__add_int(btf, "unsigned long", 8, 0);
	maker.types['l'] = btf__add_typedef(btf, "size_t", size_t_id);
	maker.types['b'] = btf__add_int(btf, "_Bool", 1, BTF_INT_BOOL);
	maker.types['v'] = btf__add_ptr(btf, btf__add_const(btf, 0));
	cache = btf__add_struct(btf, "kmem_cache", 8);
	maker.types['k'] = btf__add_ptr(btf, btf__add_const(btf, cache));
	page = btf__add_struct(btf, "page", 64);
	maker.types['p'] = btf__add_ptr(btf, page);
	head = btf__add_struct(btf, "callback_head", 16);
	maker.types['h'] = btf__add_ptr(btf, head);
	list = btf__add_struct(btf, "list_head", 16);
	maker.types['L'] = btf__add_ptr(btf, list);
	proto = btf__add_func_proto(btf, 0);
	maker.types['f'] = btf__add_typedef(btf, "rcu_callback_t", btf__add_ptr(btf, proto));
	return maker;
}

static int add_prototype(struct maker *maker, const char *arguments)
{
	int proto = btf__add_func_proto(maker->btf, 0);

	for (; *arguments; arguments++)
		assert_int_equal(btf__add_func_param(maker->btf, "",
						     maker->types[(unsigned char)*arguments]),
				 0);
	return proto;
}

static void add_event(struct maker *maker, const char *event, const char *arguments)
{
	char name[64], with_data[16];
	int proto;

	snprintf(name, sizeof(name), "btf_trace_%s", event);
	snprintf(with_data, sizeof(with_data), "v%s", arguments);
	proto = add_prototype(maker, with_data);
	assert_true(btf__add_typedef(maker->btf, name, btf__add_ptr(maker->btf, proto)) > 0);
}

static struct memleak_value_places places(const struct maker *maker)
{
	struct memleak_value_places ret;
	const char *event;

	assert_int_equal(kernel_places_by_btf(maker->btf, true, &ret, &event), 0);
	return ret;
}

/*
 * Linux 5.10: the events of kmalloc and kmem_cache_alloc have sizes but no cache; the percpu event
 * has no call site.
 */
static void test_old(void **state)
{
	struct maker maker = make();
	struct memleak_value_places at;

	add_event(&maker, "kmalloc", "lvlli");
	add_event(&maker, "kmem_cache_alloc", "lvlli");
	add_event(&maker, "kfree", "lv");
	add_event(&maker, "kmem_cache_free", "lv");
	add_event(&maker, "percpu_alloc_percpu", "bbllviv");
	add_event(&maker, "percpu_free_percpu", "viv");
	add_event(&maker, "mm_page_alloc", "piii");
	add_event(&maker, "mm_page_free", "pi");
	at = places(&maker);
	assert_int_equal(at.kmalloc_ptr, 1);
	assert_int_equal(at.kmalloc_size, 3);
	assert_int_equal(at.kmalloc_cache, NONE);
	assert_int_equal(at.cache_alloc_size, 3);
	assert_int_equal(at.cache_alloc_cache, NONE);
	assert_int_equal(at.kfree_site, 0);
	assert_int_equal(at.kfree_ptr, 1);
	assert_int_equal(at.cache_free_ptr, 1);
	assert_int_equal(at.percpu_alloc_size, 2);
	assert_int_equal(at.percpu_alloc_ptr, 6);
	assert_int_equal(at.percpu_free_ptr, 2);
	assert_int_equal(at.page_alloc_order, 1);
	assert_int_equal(at.page_alloc_mobility, 3);
	assert_int_equal(at.page_free_order, 1);
	btf__free(maker.btf);
}

/* Linux 6.0: the events of kmalloc and kmem_cache_alloc have the cache before the sizes. */
static void test_between(void **state)
{
	struct maker maker = make();
	struct memleak_value_places at;

	add_event(&maker, "kmalloc", "lvklli");
	add_event(&maker, "kmem_cache_alloc", "lvklli");
	at = places(&maker);
	assert_int_equal(at.kmalloc_cache, 2);
	assert_int_equal(at.kmalloc_size, 4);
	assert_int_equal(at.cache_alloc_cache, 2);
	assert_int_equal(at.cache_alloc_size, 4);
	btf__free(maker.btf);
}

/*
 * Linux 6.1 and later: the event of kmem_cache_alloc has a cache instead of sizes, that of kmalloc
 * has no cache, and the percpu event has a call site.
 */
static void test_new(void **state)
{
	struct maker maker = make();
	struct memleak_value_places at;

	add_event(&maker, "kmalloc", "lvllii");
	add_event(&maker, "kmem_cache_alloc", "lvkii");
	add_event(&maker, "kmem_cache_free", "lvk");
	add_event(&maker, "percpu_alloc_percpu", "lbbllvivli");
	at = places(&maker);
	assert_int_equal(at.kmalloc_cache, NONE);
	assert_int_equal(at.kmalloc_size, 3);
	assert_int_equal(at.cache_alloc_cache, 2);
	assert_int_equal(at.cache_alloc_size, NONE);
	assert_int_equal(at.percpu_alloc_size, 3);
	assert_int_equal(at.percpu_alloc_ptr, 7);
	btf__free(maker.btf);
}

/* Events with arguments of unknown layout are refused. */
static void test_unknown(void **state)
{
	static const struct {
		const char *event;
		const char *arguments;
	} strange[] = {
		{"kmalloc", "vl"}, {"kmalloc", "lvi"},           {"kmem_cache_alloc", "lvi"},
		{"kfree", "vl"},   {"mm_page_alloc", "vi"},      {"mm_page_free", "p"},
		{"kmalloc", ""},   {"percpu_alloc_percpu", "l"}, {"percpu_free_percpu", "vi"},
	};

	for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
		struct maker maker = make();
		struct memleak_value_places at;
		const char *event = NULL;

		add_event(&maker, strange[i].event, strange[i].arguments);
		assert_int_equal(kernel_places_by_btf(maker.btf, true, &at, &event), -EPROTO);
		assert_string_equal(event, strange[i].event);
		btf__free(maker.btf);
	}
}

/* If per-CPU memory is not traced, the arguments of its events may be unknown. */
static void test_without_percpu(void **state)
{
	struct maker maker = make();
	struct memleak_value_places at;
	const char *event = NULL;

	add_event(&maker, "kmalloc", "lvllii");
	add_event(&maker, "percpu_alloc_percpu", "l");
	assert_int_equal(kernel_places_by_btf(maker.btf, true, &at, &event), -EPROTO);
	assert_int_equal(kernel_places_by_btf(maker.btf, false, &at, &event), 0);
	assert_int_equal(at.kmalloc_ptr, 1);
	btf__free(maker.btf);
}

static void add_function(struct maker *maker, const char *name, const char *arguments)
{
	int proto = add_prototype(maker, arguments);

	assert_true(btf__add_func(maker->btf, name, BTF_FUNC_GLOBAL, proto) > 0);
}

static void test_rcu(void **state)
{
	struct maker with_func = make(), with_object = make();

	add_function(&with_func, "kvfree_call_rcu", "hf");
	assert_int_equal(places(&with_func).rcu_func, 1);
	add_function(&with_object, "kvfree_call_rcu", "hv");
	assert_int_equal(places(&with_object).rcu_func, 0);
	btf__free(with_func.btf);
	btf__free(with_object.btf);
}

/*
 * Finds which argument of the bulk page allocator is the array of pages: in some kernels, a list
 * comes before it. A function with an unknown name or signature is not hooked.
 */
static void test_bulk_pages(void **state)
{
	static const struct {
		const char *function;
		const char *arguments;
		__u8 array;
	} kernels[] = {
		{"__alloc_pages_bulk", "iiviLv", 5},
		{"alloc_pages_bulk_noprof", "iiviLv", 5},
		{"alloc_pages_bulk_noprof", "iiviv", 4},
		{"alloc_pages_bulk_noprof", "iivlv", NONE},
		{"alloc_pages_bulk_noprof", "iivivv", NONE},
		{"alloc_pages_bulk_noprof", "iivv", NONE},
		{"alloc_pages_bulk", "iiviv", NONE},
	};

	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		struct maker maker = make();

		add_function(&maker, kernels[i].function, kernels[i].arguments);
		assert_int_equal(places(&maker).bulk_pages_array, kernels[i].array);
		btf__free(maker.btf);
	}
}

static int add_variable(struct maker *maker, int type, const char *name)
{
	int var = btf__add_var(maker->btf, name, BTF_VAR_GLOBAL_ALLOCATED, type);

	assert_true(var > 0);
	return var;
}

/* The preemption count may be a per-CPU variable, a member of one, or missing. */
static void test_preempt_count(void **state)
{
	struct maker maker = make();
	int queue, count, hot, anonymous, wrapper;

	assert_int_equal(kernel_places_preempt_count(maker.btf), 0);
	queue = add_variable(&maker, maker.types['i'], "runqueues");
	count = add_variable(&maker, maker.types['i'], "__preempt_count");
	assert_true(btf__add_datasec(maker.btf, ".data..percpu", 4096) > 0);
	btf__add_datasec_var_info(maker.btf, count, 64, 4);
	btf__add_datasec_var_info(maker.btf, queue, 1024, 4);
	assert_int_equal(kernel_places_preempt_count(maker.btf), 64 - 1024);
	btf__free(maker.btf);

	maker = make();
	anonymous = btf__add_struct(maker.btf, NULL, 16);
	btf__add_field(maker.btf, "current_task", maker.types['v'], 0, 0);
	btf__add_field(maker.btf, "preempt_count", maker.types['i'], 64, 0);
	wrapper = btf__add_struct(maker.btf, "pcpu_hot", 16);
	btf__add_field(maker.btf, NULL, anonymous, 0, 0);
	hot = add_variable(&maker, wrapper, "pcpu_hot");
	queue = add_variable(&maker, maker.types['i'], "runqueues");
	assert_true(btf__add_datasec(maker.btf, ".data..percpu", 4096) > 0);
	btf__add_datasec_var_info(maker.btf, hot, 128, 16);
	btf__add_datasec_var_info(maker.btf, queue, 256, 4);
	assert_int_equal(kernel_places_preempt_count(maker.btf), 128 + 8 - 256);
	btf__free(maker.btf);
}

static void test_running_kernel(void **state)
{
	struct btf *btf = btf__load_vmlinux_btf();
	struct memleak_value_places at;
	const char *event;

	if (!btf) {
		print_message("skipped: the kernel has no BTF\n");
		skip();
	}
	assert_true(kernel_places_has(btf, "kmalloc"));
	assert_false(kernel_places_has(btf, "kmalloc_of_another_world"));
	assert_int_equal(kernel_places_by_btf(btf, true, &at, &event), 0);
	assert_int_not_equal(at.kmalloc_size, NONE);
	assert_int_not_equal(at.page_alloc_order, NONE);
	btf__free(btf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_old),
		cmocka_unit_test(test_between),
		cmocka_unit_test(test_new),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_without_percpu),
		cmocka_unit_test(test_rcu),
		cmocka_unit_test(test_bulk_pages),
		cmocka_unit_test(test_preempt_count),
		cmocka_unit_test(test_running_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
