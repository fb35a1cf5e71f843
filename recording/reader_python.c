// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads which Python objects grow. */
#include <errno.h>
#include <string.h>

#include "recording/reader.h"

static void take_text(const struct recording *recording, struct byte_reader *from, char *ret)
{
	const char *text = recording_take_string_ref(recording, from);

	*ret = '\0';
	if (text)
		strncat(ret, text, PYTHON_TEXT_BYTES - 1);
}

static int take_container(struct recording *recording, struct byte_reader *from,
			  enum python_name named_by)
{
	struct python_growth *python = &recording->python;
	struct python_container *container = &python->containers[python->container_cnt];

	if (python->container_cnt == PYTHON_CONTAINERS_MAX)
		return -EBADMSG;
	container->named_by = named_by;
	take_text(recording, from, container->name);
	take_text(recording, from, container->class);
	if (recording->header.version >= RECORDING_WITH_ADDERS) {
		take_text(recording, from, container->adder.function);
		take_text(recording, from, container->adder.file);
	}
	container->items = bytes_take_number(from);
	container->more = bytes_take_number(from);
	container->for_ns = bytes_take_number(from);
	if (recording->header.version >= RECORDING_WITH_ITEMS)
		container->site = bytes_take_number(from);
	if (recording->header.version >= RECORDING_WITH_ADDERS)
		container->adder.line = (uint32_t)bytes_take_number(from);
	python->container_cnt++;
	return from->failed ? -EBADMSG : 0;
}

static int take_allocator(struct recording *recording, struct byte_reader *from)
{
	recording->python.allocator =
		(enum python_allocator)bytes_take_below(from, PYTHON_ALLOCATOR_CNT);
	return from->failed ? -EBADMSG : 0;
}

static int take_uncounted(struct recording *recording, struct byte_reader *from)
{
	if (recording->header.version >= RECORDING_WITH_UNCOUNTED)
		recording->python.uncounted = bytes_take_number(from);
	return from->failed ? -EBADMSG : 0;
}

static int take_class(struct recording *recording, struct byte_reader *from)
{
	struct python_growth *python = &recording->python;
	struct python_class *class = &python->classes[python->class_cnt];

	if (python->class_cnt == PYTHON_CLASSES_MAX)
		return -EBADMSG;
	take_text(recording, from, class->name);
	if (recording->header.version >= RECORDING_WITH_PLACES) {
		take_text(recording, from, class->place.function);
		take_text(recording, from, class->place.file);
	}
	class->count = bytes_take_number(from);
	class->more = bytes_take_number(from);
	class->more_bytes = bytes_take_number(from);
	class->for_ns = bytes_take_number(from);
	if (recording->header.version >= RECORDING_WITH_PLACES)
		class->place.line = (uint32_t)bytes_take_number(from);
	python->class_cnt++;
	if (recording->header.version >= RECORDING_WITH_ITEMS &&
	    recording->header.version < RECORDING_WITH_ALLOCATOR)
		return take_allocator(recording, from);
	return from->failed ? -EBADMSG : 0;
}

int recording_take_python(struct recording *recording, struct byte_reader *from)
{
	bool has_allocator = recording->header.version >= RECORDING_WITH_ALLOCATOR;
	uint64_t kind = bytes_take_below(from, PYTHON_NAME_CNT + 1 + (has_allocator ? 1 : 0));

	if (from->failed)
		return -EBADMSG;
	recording->has_python = true;
	if (kind == RECORDING_PYTHON_ALLOCATOR)
		return take_allocator(recording, from) ?: take_uncounted(recording, from);
	return kind < PYTHON_NAME_CNT ? take_container(recording, from, (enum python_name)kind)
				      : take_class(recording, from);
}
