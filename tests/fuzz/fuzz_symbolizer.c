// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes the parts of the symbolizer that read data controlled by a target; "make fuzz" builds and
 * runs it. The first byte of an input selects what the other bytes are, such as an ELF file. The
 * fuzzer also finds faults of elfutils; in real use, they can harm only a confined helper process.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/proc_maps.h"
#include "symbolizer/answer.h"
#include "symbolizer/kallsyms.h"
#include "symbolizer/kernel_files.h"
#include "symbolizer/perf_map.h"
#include "symbolizer/server/demangle.h"
#include "symbolizer/server/elf_object.h"
#include "symbolizer/server/name_writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_proc_maps(const char *text, size_t len)
{
	struct proc_maps maps;
	uint64_t end = 0;

	if (proc_maps_parse(text, len, &maps))
		return;
	for_each_mapping (m, &maps) {
		if (m->start < end || m->end <= m->start || proc_maps_find(&maps, m->start) != m)
			abort();
		end = m->end;
	}
	proc_maps_deinit(&maps);
}

static void fuzz_perf_map(const char *text, size_t len)
{
	struct perf_map map = {.text = NULL};
	struct perf_symbol symbol;

	if (!perf_map_parse(&map, text, len))
		for (size_t i = 0; i < map.code.cnt && i < 100; i++)
			if (perf_map_find(&map, map.code.ranges[i].start, &symbol) ||
			    symbol.name_len > len)
				abort();
	perf_map_deinit(&map);
}

static void fuzz_opened(const uint8_t *data, size_t size)
{
	struct message_cursor cursor = {data, data + size, false};
	struct opened_answer opened;

	if (answer_read_opened(&cursor, &opened))
		return;
	free(opened.build_id);
	file_need_deinit(&opened.need);
}

static void fuzz_name(const uint8_t *data, size_t size)
{
	struct message_cursor cursor = {data, data + size, false};
	struct name_answer name;

	if (answer_read_name(&cursor, 0, false, &name))
		return;
	for (size_t i = 0; i < name.frame_cnt; i++)
		if (name.frames[i].symbol && !*name.frames[i].symbol && name.frames[i].offset)
			abort();
	free(name.frames);
}

static void fuzz_elf(const uint8_t *data, size_t size)
{
	struct message msg = {.fd = -1};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct elf_object *obj;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (elf_object__new(fd, "fuzz", &obj))
		return;
	for (enum name_kind kind = 0; kind < NAME_KIND_CNT; kind++)
		elf_object__load(obj, kind, NAME_FULL);
	for (size_t i = 0; i < 64; i++) {
		name_write(obj, size * i / 64, NAME_FULL, &msg);
		message_reset(&msg);
		variable_write(obj, NAME_OF_DATA, size * i / 64, size / 2, NAME_FULL, &msg);
		message_reset(&msg);
		variable_write(obj, NAME_OF_TLS, i - 64, 0, NAME_FULL, &msg);
		message_reset(&msg);
	}
	message_deinit(&msg);
	elf_object__free(obj);
}

static void fuzz_demangle(const char *text, size_t len)
{
	char *name = strndup(text, len);

	free(demangle(name));
	free(name);
}

static int owner_of(void *arg, const char *name, size_t len)
{
	return 1 + len % 7;
}

static bool keep_all(void *arg, const struct kernel_symbol *symbol)
{
	return true;
}

static void check_symbols(const struct kallsyms *table)
{
	for (size_t i = 0; i < table->cnt; i++) {
		const struct kernel_symbol *symbol = &table->symbols[i];

		if (!symbol->bytes || !table->names[symbol->name] ||
		    kallsyms_find(table, symbol->start) != symbol ||
		    kallsyms_find(table, symbol->start + symbol->bytes - 1) != symbol)
			abort();
	}
}

/*
 * Parses each half of the text as a list of kernel symbols. Then adds the symbols of the second
 * list to the first list, except for those that overlap a symbol of the first list.
 */
static void fuzz_kallsyms(const char *text, size_t len)
{
	struct kallsyms tables[2];
	size_t first = len / 2;

	for (size_t i = 0; i < 2; i++) {
		size_t part = i ? len - first : first;
		char *copy = malloc(part + 1);

		memcpy(copy, text + i * first, part);
		if (kallsyms_init(&tables[i], copy, part, owner_of, NULL))
			abort();
		check_symbols(&tables[i]);
	}
	if (kallsyms_keep(&tables[0], &tables[1], keep_all, NULL))
		abort();
	kallsyms_deinit(&tables[0]);
	kallsyms_deinit(&tables[1]);
}

static void fuzz_modules(const char *text, size_t len)
{
	const char *end = text + len;
	struct loaded_module module;

	while ((text = loaded_module_next(text, end, &module)))
		if (!module.name_len || module.end < module.start)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	elf_version(EV_CURRENT);
	switch (data[0] % 8) {
	case 0:
		fuzz_proc_maps((const char *)data + 1, size - 1);
		break;
	case 1:
		fuzz_perf_map((const char *)data + 1, size - 1);
		break;
	case 2:
		fuzz_opened(data + 1, size - 1);
		break;
	case 3:
		fuzz_name(data + 1, size - 1);
		break;
	case 4:
		fuzz_elf(data + 1, size - 1);
		break;
	case 5:
		fuzz_kallsyms((const char *)data + 1, size - 1);
		break;
	case 6:
		fuzz_modules((const char *)data + 1, size - 1);
		break;
	default:
		fuzz_demangle((const char *)data + 1, size - 1);
		break;
	}
	return 0;
}
