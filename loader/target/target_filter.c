// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists running processes that match the filter, and prepares its rule for the BPF programs. */
#include "loader/target/target_filter.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/proc.h"
#include "helper/starter.h"

struct member_list {
	const struct target_filter *target_filter;
	struct member *items;
	size_t cnt;
	size_t cap;
};

int target_filter_find_subsys(const char *controller, uint32_t *ret)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *type;
	cleanup_free char *name = NULL;
	int id, err = -ENOENT;

	if (!btf)
		return -errno;
	id = btf__find_by_name_kind(btf, "cgroup_subsys_id", BTF_KIND_ENUM);
	type = id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;
	if (asprintf(&name, "%s_cgrp_id", strcmp(controller, "blkio") ? controller : "io") < 0) {
		btf__free(btf);
		return -ENOMEM;
	}
	for (int i = 0; type && i < btf_vlen(type); i++) {
		const struct btf_enum *value = &btf_enum(type)[i];

		if (strcmp(btf__name_by_offset(btf, value->name_off), name))
			continue;
		*ret = (uint32_t)value->val;
		err = 0;
	}
	btf__free(btf);
	return err;
}

static const char *cgroup_error(int err)
{
	switch (err) {
	case -ENOENT:
		return "there is no such cgroup (give its path, a path below /sys/fs/cgroup, the "
		       "name of a unit, or the id of a container)";
	case -ENOTUNIQ:
		return "several cgroups have that name, give the path of one: ";
	case -ENOTSUP:
		return "its hierarchy has no controller, so its processes cannot be identified";
	default:
		return strerror(-err);
	}
}

static int init_cgroup(struct target_filter *target_filter, const char *name)
{
	struct cgroup_place *place = &target_filter->cgroup;
	int err = cgroup_find(name, place);

	target_filter->cgroup_name = name;
	target_filter->rule.by_cgroup = true;
	target_filter->rule.cgroup_subsys = MEMLEAK_CGROUP_UNIFIED;
	if (!err && place->controller)
		err = target_filter_find_subsys(place->controller,
						&target_filter->rule.cgroup_subsys);
	if (err)
		log_error("cannot trace cgroup %s: %s%s", name, cgroup_error(err),
			  err == -ENOTUNIQ ? place->path : "");
	else
		log_verbose("cgroup %s is %s", name, place->path);
	return err;
}

static bool is_same_hierarchy(const struct cgroup_place *a, const struct cgroup_place *b)
{
	return !a->controller == !b->controller &&
	       (!a->controller || !strcmp(a->controller, b->controller));
}

/*
 * Searches for the cgroup by name, since a restarted unit may be in another slice. Accepts only a
 * cgroup in the same hierarchy. Returns 1 if it was found, else -ENOENT.
 */
static int find_anew(struct target_filter *target_filter)
{
	struct cgroup_place place;

	if (cgroup_find(target_filter->cgroup_name, &place) ||
	    !is_same_hierarchy(&place, &target_filter->cgroup)) {
		cgroup_place_deinit(&place);
		return -ENOENT;
	}
	cgroup_place_deinit(&target_filter->cgroup);
	target_filter->cgroup = place;
	return 1;
}

int target_filter_renew_cgroup(struct target_filter *target_filter)
{
	struct cgroup_place *place = &target_filter->cgroup;
	struct stat st;

	if (stat(place->path, &st))
		return find_anew(target_filter);
	if (place->id == st.st_ino)
		return 0;
	place->id = st.st_ino;
	return 1;
}

/*
 * Leaves `parent` and `name` unset if the cgroup is the root of a mount, which is never recreated.
 */
void target_filter_publish_cgroup(const struct target_filter *target_filter,
				  struct memleak_cgroup *ret)
{
	const char *path = target_filter->cgroup.path, *name = strrchr(path, '/') + 1;
	cleanup_free char *parent = strndup(path, (size_t)(name - path));
	struct stat st, parent_st;

	*ret = (struct memleak_cgroup){.id = target_filter->cgroup.id};
	if (!parent || stat(path, &st) || stat(parent, &parent_st) || st.st_dev != parent_st.st_dev)
		return;
	ret->parent = parent_st.st_ino;
	strncpy(ret->name, name, sizeof(ret->name) - 1);
}

int target_filter_init(struct target_filter *target_filter, const struct options *opts)
{
	*target_filter = (struct target_filter){.comm = opts->comm};
	target_filter->rule.join = options_find_processes(opts);
	target_filter->rule.follow = opts->follow;
	if (opts->comm) {
		target_filter->rule.by_comm = true;
		/* The kernel truncates process names to this length. */
		strncpy((char *)target_filter->rule.comm, opts->comm, MEMLEAK_COMM_SIZE - 1);
	}
	return opts->cgroup ? init_cgroup(target_filter, opts->cgroup) : 0;
}

void target_filter_deinit(struct target_filter *target_filter)
{
	cgroup_place_deinit(&target_filter->cgroup);
}

static bool has_comm(const struct target_filter *target_filter, pid_t pid)
{
	cleanup_free char *comm = proc_comm(pid);

	return comm && !strcmp(comm, (const char *)target_filter->rule.comm);
}

static pid_t parent_of(pid_t pid)
{
	cleanup_free char *status = NULL;

	return proc_read(pid, "status", &status) ? -1 : (pid_t)proc_status_number(status, "PPid");
}

static int add_pid(void *arg, pid_t pid)
{
	struct member_list *list = arg;
	pid_t parent = parent_of(pid);
	bool own = pid == getpid() || pid == starter_pid() || parent == starter_pid();

	if (!own && list->target_filter->rule.by_comm && !has_comm(list->target_filter, pid))
		return 0;
	if (array_reserve(&list->items, &list->cap, list->cnt + 1))
		return -ENOMEM;
	list->items[list->cnt++] = (struct member){pid, parent, own};
	return 0;
}

/*
 * Passes the list of processes to the caller; if err is set, logs and returns err and frees the
 * list.
 */
static int give_list(struct member_list *list, int err, struct member **ret, size_t *cnt)
{
	if (err) {
		log_error("cannot list processes: %s", strerror(-err));
		free(list->items);
		return err;
	}
	*ret = list->items;
	*cnt = list->cnt;
	return 0;
}

int target_filter_find(const struct target_filter *target_filter, struct member **ret, size_t *cnt)
{
	struct member_list list = {.target_filter = target_filter};
	int err = target_filter->rule.by_cgroup
			  ? cgroup_visit(target_filter->cgroup.path, add_pid, &list)
			  : proc_visit(add_pid, &list);

	return give_list(&list, err, ret, cnt);
}

int target_filter_find_descendants(const pid_t *pids, size_t pid_cnt, struct member **ret,
				   size_t *cnt)
{
	const struct target_filter any = {0};
	struct member_list list = {.target_filter = &any};
	int err = proc_visit(add_pid, &list);

	if (!err)
		err = process_tree_keep_descendants(list.items, &list.cnt, pids, pid_cnt);
	return give_list(&list, err, ret, cnt);
}
