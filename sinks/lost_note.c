// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints on stderr what was lost, if the format of the report cannot show it. */
#include "sinks/lost_note.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "sinks/sink.h"

void lost_note(const struct report *report)
{
	const struct snapshot *snap = report->snapshot;
	bool can_sample = report_may_advise(report, ADVISED_SAMPLE_RATE);

	if (snap->sampling.mode != SAMPLING_NONE)
		log_note("bytes and counts are estimates, scaled up from samples");
	for (size_t i = 0; i < LOSS_CNT; i++) {
		const char *remedy = lost_remedy(i, can_sample);
		cleanup_free char *words = snap->lost[i] ? lost_describe(i, snap->lost[i]) : NULL;

		if (words)
			log_note("lost: %s%s%s%s", words, remedy ? " (" : "", remedy ? remedy : "",
				 remedy ? ")" : "");
	}
}
