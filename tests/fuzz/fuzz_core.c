// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes the reader of core files; "make fuzz" builds and runs it. The whole input is a core file.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "app/core_account.h"
#include "proof/core_build_id.h"
#include "proof/core_file.h"

/* Maximum number of mappings to check. More of them would take time and reach no other code. */
#define MAPPINGS_MAX 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct visit {
	const struct memory *memory;
	uint64_t start;
	uint64_t end;
};

/* Checks that the visited ranges are within the mapping, in order, and readable. */
static int check_run(void *arg, uint64_t start, uint64_t end)
{
	struct visit *visit = arg;
	unsigned char buf[512];
	size_t len = end - start < sizeof(buf) ? end - start : sizeof(buf);

	if (start < visit->start || end <= start || end > visit->end)
		abort();
	if (visit->memory->ops->read(visit->memory, start, buf, len) != (ssize_t)len)
		abort();
	visit->start = end;
	return 0;
}

static void check_mapping(const struct core_file *core, const struct mapping *m)
{
	const struct memory *memory = &core->memory;
	struct visit visit = {memory, m->start, m->end};
	char id[2 * CORE_BUILD_ID_MAX + 1];
	unsigned char buf[512];

	if (memory->ops->read(memory, m->start, buf, sizeof(buf)) > (ssize_t)sizeof(buf) ||
	    memory->ops->read(memory, m->end - 1, buf, sizeof(buf)) < 0 ||
	    memory->ops->visit_written(memory, m, m->start, m->end, check_run, &visit))
		abort();
	if (!core_build_id(memory, m, id) && (!*id || strlen(id) >= sizeof(id)))
		abort();
}

static void check_maps(const struct core_file *core)
{
	const struct proc_maps *maps = &core->memory.maps;
	uint64_t end = 0;

	for_each_mapping (m, maps) {
		if (m->start < end || m->end <= m->start || proc_maps_find(maps, m->start) != m)
			abort();
		if (strlen(m->path) > core->file_bytes + sizeof("[vdso]"))
			abort();
		end = m->end;
		if (m - maps->mappings < MAPPINGS_MAX)
			check_mapping(core, m);
	}
}

static void check_notes(const struct core_notes *notes)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < notes->threads.cnt; i++) {
		const struct thread_state *thread = &notes->threads.items[i];

		for (size_t j = 0; j < thread->word_cnt; j++)
			sum += thread->words[j] == 0;
		sum += notes->pcs[i] == 1;
	}
	if (sum > UINT32_MAX || strlen(notes->name) >= sizeof(notes->name) ||
	    strlen(notes->arguments) >= sizeof(notes->arguments))
		abort();
}

/*
 * Calls core_account_leave_out() twice. Checks that `content_bytes` is the sum of the segments'
 * bytes, and that the second call does not increase `absent_bytes`.
 */
static void check_account(struct core_file *core)
{
	uint64_t content = 0, absent;

	core_account_leave_out(core);
	for (size_t i = 0; i < core->segment_cnt; i++)
		content += core->segments[i].bytes;
	absent = core->absent_bytes;
	core_account_leave_out(core);
	if (core->content_bytes != content || core->absent_bytes > absent)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct core_file core;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (core_file_init(fd, &core))
		return 0;
	if (core.content_bytes && !core.segment_cnt)
		abort();
	check_maps(&core);
	check_account(&core);
	check_maps(&core);
	check_notes(&core.notes);
	core_file_deinit(&core);
	return 0;
}
