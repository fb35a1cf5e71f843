// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds out which argument of each kernel allocation event has which value (address, size etc.).
 * Arguments differ between kernel versions, but each argument is recognised by its type and by the
 * arguments before it:
 *
 *   kmalloc             (call_site, ptr, [cache,] bytes_req, bytes_alloc, ...)
 *   kmem_cache_alloc    (call_site, ptr, [cache,] [bytes_req, bytes_alloc,] ...)
 *   kfree               (call_site, ptr)
 *   kmem_cache_free     (call_site, ptr, ...)
 *   mm_page_alloc       (page, order, gfp_flags, migratetype)
 *   mm_page_free        (page, order)
 *   percpu_alloc_percpu ([call_site,] reserved, is_atomic, size, align, base, off, ptr, ...)
 *   percpu_free_percpu  (base, off, ptr)
 *   kvfree_call_rcu     (head, ptr), formerly (head, func)
 *   alloc_pages_bulk    (gfp, node, nodemask, cnt, [list,] array)
 */
#include "loader/kernel/places.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * Parameters of a function or tracepoint. Leaves out the first parameter of a tracepoint, which is
 * private data of the probe.
 */
struct parameters {
	const struct btf *btf;
	const struct btf_param *items;
	int cnt;
};

static const struct btf_type *prototype(const struct btf *btf, const char *tracepoint)
{
	char name[64];
	const struct btf_type *type;
	int id;

	snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return NULL;
	type = btf__type_by_id(btf, btf__type_by_id(btf, (__u32)id)->type);
	if (!type || !btf_is_ptr(type))
		return NULL;
	type = btf__type_by_id(btf, type->type);
	return type && btf_is_func_proto(type) && btf_vlen(type) > 0 ? type : NULL;
}

bool kernel_places_has(const struct btf *btf, const char *tracepoint)
{
	return prototype(btf, tracepoint);
}

static bool parameters_of(const struct btf *btf, const char *tracepoint, struct parameters *ret)
{
	const struct btf_type *type = prototype(btf, tracepoint);

	if (!type)
		return false;
	*ret = (struct parameters){btf, btf_params(type) + 1, btf_vlen(type) - 1};
	return true;
}

static const struct btf_type *resolve(const struct btf *btf, __u32 id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	while (type && (btf_is_mod(type) || btf_is_typedef(type)))
		type = btf__type_by_id(btf, type->type);
	return type;
}

static bool is_int(const struct parameters *params, int i, __u32 size)
{
	const struct btf_type *type =
		i < params->cnt ? resolve(params->btf, params->items[i].type) : NULL;

	return type && btf_is_int(type) && type->size == size;
}

static bool is_pointer(const struct parameters *params, int i)
{
	const struct btf_type *type =
		i < params->cnt ? resolve(params->btf, params->items[i].type) : NULL;

	return type && btf_is_ptr(type);
}

/*
 * True if parameter i is a pointer to a struct with this name. If name is NULL: true if it is a
 * pointer to anything but a struct.
 */
static bool points_to(const struct parameters *params, int i, const char *name)
{
	const struct btf_type *type;

	if (!is_pointer(params, i))
		return false;
	type = resolve(params->btf, resolve(params->btf, params->items[i].type)->type);
	if (!type || !btf_is_struct(type))
		return !name;
	return name && !strcmp(btf__name_by_offset(params->btf, type->name_off), name);
}

/*
 * Locates the arguments of an event with the parameters (call_site, ptr, [cache,] [bytes_req,
 * bytes_alloc,] ...).
 */
static bool place_slab_alloc(const struct parameters *params, __u8 *site, __u8 *ptr, __u8 *cache,
			     __u8 *size)
{
	int at = 2;

	if (!is_int(params, 0, 8) || !is_pointer(params, 1))
		return false;
	*site = 0;
	*ptr = 1;
	if (points_to(params, at, "kmem_cache"))
		*cache = (__u8)at++;
	if (is_int(params, at, 8) && is_int(params, at + 1, 8))
		*size = (__u8)(at + 1);
	return true;
}

static bool place_kmalloc(const struct parameters *params, struct memleak_value_places *ret)
{
	return place_slab_alloc(params, &ret->kmalloc_site, &ret->kmalloc_ptr, &ret->kmalloc_cache,
				&ret->kmalloc_size) &&
	       ret->kmalloc_size != MEMLEAK_VALUE_NONE;
}

static bool place_cache_alloc(const struct parameters *params, struct memleak_value_places *ret)
{
	return place_slab_alloc(params, &ret->cache_alloc_site, &ret->cache_alloc_ptr,
				&ret->cache_alloc_cache, &ret->cache_alloc_size) &&
	       (ret->cache_alloc_size != MEMLEAK_VALUE_NONE ||
		ret->cache_alloc_cache != MEMLEAK_VALUE_NONE);
}

static bool place_kfree(const struct parameters *params, struct memleak_value_places *ret)
{
	ret->kfree_site = 0;
	ret->kfree_ptr = 1;
	return is_int(params, 0, 8) && is_pointer(params, 1);
}

static bool place_cache_free(const struct parameters *params, struct memleak_value_places *ret)
{
	ret->cache_free_site = 0;
	ret->cache_free_ptr = 1;
	return is_int(params, 0, 8) && is_pointer(params, 1);
}

static bool place_page_alloc(const struct parameters *params, struct memleak_value_places *ret)
{
	ret->page_alloc_frame = 0;
	ret->page_alloc_order = 1;
	ret->page_alloc_mobility = 3;
	return points_to(params, 0, "page") && is_int(params, 1, 4) && is_int(params, 3, 4);
}

static bool place_page_free(const struct parameters *params, struct memleak_value_places *ret)
{
	ret->page_free_frame = 0;
	ret->page_free_order = 1;
	return points_to(params, 0, "page") && is_int(params, 1, 4);
}

static bool place_percpu_alloc(const struct parameters *params, struct memleak_value_places *ret)
{
	int at = is_int(params, 0, 8) ? 1 : 0;

	ret->percpu_alloc_size = (__u8)(at + 2);
	ret->percpu_alloc_ptr = (__u8)(at + 6);
	return is_int(params, at + 2, 8) && is_pointer(params, at + 6);
}

static bool place_percpu_free(const struct parameters *params, struct memleak_value_places *ret)
{
	ret->percpu_free_ptr = 2;
	return is_pointer(params, 2);
}

/*
 * Events, and the functions that locate their arguments. If a "_node" variant of an event exists,
 * it has the same arguments.
 */
static const struct {
	const char *name;
	bool (*place)(const struct parameters *params, struct memleak_value_places *ret);
	bool percpu; /* an event of percpu memory */
} events[] = {
	{"kmalloc", place_kmalloc, false},
	{"kfree", place_kfree, false},
	{"kmem_cache_alloc", place_cache_alloc, false},
	{"kmem_cache_free", place_cache_free, false},
	{"mm_page_alloc", place_page_alloc, false},
	{"mm_page_free", place_page_free, false},
	{"percpu_alloc_percpu", place_percpu_alloc, true},
	{"percpu_free_percpu", place_percpu_free, true},
};

static bool parameters_of_function(const struct btf *btf, const char *function,
				   struct parameters *ret)
{
	int id = btf__find_by_name_kind(btf, function, BTF_KIND_FUNC);
	const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);

	type = type ? btf__type_by_id(btf, type->type) : NULL;
	if (!type || !btf_is_func_proto(type))
		return false;
	*ret = (struct parameters){btf, btf_params(type), btf_vlen(type)};
	return true;
}

/*
 * Finds out what the second argument of kvfree_call_rcu() is: the object, or a function pointer
 * that encodes the offset of the head within the object.
 */
static void place_rcu_free(const struct btf *btf, struct memleak_value_places *ret)
{
	const struct btf_type *type;
	struct parameters params;

	if (!parameters_of_function(btf, "kvfree_call_rcu", &params) || params.cnt < 2)
		return;
	type = resolve(btf, params.items[1].type);
	type = type && btf_is_ptr(type) ? resolve(btf, type->type) : NULL;
	ret->rcu_func = type && btf_is_func_proto(type);
}

static void place_bulk_pages(const struct btf *btf, struct memleak_value_places *ret)
{
	struct parameters params;

	if (!parameters_of_function(btf, "__alloc_pages_bulk", &params) &&
	    !parameters_of_function(btf, "alloc_pages_bulk_noprof", &params))
		return;
	if ((params.cnt == 5 || (params.cnt == 6 && points_to(&params, 4, "list_head"))) &&
	    is_int(&params, 3, 4) && is_pointer(&params, params.cnt - 1))
		ret->bulk_pages_array = (__u8)(params.cnt - 1);
}

int kernel_places_by_btf(const struct btf *btf, bool percpu, struct memleak_value_places *ret,
			 const char **ret_event)
{
	memset(ret, MEMLEAK_VALUE_NONE, sizeof(*ret));
	ret->rcu_func = 0;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct parameters params;

		if ((events[i].percpu && !percpu) || !parameters_of(btf, events[i].name, &params) ||
		    events[i].place(&params, ret))
			continue;
		*ret_event = events[i].name;
		return -EPROTO;
	}
	place_rcu_free(btf, ret);
	place_bulk_pages(btf, ret);
	return 0;
}

/* Returns the offset of a percpu variable in its section, or -1 if there is none. */
static int64_t percpu_offset(const struct btf *btf, const char *name, const struct btf_type **ret)
{
	int id = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *section = id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);

	for (int i = 0; section && i < btf_vlen(section); i++) {
		const struct btf_var_secinfo *info = &btf_var_secinfos(section)[i];
		const struct btf_type *var = btf__type_by_id(btf, info->type);

		if (strcmp(btf__name_by_offset(btf, var->name_off), name))
			continue;
		*ret = resolve(btf, var->type);
		return info->offset;
	}
	return -1;
}

static int64_t member_offset(const struct btf *btf, const struct btf_type *type, const char *name)
{
	if (!btf_is_composite(type))
		return -1;
	for (__u32 i = 0; i < btf_vlen(type); i++) {
		const struct btf_member *member = &btf_members(type)[i];
		const struct btf_type *inner = resolve(btf, member->type);
		int64_t at = btf_member_bit_offset(type, i) / 8, deeper;

		if (!strcmp(btf__name_by_offset(btf, member->name_off), name))
			return at;
		if (member->name_off && *btf__name_by_offset(btf, member->name_off))
			continue;
		deeper = inner ? member_offset(btf, inner, name) : -1;
		if (deeper >= 0)
			return at + deeper;
	}
	return -1;
}

/* The preempt count is a percpu variable, or in some kernels a member of the variable pcpu_hot. */
int64_t kernel_places_preempt_count(const struct btf *btf)
{
	const struct btf_type *type;
	int64_t queue = percpu_offset(btf, "runqueues", &type);
	int64_t count = percpu_offset(btf, "__preempt_count", &type), member = 0;

	if (count < 0) {
		count = percpu_offset(btf, "pcpu_hot", &type);
		member = count < 0 ? -1 : member_offset(btf, type, "preempt_count");
	}
	return queue < 0 || count < 0 || member < 0 ? 0 : count + member - queue;
}
