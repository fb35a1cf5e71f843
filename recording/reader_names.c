// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads strings, locations and processes, which stay in memory until the recording is closed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "recording/reader.h"

#define FRAME_BYTES_MIN 5
/* Bytes that malloc() needs for itself per block. */
#define MALLOC_BYTES 16

bool recording_take_memory(struct recording *recording, size_t cnt, size_t item_bytes)
{
	size_t bytes;

	if (__builtin_mul_overflow(cnt, item_bytes, &bytes) || bytes > recording->memory_left)
		return false;
	recording->memory_left -= bytes;
	return true;
}

int recording_take_string(struct recording *recording, struct byte_reader *from)
{
	size_t len = bytes_take_cnt(from, 1);
	const char *bytes = bytes_take(from, len);
	char *string;

	if (from->failed)
		return -EBADMSG;
	/* Also account for a copy of the string in a snapshot, and for an entry in a map. */
	if (!recording_take_memory(recording, 2 * len + 8 * MALLOC_BYTES, 1))
		return -EFBIG;
	if (array_reserve(&recording->strings, &recording->string_cap, recording->string_cnt + 1))
		return -ENOMEM;
	string = strndup(bytes, len);
	if (!string)
		return -ENOMEM;
	recording->strings[recording->string_cnt++] = string;
	return 0;
}

const char *recording_string_at(const struct recording *recording, uint64_t number)
{
	return number && number <= recording->string_cnt ? recording->strings[number - 1] : NULL;
}

const char *recording_take_string_ref(const struct recording *recording, struct byte_reader *from)
{
	return recording_string_at(recording, bytes_take_below(from, recording->string_cnt + 1));
}

static void take_frame(const struct recording *recording, struct byte_reader *from,
		       struct sym_frame *ret)
{
	ret->symbol = recording_take_string_ref(recording, from);
	ret->offset = bytes_take_number(from);
	ret->file = recording_take_string_ref(recording, from);
	ret->line = (unsigned int)bytes_take_below(from, 1ULL << 32);
	ret->inlined = bytes_take_below(from, 2);
}

/* Reads a location and its frames into one block of memory. */
static int make_location(struct recording *recording, struct byte_reader *from,
			 const struct sym_location *head, struct sym_location **ret)
{
	struct sym_location *location;
	struct sym_frame *frames;

	if (!recording_take_memory(recording, 1, sizeof(*location) + 2 * MALLOC_BYTES) ||
	    !recording_take_memory(recording, head->frame_cnt, sizeof(*frames)))
		return -EFBIG;
	location = malloc(sizeof(*location) + head->frame_cnt * sizeof(*frames));
	if (!location)
		return -ENOMEM;
	*location = *head;
	frames = (struct sym_frame *)(location + 1);
	location->frames = frames;
	for (size_t i = 0; i < head->frame_cnt; i++)
		take_frame(recording, from, &frames[i]);
	*ret = location;
	return 0;
}

int recording_take_location(struct recording *recording, struct byte_reader *from)
{
	struct sym_location head = {.addr = bytes_take_number(from)};
	struct sym_location *location;
	int err;

	head.module = recording_take_string_ref(recording, from);
	if (recording->header.version >= RECORDING_WITH_PROGRAM_NAMES)
		head.known_as = recording_take_string_ref(recording, from);
	head.module_offset = bytes_take_number(from);
	head.build_id = recording_take_string_ref(recording, from);
	head.frame_cnt = bytes_take_cnt(from, FRAME_BYTES_MIN);
	if (from->failed)
		return -EBADMSG;
	if (array_reserve(&recording->locations, &recording->location_cap,
			  recording->location_cnt + 1))
		return -ENOMEM;
	err = make_location(recording, from, &head, &location);
	if (err)
		return err;
	recording->locations[recording->location_cnt++] = location;
	return from->failed ? -EBADMSG : 0;
}

const struct sym_location *recording_take_location_ref(const struct recording *recording,
						       struct byte_reader *from)
{
	uint64_t number = bytes_take_below(from, recording->location_cnt + 1);

	return number ? recording->locations[number - 1] : NULL;
}

/*
 * Reads a process. Takes memory from the budget for it, a summary, a tally, and its copy in a
 * snapshot.
 */
int recording_take_process(struct recording *recording, struct byte_reader *from)
{
	struct read_process *process;

	if (!recording_take_memory(recording, 1,
				   sizeof(*process) + sizeof(struct process) +
					   sizeof(struct process_summary) +
					   sizeof(struct process_tally) + 8 * MALLOC_BYTES))
		return -EFBIG;
	if (array_reserve(&recording->processes, &recording->process_cap,
			  recording->process_cnt + 1))
		return -ENOMEM;
	process = calloc(1, sizeof(*process));
	if (!process)
		return -ENOMEM;
	recording->processes[recording->process_cnt++] = process;
	process->process.image = (uint32_t)bytes_take_below(from, 1ULL << 32);
	process->process.pid = (pid_t)bytes_take_below(from, 1ULL << 32);
	process->process.comm = (char *)recording_take_string_ref(recording, from);
	process->process.cgroup = (char *)recording_take_string_ref(recording, from);
	return from->failed ? -EBADMSG : 0;
}

struct read_process *recording_take_process_ref(const struct recording *recording,
						struct byte_reader *from)
{
	uint64_t number = bytes_take_below(from, recording->process_cnt + 1);

	return number ? recording->processes[number - 1] : NULL;
}

void recording_free_names(struct recording *recording)
{
	for (size_t i = 0; i < recording->string_cnt; i++)
		free(recording->strings[i]);
	free(recording->strings);
	for (size_t i = 0; i < recording->location_cnt; i++)
		free(recording->locations[i]);
	free(recording->locations);
	for (size_t i = 0; i < recording->process_cnt; i++) {
		free(recording->processes[i]->summary);
		free(recording->processes[i]);
	}
	free(recording->processes);
}
