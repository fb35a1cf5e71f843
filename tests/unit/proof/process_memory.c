// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads memory of another process by process_vm_readv(). */
#include "tests/unit/proof/process_memory.h"

#include <errno.h>
#include <stddef.h>
#include <sys/uio.h>
#include <unistd.h>

static ssize_t read_process(const struct memory *memory, uint64_t addr, void *buf, size_t len)
{
	const struct process_memory *process = (const struct process_memory *)memory;
	struct iovec to = {.iov_base = buf, .iov_len = len};
	struct iovec from = {.iov_base = (void *)addr, .iov_len = len};
	ssize_t got = process_vm_readv(process->pid, &to, 1, &from, 1, 0);

	if (got < 0)
		return errno == EFAULT ? 0 : -errno;
	return got;
}

static int visit_all(const struct memory *memory, const struct mapping *mapping, uint64_t start,
		     uint64_t end, memory_visit_fn *visit, void *arg)
{
	return visit(arg, start, end);
}

static const struct memory_ops ops = {.read = read_process, .visit_written = visit_all};

int process_memory_init(struct process_memory *memory, pid_t pid)
{
	*memory = (struct process_memory){.pid = pid};
	memory->memory.ops = &ops;
	memory->memory.page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	return proc_maps_read(pid, &memory->memory.maps);
}

void process_memory_deinit(struct process_memory *memory)
{
	proc_maps_deinit(&memory->memory.maps);
}
