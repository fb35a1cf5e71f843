// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads /proc/self/maps when unknown code is found, and .eh_frame of that code. Does not use the
 * dynamic loader's list of files, which must not be read without the loader's lock.
 */
#include "agent/modules.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>

#include "agent/frame_info.h"
#include "agent/system.h"
#include "bpf/memleak.h"

/* Maximum number of bytes to read from /proc/self/maps. */
#define MAPS_BYTES (8U << 20)

/*
 * Budget for reading /proc/self/maps: 1/READ_SHARE of the elapsed time. At most READ_MOST_NS of
 * unused budget is saved up.
 */
#define READ_SHARE 50
#define READ_MOST_NS 100000000ULL

/* Executable mappings, sorted by address. A list is never modified, only replaced by a new one. */
struct code_list {
	uint64_t bytes;         /* size of this list in memory, in bytes */
	struct code_list *next; /* next list in `replaced` */
	uint32_t cnt;
	struct code items[];
};

static struct code_list *list;
/* lists that were replaced, but that threads may still be reading */
static struct code_list *replaced;
/* number of threads and signal handlers that may be reading a list */
static uint32_t readers;
/* reading time that the budget does not cover yet */
static uint64_t read_ns;
static uint64_t read_at_ns;

static const struct code *find_in(const struct code_list *codes, uint64_t pc)
{
	uint32_t low = 0, high = codes ? codes->cnt : 0;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (codes->items[middle].end <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return codes && low < codes->cnt && codes->items[low].start <= pc ? &codes->items[low]
									  : NULL;
}

/* A line of /proc/self/maps. */
struct line {
	uint64_t start;
	uint64_t end;
	bool readable;
	bool executable;
	uint64_t offset;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint64_t ino;
	const char *path;
	uint32_t path_len;
};

static uint64_t read_hex(const char **at)
{
	uint64_t value = 0;

	for (;; (*at)++) {
		char c = **at;

		if (c >= '0' && c <= '9')
			value = value << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uint64_t)(c - 'a' + 10);
		else
			return value;
	}
}

static uint64_t read_decimal(const char **at)
{
	uint64_t value = 0;

	for (; **at >= '0' && **at <= '9'; (*at)++)
		value = value * 10 + (uint64_t)(**at - '0');
	return value;
}

/* Parses the line at `at`, which ends with a newline. Returns the start of the next line. */
static const char *read_line(const char *at, struct line *ret)
{
	ret->start = read_hex(&at);
	at++;
	ret->end = read_hex(&at);
	at++;
	ret->readable = at[0] == 'r';
	ret->executable = at[2] == 'x';
	at += 5;
	ret->offset = read_hex(&at);
	at++;
	ret->dev_major = (uint32_t)read_hex(&at);
	at++;
	ret->dev_minor = (uint32_t)read_hex(&at);
	at++;
	ret->ino = read_decimal(&at);
	while (*at == ' ')
		at++;
	ret->path = at;
	while (*at != '\n')
		at++;
	ret->path_len = (uint32_t)(at - ret->path);
	return at + 1;
}

/* Returns the text of /proc/self/maps, up to the last newline; NULL on failure. */
static char *read_maps(uint64_t *ret_len)
{
	long fd = system_call(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC,
			      0, 0, 0);
	char *text = system_error(fd) ? NULL : system_map(MAPS_BYTES);
	uint64_t len = 0;
	long got;

	if (system_error(fd))
		return NULL;
	while (text && len < MAPS_BYTES &&
	       !system_error(got = system_call(SYS_read, fd, (long)(text + len),
					       (long)(MAPS_BYTES - len), 0, 0, 0)) &&
	       got)
		len += (uint64_t)got;
	system_call(SYS_close, fd, 0, 0, 0, 0, 0);
	while (len && text[len - 1] != '\n')
		len--;
	*ret_len = len;
	return text;
}

/*
 * Returns the module number of an executable mapping. Adds the module to the account if needed.
 * Returns UINT32_MAX if there is no room.
 */
static uint32_t module_number(struct account *account, const struct line *line)
{
	struct account_module *modules = region(account, ACCOUNT_MODULES);
	uint64_t most = region_bytes(account, ACCOUNT_MODULES) / sizeof(*modules);
	uint32_t cnt = __atomic_load_n(&account->module_cnt, __ATOMIC_ACQUIRE);
	struct account_module *module;
	uint64_t text;

	if (cnt > most)
		cnt = (uint32_t)most;
	for (uint32_t i = cnt; i-- > 0;)
		if (modules[i].start == line->start && modules[i].end == line->end &&
		    modules[i].offset == line->offset && modules[i].ino == line->ino &&
		    modules[i].dev_major == line->dev_major &&
		    modules[i].dev_minor == line->dev_minor)
			return i;
	/*
	 * Two threads may add a module twice; that is harmless, as both entries have the same path.
	 */
	cnt = __atomic_fetch_add(&account->module_cnt, 1, __ATOMIC_ACQ_REL);
	text = __atomic_fetch_add(&account->text_bytes, line->path_len + 1, __ATOMIC_RELAXED);
	if (cnt >= most || text + line->path_len >= region_bytes(account, ACCOUNT_TEXT))
		return UINT32_MAX;
	module = &modules[cnt];
	module->start = line->start;
	module->offset = line->offset;
	module->ino = line->ino;
	module->dev_major = line->dev_major;
	module->dev_minor = line->dev_minor;
	module->since_ns = system_coarse_ns();
	module->path = text;
	for (uint32_t i = 0; i < line->path_len; i++)
		((char *)region(account, ACCOUNT_TEXT))[text + i] = line->path[i];
	__atomic_store_n(&module->end, line->end, __ATOMIC_RELEASE);
	return cnt;
}

static bool same_file(const struct line *a, const struct line *b)
{
	return a->ino && a->ino == b->ino && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor;
}

/*
 * Fills in the address range of a file. file: the file's first mapping, which has the ELF header;
 * end: end of its last mapping. Does not read the file: another thread may unload it now.
 */
static void set_loaded(const struct line *file, uint64_t end, struct code *code)
{
	code->loaded_start = file->start;
	code->loaded_end = end;
	code->has_header = file->readable && !file->offset;
}

static bool is_called(const struct line *line, const char *path)
{
	return line->path_len == strlen(path) && !memcmp(line->path, path, line->path_len);
}

static void add_code(struct account *account, const struct line *line, const struct line *file,
		     uint64_t end, struct code *code)
{
	uint32_t number = line->ino ? module_number(account, line) : UINT32_MAX;

	*code = (struct code){
		.start = line->start,
		.end = line->end,
		.readable_to = line->readable ? line->end - sizeof(uint64_t) : 0,
		.is_own =
			(uint64_t)modules_find >= line->start && (uint64_t)modules_find < line->end,
		.is_trampoline = is_called(line, "[uprobes]"),
	};
	/* The vDSO has an ELF header, but no file. */
	if (is_called(line, "[vdso]"))
		set_loaded(line, line->end, code);
	else if (line->ino && file)
		set_loaded(file, end, code);
	if (number < MEMLEAK_FRAME_FILES)
		code->to_frame =
			(MEMLEAK_FRAME_FILE | (uint64_t)number << MEMLEAK_FRAME_OFFSET_BITS) +
			line->offset - line->start;
}

/*
 * Returns the end of the file's last mapping. `at`: text after the line of the file's first
 * mapping.
 */
static uint64_t end_of_file(const char *at, const char *end, const struct line *file)
{
	uint64_t last = file->end;
	struct line line;

	while (at < end) {
		at = read_line(at, &line);
		if (same_file(&line, file))
			last = line.end;
		else if (line.ino || line.path_len)
			break;
	}
	return last;
}

static struct code_list *make_list(struct account *account, const char *text, uint64_t len)
{
	const char *at = text, *end = text + len;
	struct line line, file = {0};
	struct code_list *made;
	uint64_t cnt = 0, bytes, file_end = 0;

	while (at < end) {
		at = read_line(at, &line);
		cnt += line.executable;
	}
	bytes = (sizeof(*made) + cnt * sizeof(made->items[0]) + 4095) & ~4095ULL;
	made = system_map(bytes);
	if (!made)
		return NULL;
	made->bytes = bytes;
	for (at = text; at < end;) {
		at = read_line(at, &line);
		if (line.ino && (!same_file(&line, &file) || !line.offset)) {
			file = line;
			file_end = end_of_file(at, end, &file);
		}
		if (line.executable)
			add_code(account, &line, same_file(&line, &file) ? &file : NULL, file_end,
				 &made->items[made->cnt++]);
	}
	return made;
}

/* Adds a list, or several lists that are linked, to `replaced`. */
static void set_aside(struct code_list *first)
{
	struct code_list *last = first, *head;

	while (last && last->next)
		last = last->next;
	head = __atomic_load_n(&replaced, __ATOMIC_RELAXED);
	while (last) {
		last->next = head;
		if (__atomic_compare_exchange_n(&replaced, &head, first, true, __ATOMIC_SEQ_CST,
						__ATOMIC_RELAXED))
			return;
	}
}

/*
 * Frees the lists that were replaced, unless something else is reading. Later readers cannot find
 * these lists. Called by a reader.
 */
static void free_replaced(void)
{
	struct code_list *lists = __atomic_exchange_n(&replaced, NULL, __ATOMIC_SEQ_CST), *next;

	if (__atomic_load_n(&readers, __ATOMIC_SEQ_CST) != 1) {
		set_aside(lists);
		return;
	}
	for (; lists; lists = next) {
		next = lists->next;
		system_unmap(lists, lists->bytes);
	}
}

static bool is_same_list(const struct code_list *a, const struct code_list *b)
{
	bool same = a && a->cnt == b->cnt;

	for (uint32_t i = 0; same && i < a->cnt; i++)
		same = a->items[i].start == b->items[i].start &&
		       a->items[i].end == b->items[i].end &&
		       a->items[i].to_frame == b->items[i].to_frame &&
		       a->items[i].has_header == b->items[i].has_header &&
		       a->items[i].loaded_start == b->items[i].loaded_start &&
		       a->items[i].loaded_end == b->items[i].loaded_end &&
		       a->items[i].is_trampoline == b->items[i].is_trampoline;
	return same;
}

/* Reads the executable mappings, and replaces `list` if they have changed. False if unreadable. */
static bool read_list(struct account *account)
{
	struct code_list *before = __atomic_load_n(&list, __ATOMIC_SEQ_CST), *made = NULL;
	uint64_t len = 0;
	char *text = read_maps(&len);

	if (text) {
		made = make_list(account, text, len);
		system_unmap(text, MAPS_BYTES);
	}
	if (!made)
		return false;
	/*
	 * The new list is freed if it is equal to the old one, or if another thread has replaced
	 * the old one first.
	 */
	if (is_same_list(before, made) ||
	    !__atomic_compare_exchange_n(&list, &before, made, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_RELAXED))
		system_unmap(made, made->bytes);
	else
		set_aside(before);
	return true;
}

/*
 * True if the time budget allows another read. A race between threads can make the budget wrong by
 * one read.
 */
static bool may_read(uint64_t now_ns)
{
	uint64_t taken_ns = __atomic_load_n(&read_ns, __ATOMIC_RELAXED);
	uint64_t rested_ns = now_ns - __atomic_exchange_n(&read_at_ns, now_ns, __ATOMIC_RELAXED);

	taken_ns -= rested_ns / READ_SHARE < taken_ns ? rested_ns / READ_SHARE : taken_ns;
	__atomic_store_n(&read_ns, taken_ns, __ATOMIC_RELAXED);
	return taken_ns < READ_MOST_NS;
}

/*
 * Copies the code at an address from the list. *ret_unsure: true if there is no list, which another
 * thread may have discarded just now.
 */
static bool copy_code(uint64_t pc, struct code *ret, bool *ret_unsure)
{
	const struct code_list *codes = __atomic_load_n(&list, __ATOMIC_SEQ_CST);
	const struct code *found = find_in(codes, pc);

	*ret_unsure = !codes;
	if (found)
		*ret = *found;
	return found;
}

static bool find_or_read(struct account *account, uint64_t pc, struct code *ret, bool *ret_unsure)
{
	bool found, is_read;
	uint64_t begin_ns;

	if (copy_code(pc, ret, ret_unsure))
		return true;
	begin_ns = system_ns();
	if (!may_read(begin_ns)) {
		*ret_unsure = true;
		return false;
	}
	is_read = read_list(account);
	__atomic_fetch_add(&read_ns, system_ns() - begin_ns, __ATOMIC_RELAXED);
	found = copy_code(pc, ret, ret_unsure);
	*ret_unsure |= !is_read;
	return found;
}

bool modules_find(struct account *account, uint64_t pc, struct code *ret, bool *ret_unsure)
{
	bool found;

	__atomic_fetch_add(&readers, 1, __ATOMIC_SEQ_CST);
	found = find_or_read(account, pc, ret, ret_unsure);
	if (__atomic_load_n(&replaced, __ATOMIC_RELAXED))
		free_replaced();
	__atomic_fetch_sub(&readers, 1, __ATOMIC_SEQ_CST);
	return found;
}

void modules_forget(void)
{
	frame_info_forget();
	set_aside(__atomic_exchange_n(&list, NULL, __ATOMIC_SEQ_CST));
}

struct unwind_rule modules_rule(const struct code *code, uint64_t pc)
{
	struct unwind_rule rule = {.cfa = UNWIND_CFA_NO_ROW};
	uint64_t header = 0;

	if (code->has_header)
		header = frame_info_header(code->loaded_start, code->loaded_end);
	if (header)
		rule = frame_info_rule(header, code->loaded_start, code->loaded_end, pc);
	if (rule.cfa == UNWIND_CFA_NO_ROW)
		rule.saved_off = pc < code->readable_to;
	return rule;
}
