// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes the builder of unwind tables; "make fuzz" builds and runs it. An input that begins like an
 * ELF file is read as an ELF file. Any other input is call frame information, from which an ELF
 * file is made: bit 0 of the input's first byte selects the section .debug_frame instead of
 * .eh_frame, bit 1 a file without section headers. The fuzzer also finds faults of elfutils; in
 * real use, they can crash only the helper process.
 */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/unwinder/cfi_file.h"
#include "tests/unit/unwinder/table_find.h"
#include "unwinder/server/builder.h"

#define TEXT_BYTES 0x4000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file can request any amount of memory, so memory is limited, as in the real helper process. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1:max_allocation_size_mb=512";
}

/* Looks up about 4096 addresses: within the table, and some beyond its end. */
static void find_all(const struct unwind_table *table)
{
	uint64_t bytes = (uint64_t)table->granule_cnt * UNWIND_GRANULE_BYTES;
	uint64_t step = bytes / 4096 + 1;

	for (uint64_t at = 0; at < bytes + UNWIND_GRANULE_BYTES; at += step)
		if (unwind_table_find(table, table->first + at).cfa >= UNWIND_CFA_CNT)
			abort();
}

static int make_file(const uint8_t *data, size_t size)
{
	struct cfi_file file = {
		.text_bytes = TEXT_BYTES,
		.section = data[0] & 1 ? ".debug_frame" : ".eh_frame",
		.by_header = data[0] & 2,
	};

	cfi_put(&file, data + 1, size - 1);
	return cfi_file_finish(&file);
}

static int open_input(const uint8_t *data, size_t size)
{
	int fd;

	if (size < SELFMAG || memcmp(data, ELFMAG, SELFMAG) != 0)
		return make_file(data, size);
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwind_table table;
	int err, fd;

	if (!size)
		return 0;
	fd = open_input(data, size);
	err = unwind_table_build(fd, &table);
	if (err > 0 || err < -4095)
		abort();
	if (!err) {
		if (!unwind_table_valid(&table))
			abort();
		find_all(&table);
		unwind_table_deinit(&table);
	}
	close(fd);
	return 0;
}
