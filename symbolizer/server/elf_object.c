// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens each module in a separate Dwfl, so that a malformed module cannot affect other modules.
 * Addresses are those in the module's file.
 */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "symbolizer/server/debug_facts.h"
#include "symbolizer/server/elf_object.h"
#include "symbolizer/server/unpack.h"

#define ANCHORED_BASE 0x100000

static int dup_file(int fd)
{
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* libdwfl callback for finding the ELF file, which was already passed to dwfl_report_elf(). */
static int find_no_elf(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
		       char **file_name, Elf **elf)
{
	return -1;
}

/*
 * libdwfl callback that finds the debug file and the alternate file. A file name without a CRC is a
 * request for the alternate file; every other request is for the debug file. Returns a duplicate of
 * alternate_fd or debug_fd, or -1 if the file is not open.
 */
static int find_debug(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
		      const char *file_name, const char *debuglink_file, GElf_Word debuglink_crc,
		      char **debuginfo_file_name)
{
	const struct elf_object *obj = *userdata;

	if (debuglink_file && !debuglink_crc)
		return dup_file(obj->alternate_fd);
	return obj->fd < 0 ? -1 : dup_file(obj->debug_fd);
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_no_elf,
	.find_debuginfo = find_debug,
	.section_address = dwfl_offline_section_address,
};

static void set_need(struct elf_object *obj, enum server_need kind, const char *build_id,
		     const char *file, uint32_t crc)
{
	free(obj->need.build_id);
	free(obj->need.file);
	obj->need = (struct file_need){
		.kind = kind,
		.build_id = build_id ? strdup(build_id) : NULL,
		.file = file ? strdup(file) : NULL,
		.crc = crc,
	};
	/* If both strings are NULL, perhaps for lack of memory, go on without the debug file. */
	if (!obj->need.build_id && !obj->need.file)
		obj->need.kind = NEED_NOTHING;
}

static void set_need_from(struct elf_object *obj, const struct debug_facts *facts)
{
	obj->has_dwarf |= facts->has_dwarf;
	if (!facts->has_dwarf && obj->debug_fd < 0)
		set_need(obj, NEED_DEBUG, facts->build_id, facts->link_name, facts->link_crc);
	else if (facts->alternate_id && obj->alternate_fd < 0)
		set_need(obj, NEED_ALTERNATE, facts->alternate_id, facts->alternate_name, 0);
	else
		set_need(obj, NEED_NOTHING, NULL, NULL, 0);
}

static int read_segments(struct elf_object *obj, Elf *elf)
{
	size_t cnt;

	if (elf_getphdrnum(elf, &cnt) || cnt > UINT16_MAX)
		cnt = 0;
	obj->segments = calloc(cnt + 1, sizeof(*obj->segments));
	if (!obj->segments)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(elf, i, &phdr))
			continue;
		if (phdr.p_type == PT_TLS)
			obj->thread_part =
				(struct thread_part){phdr.p_vaddr, phdr.p_memsz, phdr.p_align};
		if (phdr.p_type != PT_LOAD)
			continue;
		obj->segments[obj->segment_cnt++] = (struct segment){
			.offset = phdr.p_offset,
			.bytes = phdr.p_filesz,
			.vaddr = phdr.p_vaddr,
			.memory_bytes = phdr.p_memsz,
			.is_code = phdr.p_flags & PF_X,
		};
	}
	return 0;
}

static unsigned int machine_of(Elf *elf)
{
	GElf_Ehdr ehdr;

	return gelf_getehdr(elf, &ehdr) ? ehdr.e_machine : EM_NONE;
}

static int read_facts(struct elf_object *obj)
{
	struct debug_facts facts;
	Elf *elf = elf_begin(obj->fd, ELF_C_READ_MMAP, NULL);
	int err = -ENOEXEC;

	if (elf && elf_kind(elf) == ELF_K_ELF)
		err = read_segments(obj, elf);
	if (!err)
		err = debug_facts_init(elf, &facts);
	if (!err) {
		obj->machine = machine_of(elf);
		set_need_from(obj, &facts);
		obj->build_id = facts.build_id;
		facts.build_id = NULL;
		debug_facts_deinit(&facts);
	}
	elf_end(elf);
	return err;
}

int elf_object__new(int fd, const char *name, struct elf_object **ret)
{
	struct elf_object *obj = calloc(1, sizeof(*obj));
	int err = -ENOMEM;

	if (!obj) {
		close(fd);
		return -ENOMEM;
	}
	obj->fd = fd;
	obj->debug_fd = obj->alternate_fd = -1;
	obj->name = strdup(name);
	if (!obj->name)
		goto err;
	err = read_facts(obj);
	if (err)
		goto err;
	*ret = obj;
	return 0;
err:
	elf_object__free(obj);
	return err;
}

int elf_object__new_absent(const char *build_id, const char *name, struct elf_object **ret)
{
	struct elf_object *obj = calloc(1, sizeof(*obj));

	if (!obj)
		return -ENOMEM;
	obj->fd = obj->debug_fd = obj->alternate_fd = -1;
	obj->name = strdup(name);
	obj->build_id = strdup(build_id);
	set_need(obj, NEED_DEBUG, build_id, NULL, 0);
	if (!obj->name || !obj->build_id || !obj->need.build_id) {
		elf_object__free(obj);
		return -ENOMEM;
	}
	*ret = obj;
	return 0;
}

/* Frees libdwfl's data and all indexes, because the object's files are about to change. */
static void unload(struct elf_object *obj)
{
	dwarf_index__free(obj->dwarf);
	variable_index__free(obj->variables);
	for (size_t i = 0; i < NAME_KIND_CNT; i++) {
		symbol_table__free(obj->symbols[i]);
		obj->symbols[i] = NULL;
	}
	if (obj->dwfl)
		dwfl_end(obj->dwfl);
	obj->dwarf = NULL;
	obj->variables = NULL;
	obj->dwfl = NULL;
	obj->mod = NULL;
	obj->no_dwarf = false;
}

static void free_anchors(struct elf_object *obj)
{
	for (size_t i = 0; i < obj->anchor_cnt; i++)
		free(obj->anchors[i].name);
	free(obj->anchors);
}

void elf_object__free(struct elf_object *obj)
{
	if (!obj)
		return;
	unload(obj);
	if (obj->fd >= 0)
		close(obj->fd);
	if (obj->debug_fd >= 0)
		close(obj->debug_fd);
	if (obj->alternate_fd >= 0)
		close(obj->alternate_fd);
	free_anchors(obj);
	free(obj->need.build_id);
	free(obj->need.file);
	free(obj->segments);
	free(obj->build_id);
	free(obj->name);
	free(obj);
}

int elf_object__add_anchor(struct elf_object *obj, const char *name, uint64_t addr)
{
	struct anchor anchor = {.addr = addr};

	if (array_reserve(&obj->anchors, &obj->anchor_cap, obj->anchor_cnt + 1))
		return -ENOMEM;
	anchor.name = strdup(name);
	if (!anchor.name)
		return -ENOMEM;
	obj->anchors[obj->anchor_cnt++] = anchor;
	return 0;
}

/*
 * True if a file is the needed one: it has DWARF, and the needed build id or, if that is unknown,
 * the needed checksum.
 */
static bool is_needed(const struct file_need *need, int fd, const struct debug_facts *facts)
{
	uint32_t crc;

	if (!facts->has_dwarf)
		return false;
	if (need->build_id)
		return facts->build_id && !strcmp(need->build_id, facts->build_id);
	return !debug_facts_crc(fd, &crc) && crc == need->crc;
}

int elf_object__add_debug(struct elf_object *obj, int fd)
{
	struct debug_facts facts = {0};
	/*
	 * Use dwelf_elf_begin() if there is only a debug file: it also unpacks compressed kernel
	 * modules.
	 */
	Elf *elf = obj->fd < 0 ? dwelf_elf_begin(fd) : elf_begin(fd, ELF_C_READ_MMAP, NULL);
	int err = -ENOENT;

	if (elf && elf_kind(elf) == ELF_K_ELF && obj->need.kind != NEED_NOTHING)
		err = debug_facts_init(elf, &facts);
	if (!err && !is_needed(&obj->need, fd, &facts))
		err = -ENOENT;
	if (!err) {
		unload(obj);
		obj->unpacked = false;
		if (obj->need.kind == NEED_DEBUG)
			obj->debug_fd = fd;
		else
			obj->alternate_fd = fd;
		set_need_from(obj, &facts);
	} else {
		close(fd);
	}
	debug_facts_deinit(&facts);
	elf_end(elf);
	return err;
}

static struct anchor *find_anchor(struct elf_object *obj, const char *name)
{
	for (size_t i = 0; name && i < obj->anchor_cnt; i++)
		if (!strcmp(obj->anchors[i].name, name))
			return &obj->anchors[i];
	return NULL;
}

static void resolve_sections(struct elf_object *obj, Elf *elf, GElf_Addr bias)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		struct anchor *anchor;
		GElf_Shdr shdr;

		if (!gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_ALLOC))
			continue;
		anchor = find_anchor(obj, elf_strptr(elf, names, shdr.sh_name));
		if (!anchor || anchor->bytes)
			continue;
		anchor->vaddr = shdr.sh_addr + bias;
		anchor->bytes = shdr.sh_size;
	}
}

/*
 * Finds the address and size of each anchor that is a symbol. Such an anchor covers all addresses
 * from the symbol on.
 */
static void resolve_symbols(struct elf_object *obj)
{
	int cnt = dwfl_module_getsymtab(obj->mod);

	for (int i = 1; i < cnt; i++) {
		GElf_Addr addr;
		GElf_Sym sym;
		const char *name =
			dwfl_module_getsym_info(obj->mod, i, &sym, &addr, NULL, NULL, NULL);
		struct anchor *anchor = find_anchor(obj, name);

		if (!anchor || anchor->bytes || sym.st_shndx == SHN_UNDEF)
			continue;
		anchor->vaddr = addr;
		anchor->bytes = UINT64_MAX - addr;
	}
}

/* Finds the anchors (sections or symbols) in obj->mod, and sets their `vaddr` and `bytes`. */
static void resolve_anchors(struct elf_object *obj)
{
	GElf_Addr bias;
	Elf *elf = obj->anchor_cnt ? dwfl_module_getelf(obj->mod, &bias) : NULL;
	GElf_Ehdr ehdr;

	for (size_t i = 0; i < obj->anchor_cnt; i++)
		obj->anchors[i].bytes = 0;
	if (!elf || !gelf_getehdr(elf, &ehdr))
		return;
	if (ehdr.e_type == ET_REL)
		resolve_sections(obj, elf, bias);
	else
		resolve_symbols(obj);
}

/*
 * Opens the object's files in libdwfl at base 0, so that libdwfl's addresses are those in the file,
 * even for ET_DYN. Files with anchors get another base: in a relocatable file, libdwfl would take a
 * section at address 0 for one that is not loaded.
 */
static void open_dwfl(struct elf_object *obj)
{
	const GElf_Addr base = obj->anchor_cnt ? ANCHORED_BASE : 0;
	int fd = dup_file(obj->fd < 0 ? obj->debug_fd : obj->fd);
	void **userdata;

	obj->dwfl = dwfl_begin(&callbacks);
	if (!obj->dwfl || fd < 0)
		goto err;
	/* Rewind the file: libelf reads compressed files from the current position. */
	lseek(fd, 0, SEEK_SET);
	dwfl_report_begin(obj->dwfl);
	obj->mod = dwfl_report_elf(obj->dwfl, obj->name, obj->name, fd, base, true);
	if (obj->mod)
		fd = -1;
	if (dwfl_report_end(obj->dwfl, NULL, NULL))
		obj->mod = NULL;
	if (!obj->mod)
		goto err;
	dwfl_module_info(obj->mod, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = obj;
	resolve_anchors(obj);
	return;
err:
	if (fd >= 0)
		close(fd);
}

static enum server_unreadable unreadable_by(int err)
{
	switch (err) {
	case -EOPNOTSUPP:
		return UNREADABLE_COMPRESSION;
	case -EFBIG:
		return UNREADABLE_LARGE;
	case -EBADMSG:
		return UNREADABLE_DAMAGED;
	default:
		return UNREADABLE;
	}
}

/*
 * If elfutils cannot unpack the debug sections of the file *fd, replaces *fd by an unpacked copy of
 * the file. Sets obj->unreadable if that fails.
 */
static void unpack(struct elf_object *obj, int *fd)
{
	int copy, err = *fd < 0 ? -ENOENT : unpack_file(*fd, &copy);

	if (!err) {
		unload(obj);
		close(*fd);
		*fd = copy;
	} else if (err != -ENOENT) {
		obj->unreadable = unreadable_by(err);
	}
}

static void unpack_files(struct elf_object *obj)
{
	if (obj->unpacked)
		return;
	obj->unpacked = true;
	unpack(obj, &obj->fd);
	unpack(obj, &obj->debug_fd);
	unpack(obj, &obj->alternate_fd);
}

/* Loads the file's DWARF and indexes it for names of this kind. This may take seconds. */
static void load_dwarf(struct elf_object *obj, enum name_kind kind)
{
	Dwarf_Addr bias;
	Dwarf *dwarf = dwfl_module_getdwarf(obj->mod, &bias);
	int err = dwarf ? 0 : -ENOENT;

	if (!dwarf && obj->has_dwarf && !obj->unreadable)
		obj->unreadable = UNREADABLE;
	if (!err && kind == NAME_OF_CODE && !obj->dwarf)
		err = dwarf_index__new(dwarf, &obj->dwarf);
	if (!err && kind != NAME_OF_CODE && !obj->variables)
		err = variable_index__new(dwarf, &obj->variables);
	obj->no_dwarf = err;
}

void elf_object__load(struct elf_object *obj, enum name_kind kind, enum name_level level)
{
	if (level >= NAME_FULL)
		unpack_files(obj);
	if (!obj->dwfl)
		open_dwfl(obj);
	if (!obj->mod)
		return;
	if (!obj->symbols[kind] && symbol_table__new(obj->mod, kind, &obj->symbols[kind]))
		obj->symbols[kind] = NULL;
	if (level >= NAME_FULL && !obj->no_dwarf)
		load_dwarf(obj, kind);
}

/*
 * Converts an address in the running kernel to libdwfl's address. Returns 0 if no anchor covers the
 * address.
 */
static uint64_t translate(const struct elf_object *obj, uint64_t addr)
{
	for (size_t i = 0; i < obj->anchor_cnt; i++) {
		const struct anchor *anchor = &obj->anchors[i];

		if (addr >= anchor->addr && addr - anchor->addr < anchor->bytes)
			return addr - anchor->addr + anchor->vaddr;
	}
	return 0;
}

uint64_t elf_object__vaddr(const struct elf_object *obj, uint64_t offset)
{
	const uint64_t page_mask = sysconf(_SC_PAGESIZE) - 1;

	if (obj->anchor_cnt)
		return translate(obj, offset);
	/*
	 * Extend each segment to whole pages: its mapping also contains the bytes of the file just
	 * before and after it.
	 */
	for (size_t i = 0; i < obj->segment_cnt; i++) {
		const struct segment *seg = &obj->segments[i];

		if (seg->is_code && offset >= (seg->offset & ~page_mask) &&
		    offset - (seg->offset & ~page_mask) <
			    ((seg->offset & page_mask) + seg->bytes + page_mask) / (page_mask + 1) *
				    (page_mask + 1))
			return offset - seg->offset + seg->vaddr;
	}
	return offset;
}

bool elf_object__has(const struct elf_object *obj, uint64_t vaddr)
{
	for (size_t i = 0; i < obj->segment_cnt; i++) {
		const struct segment *seg = &obj->segments[i];

		if (vaddr >= seg->vaddr && vaddr - seg->vaddr < seg->memory_bytes)
			return true;
	}
	return false;
}
