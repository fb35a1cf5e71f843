// SPDX-License-Identifier: GPL-2.0-or-later
/* Records which slab caches and lines of kernel code have grown. */
#include "recording/recorder.h"

int recorder_add_growths(struct recorder *recorder, const struct snapshot *snap)
{
	struct section_buffer *section = &recorder->sections[SECTION_GROWTHS];
	int err = 0;

	for (size_t i = 0; !err && i < snap->kernel_growth_cnt; i++) {
		const struct kernel_growth *growth = &snap->kernel_growths[i];
		uint64_t name;

		err = recorder_string(recorder, growth->name, &name);
		bytes_put_number(&section->bytes, growth->kind);
		bytes_put_number(&section->bytes, err ? 0 : name);
		bytes_put_number(&section->bytes, growth->bytes);
		bytes_put_number(&section->bytes, growth->grown_bytes);
		bytes_put_number(&section->bytes, growth->reclaim);
		section->cnt++;
	}
	return err;
}
