// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds out whether memory contains variables, a stack, or other data. */
#include "proof/root_kind.h"

#include <elf.h>
#include <string.h>

#include "report/allocator_frames.h"
#include "report/own.h"

/* Maximum program headers per file; most files have about a dozen. */
#define SEGMENTS_MAX 64

const struct thread_state *root_thread(const struct heap_picture *picture,
				       const struct mapping *mapping)
{
	const struct thread_states *threads = picture->threads;

	for (size_t i = 0; i < threads->cnt; i++)
		if (threads->items[i].known && threads->items[i].sp >= mapping->start &&
		    threads->items[i].sp < mapping->end)
			return &threads->items[i];
	return NULL;
}

/*
 * True if the data of a file extends beyond `end`, according to its ELF headers, which are mapped
 * at `begin`, or if these cannot be read.
 */
static bool goes_on(const struct memory *memory, const struct mapping *begin, uint64_t end)
{
	Elf64_Ehdr header;
	Elf64_Phdr segments[SEGMENTS_MAX];
	uint64_t first = UINT64_MAX, last = 0;
	size_t len;

	if (memory->ops->read(memory, begin->start, &header, sizeof(header)) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_phentsize != sizeof(*segments) ||
	    !header.e_phnum || header.e_phnum > SEGMENTS_MAX)
		return true;
	len = header.e_phnum * sizeof(*segments);
	if (memory->ops->read(memory, begin->start + header.e_phoff, segments, len) != (ssize_t)len)
		return true;
	for (size_t i = 0; i < header.e_phnum; i++) {
		if (segments[i].p_type != PT_LOAD)
			continue;
		if (segments[i].p_vaddr < first)
			first = segments[i].p_vaddr;
		if (segments[i].p_vaddr + segments[i].p_memsz > last)
			last = segments[i].p_vaddr + segments[i].p_memsz;
	}
	return last - (first & ~(memory->page_size - 1)) > end - begin->start;
}

/*
 * Also recognises the .bss of a file: a mapping without a path directly after the file's writable
 * data. Other memory may be in this place, too, so checks the ELF headers.
 */
const struct mapping *root_file(const struct heap_picture *picture, const struct mapping *mapping)
{
	const struct mapping *first = picture->memory->maps.mappings;
	const struct mapping *below = mapping > first ? mapping - 1 : NULL, *begin = below;

	if (mapping->path[0] == '/')
		return mapping;
	if (mapping->path[0] || !below || below->end != mapping->start || !below->writable ||
	    below->path[0] != '/' || below->shared)
		return NULL;
	while (begin > first && begin->offset && !strcmp(begin[-1].path, below->path))
		begin--;
	return goes_on(picture->memory, begin, below->end) ? below : NULL;
}

/*
 * Classifies an address. *ret_file: mapping of the file of a global variable; set only if the
 * result is HOLDER_GLOBAL. Call only once for each decision: the result may change, since headers
 * are read from the process's memory.
 */
static enum holder_kind kind_of(const struct heap_picture *picture, uint64_t addr,
				const struct mapping **ret_file)
{
	const struct mapping *mapping = proc_maps_find(&picture->memory->maps, addr);

	if (!mapping)
		return HOLDER_MEMORY;
	if (root_thread(picture, mapping))
		return HOLDER_STACK;
	*ret_file = root_file(picture, mapping);
	if (*ret_file)
		return HOLDER_GLOBAL;
	return strcmp(mapping->path, "[heap]") ? HOLDER_MEMORY : HOLDER_HEAP;
}

enum holder_kind root_kind(const struct heap_picture *picture, uint64_t addr)
{
	const struct mapping *file;

	return kind_of(picture, addr, &file);
}

/*
 * The data of an allocator or of the C library may point to any block, so such data does not
 * identify an owner. The same is true of the data and stacks of an interpreter.
 */
enum root_hint root_hint(const struct heap_picture *picture, uint64_t addr)
{
	const struct mapping *file;
	enum holder_kind kind = kind_of(picture, addr, &file);

	if (kind == HOLDER_STACK)
		return picture->is_python ? ROOT_HINT_WEAK : ROOT_HINT_GOOD;
	if (kind != HOLDER_GLOBAL)
		return ROOT_HINT_NONE;
	if (module_is_runtime(file->path))
		return ROOT_HINT_RUNTIME;
	return picture->is_python && interpreter_of(file->path) ? ROOT_HINT_WEAK : ROOT_HINT_GOOD;
}

bool root_is_python(const struct proc_maps *maps)
{
	for_each_mapping (mapping, maps) {
		const char *name = mapping->executable && mapping->path[0] == '/'
					   ? interpreter_of(mapping->path)
					   : NULL;

		if (name && !strcmp(name, "python"))
			return true;
	}
	return false;
}
