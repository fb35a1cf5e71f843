// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the notes of a core file. */
#include "proof/core_notes.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/order.h"
#include "base/read_at.h"

/*
 * Maximum total size of notes in bytes, enough for 100,000 threads with the widest registers.
 * Without a limit, a forged sparse file could have notes of any size.
 */
#define NOTES_BYTES_MAX (1ULL << 30)
/* Maximum size of one note. The kernel's default limit for NT_FILE is 4 MB. */
#define NOTE_BYTES_MAX (64 << 20)
#define NOTE_NAME_MAX 16

/* Offsets and sizes in elf_prstatus and elf_prpsinfo, which are equal on all 64-bit machines. */
#define STATUS_SIGNAL 12
#define STATUS_PID 32
#define STATUS_REGISTERS 112
#define INFO_PID 24
#define INFO_NAME 40
#define INFO_NAME_BYTES 16
#define INFO_ARGUMENTS 56
#define INFO_ARGUMENTS_BYTES 80

/* Header of NT_FILE: number of entries, and the unit of the file offsets in the entries. */
struct file_head {
	uint64_t cnt;
	uint64_t unit;
};

struct file_entry {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
};

struct machine {
	unsigned int id;
	size_t register_cnt;
	size_t sp;
	size_t pc;
	uint64_t ignored_bits; /* pointer bits that the machine ignores */
};

/*
 * Number of registers, and indexes of sp and pc: for x86-64 in user_regs_struct, which includes
 * fs_base; for aarch64 in user_pt_regs.
 */
static const struct machine machines[] = {
	{EM_X86_64, 27, 19, 16, 0},
	{EM_AARCH64, 34, 31, 32, 0xffULL << 56},
};

struct note {
	const char *name;
	uint32_t type;
	const unsigned char *bytes;
	size_t len;
};

static const struct machine *find_machine(unsigned int id)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].id == id)
			return &machines[i];
	return NULL;
}

bool core_notes_know(unsigned int machine)
{
	return find_machine(machine);
}

uint64_t core_notes_ignored_bits(unsigned int machine)
{
	return find_machine(machine)->ignored_bits;
}

static uint64_t word_at(const unsigned char *bytes, size_t at)
{
	uint64_t word;

	memcpy(&word, bytes + at, sizeof(word));
	return word;
}

static uint32_t half_at(const unsigned char *bytes, size_t at)
{
	uint32_t half;

	memcpy(&half, bytes + at, sizeof(half));
	return half;
}

/*
 * Adds the nonzero words of a register set: zeros are not pointers, and most vector registers are
 * zero.
 */
static int add_words(struct thread_state *thread, const unsigned char *bytes, size_t len)
{
	size_t cnt = 0, all = len / sizeof(uint64_t);
	uint64_t *words;

	for (size_t i = 0; i < all; i++)
		cnt += word_at(bytes, i * sizeof(uint64_t)) != 0;
	if (!cnt)
		return 0;
	words = realloc(thread->words, (thread->word_cnt + cnt) * sizeof(*words));
	if (!words)
		return -ENOMEM;
	thread->words = words;
	for (size_t i = 0; i < all; i++)
		if (word_at(bytes, i * sizeof(uint64_t)))
			words[thread->word_cnt++] = word_at(bytes, i * sizeof(uint64_t));
	return 0;
}

/* Adds a thread. Called for NT_PRSTATUS, which is the first note of each thread. */
static int add_thread(struct core_notes *notes, const struct machine *machine,
		      const struct note *note)
{
	const size_t bytes = machine->register_cnt * sizeof(uint64_t);
	struct thread_states *threads = &notes->threads;
	const unsigned char *registers;

	if (note->len < STATUS_REGISTERS + bytes) {
		notes->odd = true;
		return 0;
	}
	registers = note->bytes + STATUS_REGISTERS;
	if (array_reserve(&threads->items, &threads->cap, threads->cnt + 1) ||
	    array_reserve(&notes->pcs, &notes->pc_cap, threads->cnt + 1))
		return -ENOMEM;
	if (!threads->cnt)
		notes->signal = (int16_t)half_at(note->bytes, STATUS_SIGNAL);
	notes->pcs[threads->cnt] = word_at(registers, machine->pc * sizeof(uint64_t));
	threads->items[threads->cnt] = (struct thread_state){
		.tid = (pid_t)half_at(note->bytes, STATUS_PID),
		.sp = word_at(registers, machine->sp * sizeof(uint64_t)),
		.known = true,
	};
	return add_words(&threads->items[threads->cnt++], registers, bytes);
}

static int add_registers(struct core_notes *notes, const struct note *note)
{
	if (!notes->threads.cnt) {
		notes->odd = true;
		return 0;
	}
	return add_words(&notes->threads.items[notes->threads.cnt - 1], note->bytes, note->len);
}

static int add_info(struct core_notes *notes, const struct note *note)
{
	if (notes->has_info || note->len < INFO_ARGUMENTS + INFO_ARGUMENTS_BYTES) {
		notes->odd = true;
		return 0;
	}
	notes->has_info = true;
	notes->pid = (pid_t)half_at(note->bytes, INFO_PID);
	memcpy(notes->name, note->bytes + INFO_NAME, INFO_NAME_BYTES);
	memcpy(notes->arguments, note->bytes + INFO_ARGUMENTS, INFO_ARGUMENTS_BYTES);
	/* The kernel appends a blank to each argument. */
	for (size_t len = strlen(notes->arguments); len && notes->arguments[len - 1] == ' '; len--)
		notes->arguments[len - 1] = '\0';
	return 0;
}

static void add_auxv(struct core_notes *notes, const struct note *note)
{
	for (size_t at = 0; at + 2 * sizeof(uint64_t) <= note->len; at += 2 * sizeof(uint64_t)) {
		uint64_t value = word_at(note->bytes, at + sizeof(uint64_t));

		switch (word_at(note->bytes, at)) {
		case AT_NULL:
			return;
		case AT_PAGESZ:
			notes->page_size = value;
			break;
		case AT_ENTRY:
			notes->entry = value;
			break;
		case AT_RANDOM:
			notes->random_bytes = value;
			break;
		case AT_SYSINFO_EHDR:
			notes->vdso = value;
			break;
		default:
			break;
		}
	}
}

static int compare_files(const void *left, const void *right)
{
	const struct core_mapped *a = left, *b = right;

	return ORDER(a->start, b->start) ?: ORDER(a->path, b->path);
}

/*
 * Sorts mapped ranges, and drops each range that overlaps an earlier one. The kernel itself writes
 * sorted ranges without overlaps.
 */
static void sort_files(struct core_notes *notes)
{
	size_t cnt = 0;

	qsort(notes->files, notes->file_cnt, sizeof(*notes->files), compare_files);
	for (size_t i = 0; i < notes->file_cnt; i++) {
		if (cnt && notes->files[i].start < notes->files[cnt - 1].end)
			notes->odd = true;
		else
			notes->files[cnt++] = notes->files[i];
	}
	notes->file_cnt = cnt;
}

static bool take_entry(const struct file_entry *entry, uint64_t unit, struct core_mapped *ret)
{
	return entry->start < entry->end &&
	       !__builtin_mul_overflow(entry->offset, unit, &ret->offset) &&
	       !__builtin_add_overflow(ret->offset, entry->end - entry->start, &(uint64_t){0});
}

/*
 * Cuts off the suffix that the kernel appends to the path of a deleted file. False if there is
 * none.
 */
static bool cut_mark(char *path)
{
	static const char mark[] = " (deleted)";
	const size_t len = strlen(path), mark_len = sizeof(mark) - 1;

	if (len <= mark_len || strcmp(path + len - mark_len, mark))
		return false;
	path[len - mark_len] = '\0';
	return true;
}

/* Parses NT_FILE: an array of ranges, then their paths in the same order. */
static int add_files(struct core_notes *notes, const struct note *note)
{
	const unsigned char *entries = note->bytes + sizeof(struct file_head);
	struct file_head head = {0};
	size_t path = 0;

	if (note->len >= sizeof(head))
		memcpy(&head, note->bytes, sizeof(head));
	if (notes->files || !head.cnt ||
	    head.cnt > (note->len - sizeof(head)) / sizeof(struct file_entry)) {
		notes->odd = true;
		return 0;
	}
	notes->path_bytes = note->len - sizeof(head) - head.cnt * sizeof(struct file_entry);
	notes->files = calloc(head.cnt + 1, sizeof(*notes->files));
	notes->paths = calloc(1, notes->path_bytes + 1);
	if (!notes->files || !notes->paths)
		return -ENOMEM;
	memcpy(notes->paths, entries + head.cnt * sizeof(struct file_entry), notes->path_bytes);
	for (uint64_t i = 0; i < head.cnt && path < notes->path_bytes; i++) {
		struct file_entry entry;
		struct core_mapped *file = &notes->files[notes->file_cnt];
		const size_t path_len = strlen(notes->paths + path);

		memcpy(&entry, entries + i * sizeof(entry), sizeof(entry));
		*file = (struct core_mapped){.start = entry.start, .end = entry.end, .path = path};
		file->deleted = cut_mark(notes->paths + path);
		notes->file_cnt += take_entry(&entry, head.unit, file);
		path += path_len + 1;
	}
	notes->odd |= notes->file_cnt < head.cnt;
	sort_files(notes);
	return 0;
}

static int take_core(struct core_notes *notes, const struct machine *machine,
		     const struct note *note)
{
	switch (note->type) {
	case NT_PRSTATUS:
		return add_thread(notes, machine, note);
	case NT_FPREGSET:
		return add_registers(notes, note);
	case NT_PRPSINFO:
		return add_info(notes, note);
	case NT_AUXV:
		add_auxv(notes, note);
		return 0;
	case NT_FILE:
		return add_files(notes, note);
	default:
		return 0;
	}
}

static int take_linux(struct core_notes *notes, const struct machine *machine,
		      const struct note *note)
{
	bool holds_words = machine->id == EM_X86_64
				   ? note->type == NT_X86_XSTATE
				   : note->type == NT_ARM_TLS || note->type == NT_ARM_SVE;

	return holds_words ? add_registers(notes, note) : 0;
}

static uint64_t padded(uint64_t len)
{
	return (len + 3) & ~3ULL;
}

static int take(struct core_notes *notes, const struct machine *machine, const struct note *note)
{
	if (!strcmp(note->name, "CORE"))
		return take_core(notes, machine, note);
	return strcmp(note->name, "LINUX") ? 0 : take_linux(notes, machine, note);
}

/* Reads the name and content of a note, which follow its header. */
static int read_note(struct core_notes *notes, const struct machine *machine, int fd, uint64_t at,
		     const Elf64_Nhdr *header)
{
	const size_t name_bytes = padded(header->n_namesz), bytes = name_bytes + header->n_descsz;
	cleanup_free unsigned char *buf = malloc(bytes + 1);
	char name[NOTE_NAME_MAX + 1] = "";
	ssize_t got;

	if (!buf)
		return -ENOMEM;
	got = read_at(fd, buf, bytes, at);
	if (got < (ssize_t)bytes)
		return got < 0 ? (int)got : 0;
	memcpy(name, buf, header->n_namesz);
	return take(notes, machine,
		    &(struct note){name, header->n_type, buf + name_bytes, header->n_descsz});
}

/*
 * Reads the note at file offset `at`. left: bytes from there to the end of the notes. *len: size of
 * this note, 0 if there is no further note.
 */
static int next_note(struct core_notes *notes, const struct machine *machine, int fd, uint64_t at,
		     uint64_t left, uint64_t *len)
{
	Elf64_Nhdr header;
	uint64_t name_bytes;
	ssize_t got;

	*len = 0;
	if (left < sizeof(header))
		return 0;
	got = read_at(fd, &header, sizeof(header), at);
	if (got < (ssize_t)sizeof(header))
		return got < 0 ? (int)got : 0;
	name_bytes = padded(header.n_namesz);
	/*
	 * Stop at zeros, which look like a note without a name, and at a note that extends beyond
	 * the end of the notes.
	 */
	if (!name_bytes || sizeof(header) + name_bytes + header.n_descsz > left) {
		notes->odd = true;
		return 0;
	}
	*len = sizeof(header) + name_bytes + padded(header.n_descsz);
	/* Skip a note that is too large to be of a kind that is used here. */
	if (name_bytes > NOTE_NAME_MAX || header.n_descsz > NOTE_BYTES_MAX)
		return 0;
	return read_note(notes, machine, fd, at + sizeof(header), &header);
}

int core_notes_add(struct core_notes *notes, unsigned int machine, int fd, uint64_t offset,
		   uint64_t bytes)
{
	const struct machine *known = find_machine(machine);
	uint64_t len = 1, at = 0;
	int err = known ? 0 : -ENOTSUP;

	if (bytes > INT64_MAX || offset > INT64_MAX - bytes) {
		notes->odd = true;
		return err;
	}
	while (!err && len && at < bytes) {
		err = next_note(notes, known, fd, offset + at, bytes - at, &len);
		at += len;
		notes->read_bytes += len;
		if (notes->read_bytes > NOTES_BYTES_MAX) {
			notes->odd = true;
			break;
		}
	}
	return err;
}

const struct core_mapped *core_notes_file(const struct core_notes *notes, uint64_t addr)
{
	size_t at = bisect_upto(notes->files, notes->file_cnt, end, addr);

	return at < notes->file_cnt ? &notes->files[at] : NULL;
}

void core_notes_deinit(struct core_notes *notes)
{
	thread_states_deinit(&notes->threads);
	free(notes->pcs);
	free(notes->files);
	free(notes->paths);
	*notes = (struct core_notes){0};
}
