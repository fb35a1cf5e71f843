// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses the kernel's perf records of mappings and processes. */
#include "loader/target/map_record.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

/* The fields at the end of each record, in the order of the sample format. */
struct trailer {
	uint32_t pid;
	uint32_t tid;
	uint64_t time_ns;
};

struct mmap2_body {
	uint32_t pid;
	uint32_t tid;
	uint64_t addr;
	uint64_t len;
	uint64_t offset;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint64_t inode;
	uint64_t inode_generation;
	uint32_t prot;
	uint32_t flags;
};

struct comm_body {
	uint32_t pid;
	uint32_t tid;
};

struct task_body {
	uint32_t pid;
	uint32_t parent;
	uint32_t tid;
	uint32_t parent_tid;
	uint64_t time_ns;
};

/* The part of a record that is not parsed yet. Excludes the trailer. */
struct rest {
	const char *at;
	size_t len;
};

static bool take(struct rest *rest, void *to, size_t len)
{
	if (rest->len < len)
		return false;
	memcpy(to, rest->at, len);
	rest->at += len;
	rest->len -= len;
	return true;
}

static bool path_is(const struct map_record *record, const char *path)
{
	return record->path_len == strlen(path) && !memcmp(record->path, path, record->path_len);
}

static void take_path(const struct rest *rest, struct map_record *ret)
{
	static const char mark[] = " (deleted)";
	const size_t mark_len = sizeof(mark) - 1;

	ret->path = rest->at;
	ret->path_len = strnlen(rest->at, rest->len);
	if (!ret->mapping.file.ino) {
		if (path_is(ret, "//anon"))
			ret->path_len = 0;
		return;
	}
	ret->mapping.deleted = ret->path_len > mark_len &&
			       !memcmp(ret->path + ret->path_len - mark_len, mark, mark_len);
	if (ret->mapping.deleted)
		ret->path_len -= mark_len;
}

static bool parse_mapping(struct rest *rest, struct map_record *ret)
{
	struct mmap2_body body;
	struct mapping *mapping = &ret->mapping;

	if (!take(rest, &body, sizeof(body)) || !body.len ||
	    __builtin_add_overflow(body.addr, body.len, &mapping->end))
		return false;
	ret->kind = MAP_RECORD_MAPPING;
	ret->pid = (pid_t)body.pid;
	ret->tid = (pid_t)body.tid;
	mapping->start = body.addr;
	/*
	 * Set the offset of anonymous memory to 0, as in /proc; the record contains another value.
	 */
	mapping->offset = body.inode ? body.offset : 0;
	mapping->file = (struct file_id){body.inode, makedev(body.dev_major, body.dev_minor)};
	mapping->readable = body.prot & PROT_READ;
	mapping->writable = body.prot & PROT_WRITE;
	mapping->executable = body.prot & PROT_EXEC;
	mapping->shared = body.flags & MAP_SHARED;
	take_path(rest, ret);
	return true;
}

static bool parse_comm(struct rest *rest, bool exec, struct map_record *ret)
{
	struct comm_body body;
	size_t len;

	if (!take(rest, &body, sizeof(body)))
		return false;
	ret->kind = exec ? MAP_RECORD_EXEC : MAP_RECORD_NAME;
	ret->pid = (pid_t)body.pid;
	ret->tid = (pid_t)body.tid;
	len = strnlen(rest->at, rest->len);
	if (len > sizeof(ret->comm) - 1)
		len = sizeof(ret->comm) - 1;
	memcpy(ret->comm, rest->at, len);
	return true;
}

static bool parse_task(struct rest *rest, enum map_record_kind kind, struct map_record *ret)
{
	struct task_body body;

	if (!take(rest, &body, sizeof(body)))
		return false;
	ret->kind = kind;
	ret->pid = (pid_t)body.pid;
	ret->tid = (pid_t)body.tid;
	ret->parent = (pid_t)body.parent;
	return true;
}

uint64_t map_record_time(const void *bytes, size_t len)
{
	struct trailer trailer;

	if (len < sizeof(struct perf_event_header) + sizeof(trailer))
		return 0;
	memcpy(&trailer, (const char *)bytes + len - sizeof(trailer), sizeof(trailer));
	return trailer.time_ns;
}

bool map_record_parse(const void *bytes, size_t len, struct map_record *ret)
{
	struct map_record record = {.time_ns = map_record_time(bytes, len)};
	struct perf_event_header header;
	struct rest rest;
	bool ok = true;

	if (len < sizeof(header) + sizeof(struct trailer))
		return false;
	memcpy(&header, bytes, sizeof(header));
	rest.at = (const char *)bytes + sizeof(header);
	rest.len = len - sizeof(header) - sizeof(struct trailer);
	switch (header.type) {
	case PERF_RECORD_MMAP2:
		ok = parse_mapping(&rest, &record);
		break;
	case PERF_RECORD_COMM:
		ok = parse_comm(&rest, header.misc & PERF_RECORD_MISC_COMM_EXEC, &record);
		break;
	case PERF_RECORD_FORK:
		ok = parse_task(&rest, MAP_RECORD_FORK, &record);
		break;
	case PERF_RECORD_EXIT:
		ok = parse_task(&rest, MAP_RECORD_EXIT, &record);
		break;
	case PERF_RECORD_LOST:
		record.kind = MAP_RECORD_LOST;
		break;
	default:
		break;
	}
	if (ok)
		*ret = record;
	return ok;
}
