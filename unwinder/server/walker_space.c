// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the callbacks by which libdwfl reads copied memory. */
#include "unwinder/server/walker_space.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file_id.h"

/* Pid passed to libdwfl. libdwfl requires a pid but does not use it. */
#define SOME_PID 1

/*
 * Maximum size of a stack, in bytes. If a copy of a stack is full, the addresses just above it
 * count as part of the stack, up to this distance from the copy's start.
 */
#define STACK_BYTES_MAX (1ULL << 30)

/* Smallest page size of any machine; mappings are aligned to it. */
#define PAGE_BYTES 4096

struct added_file {
	struct file_id id;
	uint64_t bias;
};

struct walker_space {
	Dwfl *dwfl;
	bool complete; /* true if a walk has begun: no files can be added any more */
	bool attached;
	struct added_file *files;
	size_t file_cnt;
	size_t file_cap;

	/* The following fields are set for each walk. */
	const struct unwind_copy *copy;
	struct walker_stack *stack;
	bool unread; /* true if a read of memory failed after the last frame */
	bool beyond; /* true if a read just above the copied memory failed after the last frame */
	bool limit;
};

/*
 * libdwfl callback that finds no file: open files are added by walker_space__add(), and debug files
 * are not needed.
 */
static int find_no_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		       char **path, Elf **elf)
{
	return -1;
}

static int find_no_debuginfo(Dwfl_Module *module, void **userdata, const char *name,
			     Dwarf_Addr base, const char *path, const char *link, GElf_Word crc,
			     char **debug_path)
{
	return -1;
}

static const Dwfl_Callbacks file_callbacks = {
	.find_elf = find_no_elf,
	.find_debuginfo = find_no_debuginfo,
	.section_address = dwfl_offline_section_address,
};

int walker_space__new(struct walker_space **ret)
{
	struct walker_space *space = calloc(1, sizeof(*space));

	if (!space)
		return -ENOMEM;
	space->dwfl = dwfl_begin(&file_callbacks);
	if (!space->dwfl) {
		free(space);
		return -ENOMEM;
	}
	*ret = space;
	return 0;
}

void walker_space__free(struct walker_space *space)
{
	if (!space)
		return;
	dwfl_end(space->dwfl);
	free(space->files);
	free(space);
}

/* Converts a file offset to an ELF address. Returns false if no segment contains the offset. */
static bool find_address(Elf *elf, uint64_t offset, uint64_t *ret)
{
	size_t cnt;

	if (elf_getphdrnum(elf, &cnt))
		return false;
	for (size_t i = 0; i < cnt; i++) {
		uint64_t page_offset;
		GElf_Phdr phdr;

		if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_LOAD)
			continue;
		page_offset = phdr.p_offset & ~(uint64_t)(PAGE_BYTES - 1);
		if (offset < page_offset || offset >= phdr.p_offset + phdr.p_filesz)
			continue;
		*ret = offset - phdr.p_offset + phdr.p_vaddr;
		return true;
	}
	return false;
}

/*
 * Computes the load bias of a file. Returns false if the file is not a program or library, or if
 * the mapping was not made by the loader: a program may map its own code again.
 */
static bool find_bias(Elf *elf, const struct walker_code *code, uint64_t *ret)
{
	uint64_t addr, headers;
	GElf_Ehdr ehdr;

	if (!elf || !gelf_getehdr(elf, &ehdr) ||
	    (ehdr.e_type != ET_DYN && ehdr.e_type != ET_EXEC) ||
	    !find_address(elf, code->offset, &addr))
		return false;
	*ret = code->start - addr;
	if (ehdr.e_type == ET_EXEC)
		return !*ret;
	return !code->headers || !find_address(elf, 0, &headers) || code->headers - headers == *ret;
}

/*
 * Records a file with its load bias. False on an error, or if both are already recorded: a file
 * often has several code mappings.
 */
static bool is_new(struct walker_space *space, int fd, uint64_t bias)
{
	struct file_id id;
	struct stat st;

	if (fstat(fd, &st))
		return false;
	id = file_id_of(&st);
	for (size_t i = 0; i < space->file_cnt; i++)
		if (file_id_equal(&space->files[i].id, &id) && space->files[i].bias == bias)
			return false;
	if (array_reserve(&space->files, &space->file_cap, space->file_cnt + 1))
		return false;
	space->files[space->file_cnt++] = (struct added_file){id, bias};
	return true;
}

void walker_space__add(struct walker_space *space, int fd, const struct walker_code *code)
{
	uint64_t bias;
	bool found;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	found = find_bias(elf, code, &bias);
	elf_end(elf);
	if (space->complete || !found || !is_new(space, fd, bias) ||
	    !dwfl_report_elf(space->dwfl, "code", "code", fd, bias, true))
		close(fd);
}

/* True if the byte at this offset of the range was copied. */
static bool is_present(const struct unwind_copied_range *range, uint64_t at)
{
	uint64_t piece = at / UNWIND_COPY_PIECE;

	return range->present[piece / 64] >> piece % 64 & 1;
}

static bool read_copy(const struct unwind_copy *copy, uint64_t addr, uint64_t *ret)
{
	const struct unwind_copied_range *range = &copy->stack;
	uint64_t at = addr - range->start;

	if (range->bytes < sizeof(*ret) || at > range->bytes - sizeof(*ret) ||
	    !is_present(range, at) || !is_present(range, at + sizeof(*ret) - 1))
		return false;
	memcpy(ret, copy->stack_bytes + at, sizeof(*ret));
	return true;
}

/*
 * Returns the original return address at addr, where a return probe has stored `word`. This is that
 * of the innermost active call whose return address is stored at or above addr; `word` if there is
 * none.
 */
static uint64_t return_address(const struct unwind_copy *copy, uint64_t addr, uint64_t word)
{
	for (uint32_t i = 0; i < copy->call_cnt; i++)
		if (copy->calls[i].slot >= addr)
			return copy->calls[i].return_address;
	return word;
}

/*
 * True if addr is just above a range that was copied up to its end: the stack may continue there.
 */
static bool lies_beyond(const struct unwind_copied_range *range, uint64_t addr)
{
	uint64_t at = addr - range->start;

	return range->bytes && at >= range->bytes - sizeof(uint64_t) && at < STACK_BYTES_MAX &&
	       is_present(range, range->bytes - 1);
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *ret, void *arg)
{
	struct walker_space *space = arg;
	const struct unwind_copy *copy = space->copy;
	uint64_t word;

	if (!read_copy(copy, addr, &word)) {
		space->unread = true;
		space->beyond |= lies_beyond(&copy->stack, addr);
		return false;
	}
	if (word == copy->trampoline)
		word = return_address(copy, addr, word);
	*ret = word;
	return true;
}

/*
 * Pass pc - 1 to libdwfl: the first pc is a return address, but libdwfl takes it for the address of
 * an interrupted instruction. For all other frames, libdwfl subtracts 1 itself.
 */
static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct walker_space *space = arg;

	dwfl_thread_state_register_pc(thread, space->copy->pc - 1);
	return dwfl_thread_state_registers(thread, 0, space->copy->register_cnt,
					   (const Dwarf_Word *)space->copy->registers);
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	return 0;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	*thread_arg = arg;
	return true;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static int keep_frame(Dwfl_Frame *frame, void *arg)
{
	struct walker_space *space = arg;
	struct walker_stack *stack = space->stack;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	if (stack->cnt == WALKER_FRAMES_MAX) {
		space->limit = true;
		return DWARF_CB_ABORT;
	}
	/* Undo the subtraction in set_registers(). */
	stack->frames[stack->cnt] = stack->cnt ? pc : pc + 1;
	stack->cnt++;
	space->unread = space->beyond = false;
	return DWARF_CB_OK;
}

/*
 * Attaches libdwfl to a process that does not exist. The caller must have added all files, since
 * libdwfl determines the architecture from them.
 */
static bool attach(struct walker_space *space)
{
	if (!space->complete) {
		dwfl_report_end(space->dwfl, NULL, NULL);
		space->complete = true;
		space->attached =
			dwfl_attach_state(space->dwfl, NULL, SOME_PID, &thread_callbacks, space);
	}
	return space->attached;
}

void walker_space__walk(struct walker_space *space, const struct unwind_copy *copy,
			struct walker_stack *ret)
{
	int err;

	ret->cnt = 0;
	ret->end = WALKER_FAILED;
	space->copy = copy;
	space->stack = ret;
	space->unread = space->beyond = space->limit = false;
	if (!attach(space))
		return;
	err = dwfl_getthread_frames(space->dwfl, SOME_PID, keep_frame, space);
	if (space->limit)
		ret->end = WALKER_LIMIT;
	else if (space->beyond)
		ret->end = WALKER_BEYOND;
	/* Check `unread`: libdwfl takes an unreadable return address for the end of the stack. */
	else if (!err && !space->unread)
		ret->end = WALKER_FINISHED;
}
