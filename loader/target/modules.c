// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the modules of a process from the list of its dynamic loader, in the order in which the
 * loader searches them for symbols. Follows the auxiliary vector, program headers, dynamic section,
 * r_debug and link_map. r_debug and link_map are the debugger interface of <link.h>, in both glibc
 * and musl. Reads memory through /proc/PID/mem.
 */
#include "loader/target/modules.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mapped_file.h"
#include "base/proc.h"
#include "base/proc_maps.h"
#include "base/regular_file.h"
#include "loader/target/arch.h"
#include "loader/target/opened_files.h"
#include "prober/prober.h"

/* Maximum libraries read, since a hostile process may have an endless list. */
#define MAX_LINK_MAPS 16384
#define MAX_PHDRS 512
#define MAX_DYNAMIC 4096

struct reader {
	pid_t pid;
	int mem;
	const struct proc_maps *maps;
	struct opened_files opened; /* results: index of the file's module, or a negative errno */
	struct module_list *list;
	uint64_t patience_ns; /* maximum total time of all reads */
	/* piece of memory read last; it often contains the data needed next */
	uint64_t piece_addr;
	size_t piece_len;
	uint8_t piece[PROBER_MEMORY_MAX];
};

static bool read_piece(struct reader *reader, uint64_t addr)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	int err = -ETIMEDOUT;

	reader->piece_len = 0;
	if (!reader->list->hangs && reader->list->asked_ns < reader->patience_ns)
		err = prober_memory(reader->mem, addr, reader->piece, sizeof(reader->piece),
				    begin_ns + reader->patience_ns - reader->list->asked_ns);
	reader->list->hangs |= err == -ETIMEDOUT;
	reader->list->asked_ns += clock_ns(CLOCK_MONOTONIC) - begin_ns;
	if (err)
		return false;
	reader->piece_addr = addr;
	reader->piece_len = sizeof(reader->piece);
	return true;
}

/* Reads memory of the process in pieces of PROBER_MEMORY_MAX bytes. No piece crosses a page. */
static bool read_target(struct reader *reader, uint64_t addr, void *buf, size_t len)
{
	uint8_t *to = buf;

	for (size_t done = 0, part; done < len; done += part) {
		uint64_t at = addr + done, piece = at & ~(uint64_t)(PROBER_MEMORY_MAX - 1);
		size_t from = (size_t)(at - piece);

		part = PROBER_MEMORY_MAX - from < len - done ? PROBER_MEMORY_MAX - from
							     : len - done;
		if ((!reader->piece_len || reader->piece_addr != piece) &&
		    !read_piece(reader, piece))
			return false;
		memcpy(to + done, reader->piece + from, part);
	}
	return true;
}

bool process_auxv(pid_t pid, uint64_t type, uint64_t *ret)
{
	cleanup_close int fd = proc_open(pid, "auxv", O_RDONLY);
	Elf64_auxv_t entry;

	if (fd < 0)
		return false;
	while (read(fd, &entry, sizeof(entry)) == sizeof(entry)) {
		if (entry.a_type == type) {
			*ret = entry.a_un.a_val;
			return true;
		}
	}
	return false;
}

/* Finds the dynamic section of the program. PT_PHDR gives the load bias. */
static bool find_dynamic(struct reader *reader, uint64_t *ret)
{
	uint64_t phdr, phnum, bias = 0, dynamic = 0;

	if (!process_auxv(reader->pid, AT_PHDR, &phdr) ||
	    !process_auxv(reader->pid, AT_PHNUM, &phnum))
		return false;
	for (uint64_t i = 0; i < phnum && i < MAX_PHDRS; i++) {
		Elf64_Phdr header;

		if (!read_target(reader, phdr + i * sizeof(header), &header, sizeof(header)))
			return false;
		if (header.p_type == PT_PHDR)
			bias = phdr - header.p_vaddr;
		else if (header.p_type == PT_DYNAMIC)
			dynamic = header.p_vaddr;
	}
	*ret = dynamic + bias;
	return dynamic != 0;
}

static bool read_r_debug(struct reader *reader, uint64_t addr, struct r_debug *ret)
{
	if (!addr || !read_target(reader, addr, ret, sizeof(*ret)))
		return false;
	reader->list->r_debug = addr;
	return true;
}

static bool find_r_debug(struct reader *reader, struct r_debug *ret)
{
	uint64_t dynamic;

	if (!find_dynamic(reader, &dynamic))
		return false;
	for (size_t i = 0; i < MAX_DYNAMIC; i++) {
		Elf64_Dyn entry;

		if (!read_target(reader, dynamic + i * sizeof(entry), &entry, sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			return false;
		if (entry.d_tag == DT_DEBUG)
			return read_r_debug(reader, entry.d_un.d_ptr, ret);
	}
	return false;
}

static void drop_modules(struct module_list *list)
{
	for (size_t i = 0; i < list->cnt; i++) {
		close(list->items[i].fd);
		free(list->items[i].path);
	}
	list->cnt = 0;
}

static bool read_own_r_debug(struct reader *reader, int fd, uint64_t deadline_ns,
			     struct r_debug *ret)
{
	uint64_t entry, behind, addr;

	if (!process_auxv(reader->pid, AT_ENTRY, &entry))
		return false;
	if (prober_variable(fd, "_r_debug", deadline_ns, &behind)) /* glibc */
		return read_r_debug(reader, entry + behind, ret);
	return prober_variable(fd, "_dl_debug_addr", deadline_ns, &behind) && /* musl */
	       read_target(reader, entry + behind, &addr, sizeof(addr)) &&
	       read_r_debug(reader, addr, ret);
}

/*
 * True if the file defines main(): then it is a static program, not the dynamic loader. It may
 * contain the variables of the dynamic loader, but never sets them. Also true if the file cannot be
 * searched.
 */
static bool has_main(int fd, uint64_t deadline_ns)
{
	static const struct wanted_function main_function = {.name = "main"};
	static const struct wanted_functions wanted = {
		.items = &main_function,
		.cnt = 1,
		.at_entry = true,
	};
	struct file_functions found;
	bool has;

	if (prober_functions(fd, arch_elf_machine, &wanted, deadline_ns, &found))
		return true;
	has = found.cnt;
	file_functions_deinit(&found);
	return has;
}

/*
 * Finds r_debug if the dynamic loader itself was run, with a program as its argument. The dynamic
 * loader has no DT_DEBUG, but its own variables are found by name. The list in r_debug begins with
 * the program.
 */
static bool find_own_r_debug(struct reader *reader, uint64_t patience_ns, struct r_debug *ret)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), deadline_ns = begin_ns + patience_ns;
	struct module_list *list = reader->list;
	uint64_t asked_ns = list->asked_ns;
	bool found;

	list->unasked |= list->cnt && !patience_ns;
	if (!list->cnt || list->unasked)
		return false;
	found = !has_main(list->items[0].fd, deadline_ns) &&
		read_own_r_debug(reader, list->items[0].fd, deadline_ns, ret);
	list->asked_ns = asked_ns + clock_ns(CLOCK_MONOTONIC) - begin_ns;
	if (found) {
		drop_modules(list);
		opened_files_deinit(&reader->opened);
	}
	return found;
}

int process_open_program(pid_t pid)
{
	char name[32];
	struct stat st;

	snprintf(name, sizeof(name), "/proc/%d/exe", (int)proc_living_thread(pid));
	return regular_file_open_link(pid, AT_FDCWD, name, &st);
}

int process_open_mapping(pid_t pid, const struct mapping *mapping)
{
	bool moved = mapping_is_moved(mapping);
	uint64_t start = moved ? mapping->beside_start : mapping->start;
	uint64_t end = moved ? mapping->beside_end : mapping->end;
	char name[96];
	struct stat st;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/map_files/%llx-%llx", (int)proc_living_thread(pid),
		 (unsigned long long)start, (unsigned long long)end);
	fd = regular_file_open_link(pid, AT_FDCWD, name, &st);
	if (fd < 0)
		return fd;
	/* Check the file, since another file may be mapped at this address by now. */
	if (mapped_file_is(fd, &st, &mapping->file))
		return fd;
	close(fd);
	return -ENOENT;
}

/*
 * Sets `no_files` if descriptors ran out, `is_locked` if the memory map stays locked; for other
 * errors, stores the first file's path and error. Ignores mappings that are gone, files that are
 * not regular, and lack of memory.
 */
static void note_unread(struct module_list *list, const struct mapping *mapping, int err)
{
	list->no_files |= err == -EMFILE || err == -ENFILE;
	list->is_locked |= err == -EAGAIN;
	if (list->no_files || list->is_locked || list->unread || err == -ENOENT || err == -ESRCH ||
	    err == -ENOEXEC || err == -ENOMEM)
		return;
	list->unread = strdup(mapping->path);
	list->unread_err = err;
}

/*
 * Opens the mapped file and adds it to the list, unless it is already there. Returns its index or a
 * negative errno.
 */
static ssize_t open_module(struct reader *reader, const struct mapping *mapping)
{
	struct module_list *list = reader->list;
	struct module module;
	struct stat st;

	module.fd = process_open_mapping(reader->pid, mapping);
	if (module.fd < 0) {
		note_unread(list, mapping, module.fd);
		return module.fd;
	}
	if (file_stat(module.fd, &st)) {
		close(module.fd);
		return -EIO;
	}
	module.id = file_id_of(&st);
	for (size_t i = 0; i < list->cnt; i++) {
		if (file_id_equal(&list->items[i].id, &module.id)) {
			close(module.fd);
			return (ssize_t)i;
		}
	}
	module.path = strdup(mapping->path);
	if (!module.path || array_reserve(&list->items, &list->cap, list->cnt + 1)) {
		close(module.fd);
		free(module.path);
		return -ENOMEM;
	}
	list->items[list->cnt] = module;
	return (ssize_t)list->cnt++;
}

/*
 * Adds the mapped file to the list, unless it is already there. Returns its index or a negative
 * errno: -ENOENT if this mapping is gone, but others of the file may still be there.
 */
static ssize_t add_module(struct reader *reader, const struct mapping *mapping)
{
	ssize_t *module = opened_files_result(&reader->opened, mapping);

	if (!module)
		return -ENOMEM;
	if (*module == -ENOENT)
		*module = open_module(reader, mapping);
	return *module;
}

/* Returns the file mapping that contains addr; NULL if there is none. */
static const struct mapping *mapping_at(const struct reader *reader, uint64_t addr)
{
	const struct mapping *mapping = proc_maps_find(reader->maps, addr);

	return mapping && mapping->file.ino ? mapping : NULL;
}

/*
 * Adds the modules in the dynamic loader's list. Each module is found by the address of its dynamic
 * section.
 */
static void add_linked(struct reader *reader, const struct r_debug *debug)
{
	uint64_t next = (uint64_t)debug->r_map;

	for (size_t i = 0; next && i < MAX_LINK_MAPS; i++) {
		const struct mapping *mapping;
		struct link_map map;

		if (!read_target(reader, next, &map, sizeof(map)))
			return;
		mapping = mapping_at(reader, (uint64_t)map.l_ld);
		if (mapping)
			add_module(reader, mapping);
		next = (uint64_t)map.l_next;
	}
}

static void add_hook(struct reader *reader, uint64_t addr)
{
	const struct mapping *mapping = mapping_at(reader, addr);

	if (!mapping || !mapping->executable)
		return;
	reader->list->hook_module = add_module(reader, mapping);
	reader->list->hook_offset = addr - mapping->start + mapping->offset;
}

/* Adds the program, which is the file that contains the program headers. */
static void add_program(struct reader *reader)
{
	const struct mapping *mapping;
	uint64_t phdr;

	if (!process_auxv(reader->pid, AT_PHDR, &phdr))
		return;
	mapping = mapping_at(reader, phdr);
	if (mapping)
		add_module(reader, mapping);
}

static void add_rest(struct reader *reader)
{
	for_each_mapping (mapping, reader->maps)
		if (mapping->executable && mapping->file.ino)
			add_module(reader, mapping);
}

static void add_moved(struct reader *reader)
{
	struct module_list *list = reader->list;

	for_each_mapping (mapping, reader->maps) {
		ssize_t module = mapping_is_moved(mapping) ? add_module(reader, mapping) : -ENOENT;

		if (module < 0 ||
		    array_reserve(&list->moved, &list->moved_cap, list->moved_cnt + 1))
			continue;
		list->moved[list->moved_cnt++] = (struct moved_code){
			.module = (size_t)module,
			.start = mapping->offset,
			.end = mapping->offset + mapping->end - mapping->start,
		};
	}
}

int module_list_init(pid_t pid, uint64_t memory_ns, uint64_t file_ns, struct module_list *ret)
{
	struct module_list list = {.hook_module = -1};
	struct reader reader = {.pid = pid, .list = &list};
	cleanup_close int mem = proc_open(pid, "mem", O_RDONLY);
	struct proc_maps maps;
	struct r_debug debug;
	size_t linked_cnt;
	uint64_t base = 0;
	int err;

	if (mem < 0)
		return mem == -ENOENT ? -ESRCH : mem;
	err = proc_maps_read(pid, &maps);
	if (err)
		return err;
	reader.mem = mem;
	reader.patience_ns = memory_ns;
	list.unasked = !memory_ns;
	reader.maps = &maps;
	add_program(&reader);
	list.permanent_cnt = list.cnt;
	process_auxv(pid, AT_BASE, &base);
	list.is_static = !base;
	list.is_consistent = !base; /* in a static program, no dynamic loader changes the list */
	if ((!list.unasked && find_r_debug(&reader, &debug) && debug.r_map) ||
	    (!base && find_own_r_debug(&reader, file_ns, &debug))) {
		list.is_static = false;
		list.is_consistent = debug.r_map && debug.r_state == RT_CONSISTENT;
		add_linked(&reader, &debug);
		linked_cnt = list.cnt;
		add_hook(&reader, debug.r_brk);
		/*
		 * The dynamic loader comes last among the libraries loaded at startup. Libraries
		 * from dlopen() come after it.
		 */
		if (list.hook_module >= 0 && (size_t)list.hook_module < linked_cnt)
			list.permanent_cnt = (size_t)list.hook_module + 1;
	}
	add_rest(&reader);
	add_moved(&reader);
	opened_files_deinit(&reader.opened);
	proc_maps_deinit(&maps);
	if (list.is_locked || (!list.cnt && !list.unread)) {
		err = list.is_locked ? -EAGAIN : -ESRCH;
		module_list_deinit(&list);
		return err;
	}
	*ret = list;
	return 0;
}

void module_list_deinit(struct module_list *list)
{
	drop_modules(list);
	free(list->items);
	free(list->moved);
	free(list->unread);
	*list = (struct module_list){0};
}
