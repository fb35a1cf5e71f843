// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes parsers that run in memleak's own process instead of in a helper, although a target or a
 * client controls their input. They parse mapping records, the dynamic linker's list of modules in
 * a target's memory, /proc/PID/status, and the Host of a request. "make fuzz" builds and runs this
 * program. The first byte of an input selects one of these parsers. modules.c is included as
 * source, because its functions are private.
 */
#include "prober/prober.h"

#include <sys/mman.h>
#include <unistd.h>

/* Replaces prober_memory(): reads the input instead of a target's memory. */
static int read_memory(int mem_fd, uint64_t addr, void *buf, size_t len, uint64_t deadline_ns)
{
	return pread(mem_fd, buf, len, (off_t)addr) == (ssize_t)len ? 0 : -14;
}

#define prober_memory read_memory
#include "loader/target/modules.c"
#undef prober_memory

#include "loader/target/map_record.h"
#include "metrics/host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Parses the input as one mapping record. The length that the kernel's ring stores with each record
 * is not fuzzed, because only the kernel writes it.
 */
static void fuzz_records(const uint8_t *data, size_t size)
{
	struct map_record record;

	if (!map_record_parse(data, size, &record))
		return;
	if (record.kind == MAP_RECORD_MAPPING &&
	    (record.mapping.end <= record.mapping.start || record.path_len > size ||
	     (const uint8_t *)record.path < data))
		abort();
	if (strnlen(record.comm, sizeof(record.comm)) == sizeof(record.comm))
		abort();
}

/* Reads the dynamic linker's list of modules. The input is the target's memory. */
static void fuzz_list(const uint8_t *data, size_t size)
{
	static const struct proc_maps maps;
	struct module_list list = {0};
	struct reader reader = {
		.pid = getpid(),
		.mem = memfd_create("fuzz", MFD_CLOEXEC),
		.maps = &maps,
		.list = &list,
		.patience_ns = UINT64_MAX / 2,
	};
	struct r_debug debug;

	if (reader.mem < 0 || write(reader.mem, data, size) != (ssize_t)size)
		abort();
	if (read_r_debug(&reader, 8, &debug))
		add_linked(&reader, &debug);
	add_hook(&reader, size);
	drop_modules(&list);
	free(list.items);
	close(reader.mem);
}

static char *text_of(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);

	if (!text)
		abort();
	return text;
}

static void fuzz_status(const uint8_t *data, size_t size)
{
	static const char *const fields[] = {"Name", "Tgid", "NSpid", "Uid", "VmRSS"};
	cleanup_free char *text = text_of(data, size);

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const char *found = proc_status_field(text, fields[i]);

		if (found && (found < text || found > text + strlen(text)))
			abort();
		proc_status_number(text, fields[i]);
	}
}

static void fuzz_host(const uint8_t *data, size_t size)
{
	cleanup_free char *text = text_of(data, size);

	host_is_ours(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const fuzz[])(const uint8_t *data, size_t size) = {fuzz_records, fuzz_list,
									 fuzz_status, fuzz_host};

	if (size)
		fuzz[data[0] % (sizeof(fuzz) / sizeof(fuzz[0]))](data + 1, size - 1);
	return 0;
}
