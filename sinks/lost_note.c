// SPDX-License-Identifier: GPL-2.0-or-later
/* Says on stderr what a reader of numbers alone would not learn from them. */
#include "sinks/lost_note.h"

#include <inttypes.h>

#include "loader/log.h"
#include "sinks/sink.h"

void lost_note(const struct snapshot *snap)
{
	if (snap->sampling.mode != SAMPLING_NONE)
		log_note("bytes and counts are estimates, scaled up from samples");
	for (size_t i = 0; i < MEMLEAK_LOST_CNT; i++) {
		const struct lost_text *text = &lost_texts[i];

		if (snap->lost[i])
			log_note("lost: %" PRIu64 " %s%s%s%s", snap->lost[i], text->words,
				 text->remedy ? " (" : "", text->remedy ? text->remedy : "",
				 text->remedy ? ")" : "");
	}
}
