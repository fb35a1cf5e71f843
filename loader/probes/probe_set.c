// SPDX-License-Identifier: GPL-2.0-or-later
/* Attaches uprobes to a process by session links, multi links or perf events. */
#include "loader/probes/probe_set.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "loader/probes/backing_inode.h"
#include "loader/probes/entry_programs.h"
#include "loader/probes/multi_link.h"

struct probe_link {
	int fd;                /* descriptor of the link, with LINK_SESSION or LINK_MULTI */
	struct bpf_link *perf; /* link, with LINK_PERF or LINK_SHAPE; NULL if fd is used */
	bool for_sharers;
	struct file_id file; /* file that contains the probes of the link */
};

struct probe_file {
	int fd;
	struct file_id id;
};

struct attachment {
	struct probe_set *set;
	const struct probe_programs *programs;
	pid_t pid;
	uint32_t binding;
	/* path in /proc/self/fd, which leads to the open file even if it was renamed or replaced */
	const char *path;
	struct file_id file;
	struct probe *probes;
	size_t cnt;
};

/* Returns the probe at the place of `probe`; NULL if this place is not probed. */
static const struct probe *find_probe(const struct probe_set *set, const struct probe *probe)
{
	for (size_t i = 0; i < set->cnt; i++) {
		const struct probe *other = &set->items[i];

		if (probe->offset == other->offset && file_id_equal(&probe->file, &other->file))
			return other;
	}
	return NULL;
}

static int add_link(const struct attachment *to, struct probe_link link)
{
	struct probe_set *set = to->set;

	if (array_reserve(&set->links, &set->link_cap, set->link_cnt + 1))
		return -ENOMEM;
	link.file = to->file;
	link.for_sharers = to->binding == MEMLEAK_SHARES_MEMORY;
	set->links[set->link_cnt++] = link;
	return 0;
}

static void destroy_link(const struct probe_link *link)
{
	if (link->perf)
		bpf_link__destroy(link->perf);
	else
		close(link->fd);
}

static uint64_t cookie_of(const struct attachment *to, const struct probe *probe)
{
	return MEMLEAK_COOKIE(probe->shape, to->binding) |
	       (probe->throws ? MEMLEAK_COOKIE_THROWS : 0);
}

static int attach_perf(struct attachment *to, const struct probe *probe, bool at_return)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = at_return);
	struct bpf_program *prog = to->programs->any;
	struct probe_link link = {.fd = -1};
	int err;

	if (at_return)
		prog = to->programs->ret;
	else if (to->programs->kind == LINK_SHAPE)
		prog = to->programs->shapes[probe->shape];
	else
		opts.bpf_cookie = cookie_of(to, probe);

	link.perf = bpf_program__attach_uprobe_opts(prog, to->pid ? to->pid : -1, to->path,
						    probe->offset, &opts);
	if (!link.perf)
		return -errno;
	err = add_link(to, link);
	if (err)
		destroy_link(&link);
	return err;
}

/*
 * Attaches the return probe of a function before its entry probe: the entry probe marks a call, and
 * the return of a marked call must not be missed.
 */
static void attach_all_perf(struct attachment *to)
{
	for (size_t i = 0; i < to->cnt; i++) {
		struct probe *probe = &to->probes[i];

		if (probe->err)
			continue;
		if (probe->at_return)
			probe->err = attach_perf(to, probe, true);
		if (!probe->err)
			probe->err = attach_perf(to, probe, false);
	}
}

static struct bpf_program *multi_program(const struct attachment *to, enum multi_link_when when)
{
	switch (when) {
	case MULTI_LINK_SESSION:
		return to->programs->session;
	case MULTI_LINK_RETURN:
		return to->programs->ret;
	default:
		if (to->programs->kind == LINK_SESSION)
			return entry_programs__get(to->programs->entries);
		return to->programs->any;
	}
}

/*
 * True if the probe needs an entry link instead of a session link. A session link makes the kernel
 * intercept the function's returns, in the bound process and in others, such as its children; an
 * exception cannot pass an intercepted return.
 */
static bool needs_entry_link(const struct probe *probe)
{
	return probe->throws || probe->shape == MEMLEAK_SHAPE_RETURN ||
	       probe->shape == MEMLEAK_SHAPE_RAISE;
}

static bool belongs_to_link(const struct attachment *to, enum multi_link_when when,
			    const struct probe *probe)
{
	if (probe->err)
		return false;
	if (when == MULTI_LINK_RETURN)
		return probe->at_return;
	return to->programs->kind != LINK_SESSION ||
	       needs_entry_link(probe) == (when == MULTI_LINK_ENTRY);
}

static int link_multi(struct attachment *to, enum multi_link_when when)
{
	cleanup_free uint64_t *offsets = calloc(to->cnt, sizeof(*offsets));
	cleanup_free uint64_t *cookies = calloc(to->cnt, sizeof(*cookies));
	struct multi_link multi = {
		.path = to->path,
		.pid = to->pid,
		.when = when,
		.offsets = offsets,
		.cookies = cookies,
	};
	const struct bpf_program *program;
	struct probe_link link = {0};
	int err;

	if (!offsets || !cookies)
		return -ENOMEM;
	for (size_t i = 0; i < to->cnt; i++) {
		if (!belongs_to_link(to, when, &to->probes[i]))
			continue;
		offsets[multi.cnt] = to->probes[i].offset;
		cookies[multi.cnt++] = cookie_of(to, &to->probes[i]);
	}
	if (!multi.cnt)
		return 0;
	program = multi_program(to, when);
	if (!program)
		return -ENOTSUP;
	multi.prog_fd = bpf_program__fd(program);
	link.fd = multi_link_create(&multi);
	if (link.fd < 0)
		return link.fd;
	err = add_link(to, link);
	if (err)
		destroy_link(&link);
	return err;
}

static void attach_multi(struct attachment *to, enum multi_link_when when)
{
	int err = link_multi(to, when);

	for (size_t i = 0; err && i < to->cnt; i++)
		if (belongs_to_link(to, when, &to->probes[i]))
			to->probes[i].err = err;
}

static void attach_all_multi(struct attachment *to)
{
	bool sessions = to->programs->kind == LINK_SESSION;

	attach_multi(to, sessions ? MULTI_LINK_SESSION : MULTI_LINK_RETURN);
	attach_multi(to, MULTI_LINK_ENTRY);
}

static void attach_links(struct attachment *to)
{
	if (probe_programs_bound(to->programs))
		attach_all_multi(to);
	else
		attach_all_perf(to);
}

static void add_sharer_links(struct attachment *to)
{
	to->pid = 0;
	to->binding = MEMLEAK_SHARES_MEMORY;
	attach_links(to);
}

/* Keeps the file open, as it is needed when the probes are bound again. */
static int keep_file(struct probe_set *set, int fd, const struct file_id *id)
{
	int kept;

	for (size_t i = 0; i < set->file_cnt; i++)
		if (file_id_equal(&set->files[i].id, id))
			return 0;
	if (array_reserve(&set->files, &set->file_cap, set->file_cnt + 1))
		return -ENOMEM;
	kept = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (kept < 0)
		return -errno;
	set->files[set->file_cnt++] = (struct probe_file){kept, *id};
	return 0;
}

/*
 * Sets err to -EEXIST in probes at places that are already probed, by the set or by an earlier
 * probe of the list. Adds the others to the set.
 */
static int check_places(struct attachment *to, int fd)
{
	struct probe_set *set = to->set;
	int err = backing_inode(fd, &to->file);

	/*
	 * Probes shared by all processes are never bound again, so their files need not stay open.
	 */
	if (!err && to->binding != MEMLEAK_ANY_BINDING)
		err = keep_file(set, fd, &to->file);
	if (err)
		return err;
	if (array_reserve(&set->items, &set->cap, set->cnt + to->cnt))
		return -ENOMEM;
	for (size_t i = 0; i < to->cnt; i++) {
		struct probe *probe = &to->probes[i];

		probe->file = to->file;
		probe->err = find_probe(set, probe) ? -EEXIST : 0;
		if (!probe->err)
			set->items[set->cnt++] = *probe;
	}
	return 0;
}

/* Removes probes that could not be attached. Returns the first error other than -EEXIST. */
static int drop_failed(struct attachment *to, size_t old_cnt)
{
	int first = 0;

	to->set->cnt = old_cnt;
	for (size_t i = 0; i < to->cnt; i++) {
		struct probe *probe = &to->probes[i];

		if (!probe->err)
			to->set->items[to->set->cnt++] = *probe;
		else if (probe->err != -EEXIST && !first)
			first = probe->err;
	}
	return first;
}

/* Returns a path for an open descriptor; NULL if out of memory. The caller frees it. */
static char *path_of(int fd)
{
	char *path;

	return asprintf(&path, "/proc/self/fd/%d", fd) < 0 ? NULL : path;
}

int probe_set_attach(struct probe_set *set, const struct probe_programs *programs, pid_t pid,
		     int fd, struct probe *probes, size_t cnt)
{
	struct attachment to = {
		.set = set,
		.programs = programs,
		.pid = pid,
		.binding = set->binding,
		.probes = probes,
		.cnt = cnt,
	};
	cleanup_free char *path = NULL;
	size_t old_cnt = set->cnt;
	int err;

	if (!cnt)
		return 0;
	path = path_of(fd);
	if (!path)
		return -ENOMEM;
	to.path = path;
	err = check_places(&to, fd);
	if (err)
		return err;
	attach_links(&to);
	if (set->has_sharers && probe_programs_bound(programs))
		add_sharer_links(&to);
	return drop_failed(&to, old_cnt);
}

bool probe_set_has(const struct probe_set *set, int fd, uint64_t offset, enum memleak_shape shape)
{
	struct probe place = {.offset = offset};
	const struct probe *found = backing_inode(fd, &place.file) ? NULL : find_probe(set, &place);

	return found && found->shape == shape;
}

/* Returns copies of the probes of one file; NULL if out of memory. The caller frees them. */
static struct probe *probes_of(const struct probe_set *set, const struct probe_file *file,
			       size_t *cnt)
{
	struct probe *probes = calloc(set->cnt + 1, sizeof(*probes));

	*cnt = 0;
	for (size_t i = 0; probes && i < set->cnt; i++)
		if (file_id_equal(&set->items[i].file, &file->id))
			probes[(*cnt)++] = set->items[i];
	return probes;
}

static int add_file_sharers(struct probe_set *set, const struct probe_file *file,
			    const struct probe_programs *programs)
{
	struct attachment to = {.set = set, .programs = programs, .file = file->id};
	cleanup_free struct probe *probes = probes_of(set, file, &to.cnt);
	cleanup_free char *path = path_of(file->fd);
	int err = 0;

	if (!probes || !path)
		return -ENOMEM;
	to.probes = probes;
	to.path = path;
	add_sharer_links(&to);
	for (size_t i = 0; !err && i < to.cnt; i++)
		err = probes[i].err;
	return err;
}

int probe_set_add_sharers(struct probe_set *set, const struct probe_programs *programs)
{
	int first = 0;

	set->has_sharers = true;
	for (size_t i = 0; probe_programs_bound(programs) && i < set->file_cnt; i++) {
		int err = add_file_sharers(set, &set->files[i], programs);

		if (!first)
			first = err;
	}
	return first;
}

static int rebind_file(struct probe_set *set, const struct probe_set *old, size_t file,
		       const struct probe_programs *programs, pid_t pid)
{
	size_t cnt;
	cleanup_free struct probe *probes = probes_of(old, &old->files[file], &cnt);

	if (!probes)
		return -ENOMEM;
	return probe_set_attach(set, programs, pid, old->files[file].fd, probes, cnt);
}

int probe_set_rebind(struct probe_set *set, const struct probe_programs *programs, pid_t pid,
		     struct probe_set *old)
{
	struct probe_set fresh = {.binding = set->binding + 1};
	int first = 0;

	for (size_t i = 0; i < set->file_cnt; i++) {
		int err = rebind_file(&fresh, set, i, programs, pid);

		if (!first)
			first = err;
	}
	*old = *set;
	*set = fresh;
	return first;
}

/*
 * Destroys the links of one file. If file is NULL, destroys the links added by
 * probe_set_add_sharers() instead. Returns the number of destroyed links.
 */
static size_t drop_links(struct probe_set *set, const struct file_id *file)
{
	size_t kept = 0, gone;

	for (size_t i = 0; i < set->link_cnt; i++) {
		const struct probe_link *link = &set->links[i];

		if (file ? file_id_equal(&link->file, file) : link->for_sharers)
			destroy_link(link);
		else
			set->links[kept++] = *link;
	}
	gone = set->link_cnt - kept;
	set->link_cnt = kept;
	return gone;
}

void probe_set_drop_sharers(struct probe_set *set)
{
	set->has_sharers = false;
	drop_links(set, NULL);
}

size_t probe_set_drop(struct probe_set *set, const struct file_id *file)
{
	size_t kept = 0, gone = drop_links(set, file);

	for (size_t i = 0; i < set->cnt; i++)
		if (!file_id_equal(&set->items[i].file, file))
			set->items[kept++] = set->items[i];
	set->cnt = kept;
	return gone;
}

struct detaching {
	struct probe_set *const *sets;
	size_t set_cnt;
	atomic_size_t next; /* number of the next link to destroy, counted over all sets */
};

static void detach_links(void *arg, size_t worker)
{
	struct detaching *detaching = arg;
	size_t at = 0, next = detaching->next++;

	for (size_t i = 0; i < detaching->set_cnt; at += detaching->sets[i++]->link_cnt)
		for (; next - at < detaching->sets[i]->link_cnt; next = detaching->next++)
			destroy_link(&detaching->sets[i]->links[next - at]);
}

static void free_set(struct probe_set *set)
{
	for (size_t i = 0; i < set->file_cnt; i++)
		close(set->files[i].fd);
	free(set->links);
	free(set->files);
	free(set->items);
	*set = (struct probe_set){0};
}

void probe_sets_detach(struct probe_set *const *sets, size_t cnt)
{
	struct detaching detaching = {.sets = sets, .set_cnt = cnt};
	size_t link_cnt = 0;

	for (size_t i = 0; i < cnt; i++)
		link_cnt += sets[i]->link_cnt;
	if (link_cnt)
		parallel_run(link_cnt, detach_links, &detaching);
	for (size_t i = 0; i < cnt; i++)
		free_set(sets[i]);
}

void probe_set_detach(struct probe_set *set)
{
	probe_sets_detach(&set, 1);
}
