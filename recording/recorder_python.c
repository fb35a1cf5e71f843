// SPDX-License-Identifier: GPL-2.0-or-later
/* Records which Python objects grow. */
#include <errno.h>

#include "recording/recorder.h"

static int put_text(struct recorder *recorder, const char *text)
{
	uint64_t number;
	int err = recorder_string(recorder, text, &number);

	bytes_put_number(&recorder->sections[SECTION_PYTHON].bytes, err ? 0 : number);
	return err;
}

static void put_numbers(struct recorder *recorder, const uint64_t *numbers, size_t cnt)
{
	struct section_buffer *section = &recorder->sections[SECTION_PYTHON];

	for (size_t i = 0; i < cnt; i++)
		bytes_put_number(&section->bytes, numbers[i]);
	section->cnt++;
}

int recorder_add_python(struct recorder *recorder, const struct snapshot *snap)
{
	struct byte_buffer *bytes = &recorder->sections[SECTION_PYTHON].bytes;
	int err = 0;

	for (size_t i = 0; snap->python && !err && i < snap->python->container_cnt; i++) {
		const struct python_container *container = &snap->python->containers[i];
		const uint64_t numbers[] = {container->items, container->more, container->for_ns,
					    container->site, container->adder.line};

		bytes_put_number(bytes, container->named_by);
		err = put_text(recorder, container->name)
			      ?: put_text(recorder, container->class)
			      ?: put_text(recorder, container->adder.function)
			      ?: put_text(recorder, container->adder.file);
		put_numbers(recorder, numbers, 5);
	}
	for (size_t i = 0; snap->python && !err && i < snap->python->class_cnt; i++) {
		const struct python_class *class = &snap->python->classes[i];
		const uint64_t numbers[] = {class->count, class->more, class->more_bytes,
					    class->for_ns, class->place.line};

		bytes_put_number(bytes, PYTHON_NAME_CNT);
		err = put_text(recorder, class->name)
			      ?: put_text(recorder, class->place.function)
			      ?: put_text(recorder, class->place.file);
		put_numbers(recorder, numbers, 5);
	}
	if (snap->python && !err) {
		const uint64_t numbers[] = {snap->python->allocator, snap->python->uncounted};

		bytes_put_number(bytes, RECORDING_PYTHON_ALLOCATOR);
		put_numbers(recorder, numbers, 2);
	}
	return err;
}
