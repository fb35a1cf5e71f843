// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists the processes that fit, and tells the programs which do. */
#include "loader/members.h"

#include <bpf/btf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader/cleanup.h"
#include "loader/log.h"

struct member_list {
	const struct members *members;
	struct member *items;
	size_t cnt;
	size_t cap;
};

int members_find_subsys(const char *controller, uint32_t *ret)
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
		return "there is no such cgroup (its path, a path below /sys/fs/cgroup, a unit's "
		       "name, or a container's id)";
	case -ENOTUNIQ:
		return "several cgroups have such a name, give the path of one: ";
	case -ENOTSUP:
		return "its hierarchy has no controller, so that the kernel does not tell who is "
		       "in it";
	default:
		return strerror(-err);
	}
}

static int init_cgroup(struct members *members, const char *name)
{
	struct cgroup_place *place = &members->cgroup;
	int err = cgroup_find(name, place);

	members->cgroup_name = name;
	members->rule.by_cgroup = true;
	members->rule.cgroup_subsys = MEMLEAK_CGROUP_UNIFIED;
	if (!err && place->controller)
		err = members_find_subsys(place->controller, &members->rule.cgroup_subsys);
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

/* By its name, as a unit may come back in another slice. */
static int find_anew(struct members *members)
{
	struct cgroup_place place;

	if (cgroup_find(members->cgroup_name, &place) ||
	    !is_same_hierarchy(&place, &members->cgroup)) {
		cgroup_place_deinit(&place);
		return -ENOENT;
	}
	cgroup_place_deinit(&members->cgroup);
	members->cgroup = place;
	return 1;
}

int members_renew_cgroup(struct members *members)
{
	struct cgroup_place *place = &members->cgroup;
	struct stat st;

	if (stat(place->path, &st))
		return find_anew(members);
	if (place->id == st.st_ino)
		return 0;
	place->id = st.st_ino;
	return 1;
}

/* The highest of a mount is never made anew. */
void members_tell_cgroup(const struct members *members, struct memleak_cgroup *ret)
{
	const char *path = members->cgroup.path, *name = strrchr(path, '/') + 1;
	cleanup_free char *parent = strndup(path, (size_t)(name - path));
	struct stat st, parent_st;

	*ret = (struct memleak_cgroup){.id = members->cgroup.id};
	if (!parent || stat(path, &st) || stat(parent, &parent_st) || st.st_dev != parent_st.st_dev)
		return;
	ret->parent = parent_st.st_ino;
	strncpy(ret->name, name, sizeof(ret->name) - 1);
}

int members_init(struct members *members, const struct options *opts)
{
	*members = (struct members){.comm = opts->comm};
	members->rule.join = options_find_processes(opts);
	members->rule.follow = opts->follow;
	if (opts->comm) {
		members->rule.by_comm = true;
		/* The kernel keeps so much of a name. */
		strncpy((char *)members->rule.comm, opts->comm, MEMLEAK_COMM_SIZE - 1);
	}
	return opts->cgroup ? init_cgroup(members, opts->cgroup) : 0;
}

void members_deinit(struct members *members)
{
	cgroup_place_deinit(&members->cgroup);
}

static bool has_comm(const struct members *members, pid_t pid)
{
	char path[64], comm[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fgets(comm, sizeof(comm), file))
		comm[strcspn(comm, "\n")] = '\0';
	fclose(file);
	return !strcmp(comm, (const char *)members->rule.comm);
}

static pid_t parent_of(pid_t pid)
{
	char path[64], line[256];
	pid_t parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "PPid: %d", &parent) == 1)
			break;
	if (file)
		fclose(file);
	return parent;
}

static bool is_own(pid_t pid)
{
	return pid == getpid() || parent_of(pid) == getpid();
}

static int add_pid(void *arg, pid_t pid)
{
	struct member_list *list = arg;
	bool own = is_own(pid);
	struct member *grown;

	if (!own && list->members->rule.by_comm && !has_comm(list->members, pid))
		return 0;
	if (list->cnt == list->cap) {
		size_t cap = list->cap ? list->cap * 2 : 256;

		grown = reallocarray(list->items, cap, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		list->items = grown;
		list->cap = cap;
	}
	list->items[list->cnt++] = (struct member){pid, own};
	return 0;
}

static int visit_all(struct member_list *list)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int err = proc ? 0 : -errno;

	while (!err && (entry = readdir(proc))) {
		pid_t pid = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? atoi(entry->d_name)
									       : 0;

		if (pid)
			err = add_pid(list, pid);
	}
	if (proc)
		closedir(proc);
	return err;
}

int members_find(const struct members *members, struct member **ret, size_t *cnt)
{
	struct member_list list = {.members = members};
	int err = members->rule.by_cgroup ? cgroup_visit(members->cgroup.path, add_pid, &list)
					  : visit_all(&list);

	if (err) {
		log_error("cannot list processes: %s", strerror(-err));
		free(list.items);
		return err;
	}
	*ret = list.items;
	*cnt = list.cnt;
	return 0;
}
