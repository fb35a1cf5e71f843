// SPDX-License-Identifier: GPL-2.0-or-later
/* Contains the table of output formats, and the words that all formats use for losses. */
#include "sinks/sink.h"

#include <inttypes.h>
#include <stdio.h>

static const struct sink *const sinks[] = {
	[FORMAT_TEXT] = &sink_text,
	[FORMAT_BCC] = &sink_bcc,
	[FORMAT_JSON] = &sink_json,
	[FORMAT_CSV] = &sink_csv,
	[FORMAT_FOLDED] = &sink_folded,
	[FORMAT_PPROF] = &sink_pprof,
	[FORMAT_SPEEDSCOPE] = &sink_speedscope,
	[FORMAT_HEAPTRACK] = &sink_heaptrack,
	[FORMAT_HTML] = &sink_html,
	[FORMAT_VERDICT] = &sink_verdict,
};

_Static_assert(sizeof(sinks) / sizeof(sinks[0]) == FORMAT_CNT, "each format has a sink");

const struct sink *sink_for(enum output_format format)
{
	return sinks[format];
}

#define RAISE_ALLOCS "raise --max-memory or --max-allocs"
#define LOWER_ALLOCS "lower --max-memory or --max-allocs"
#define OR_SAMPLE ", or sample with -s"

const struct lost_text lost_texts[LOSS_CNT] = {
	[LOSS_ALLOCS_FULL] = {"allocs_full", "allocation", "allocations",
			      "not tracked: the block table was full", RAISE_ALLOCS},
	[LOSS_STACKS_FULL] =
		{"stacks_full", "stack", "stacks",
		 "not stored, as the stack table was full: some blocks are shown without a stack",
		 "raise --max-memory or --stack-storage-size"},
	[LOSS_NESTING] = {"nesting", "call", "calls",
			  "not followed to the end: another call began on another stack of "
			  "the same thread (a coroutine, a signal handler)",
			  NULL},
	[LOSS_RECURSION] =
		{"recursion", "call", "calls",
		 "not seen: the kernel skipped the probe, which was already running on that CPU",
		 NULL},
	[LOSS_UNWIND] = {"unwind", "stack", "stacks", "cut: the outer frames are not known", NULL},
	[LOSS_UNRETURNED] = {"unreturned", "call", "calls",
			     "ended by longjmp or an exception, or whose return was not seen",
			     NULL},
	[LOSS_SITES_FULL] = {"sites_full", "allocation", "allocations",
			     "not tracked: the table of sites was full",
			     "raise --max-memory or --stack-storage-size"},
	[LOSS_THREADS_FULL] = {"threads_full", "call", "calls",
			       "not seen: there was no memory for the state of the thread", NULL},
	[LOSS_NO_MEMORY] = {"no_memory", "allocation", "allocations",
			    "not tracked: the kernel had no memory for a table entry",
			    LOWER_ALLOCS},
	[LOSS_MAPPINGS] = {"mappings", "call of mmap, munmap or mremap",
			   "calls of mmap, munmap or mremap",
			   "not followed: events came too fast, or there are too many mappings",
			   NULL},
	[LOSS_EVENTS] = {"events", "line of -t", "lines of -t",
			 "not printed: events came faster than they were read",
			 "filter with -z or -Z"},
	[LOSS_EXEC] = {"exec", "program", "programs",
		       "executed by a traced process: the first allocations were not seen", NULL},
	[LOSS_QUOTA_FULL] = {"share_full", "allocation", "allocations",
			     "not tracked: the process had used up its share of the block table",
			     RAISE_ALLOCS},
	[LOSS_PROCESSES] = {"processes", "process", "processes",
			    "not traced, or not from the first call: too many at once, too "
			    "short-lived, or with unreadable or slow files",
			    NULL},
	[LOSS_HEAPS] = {"heaps", "heap", "heaps",
			"freed as a whole (mi_heap_destroy): the blocks inside are still shown",
			NULL},
	[LOSS_INHERITED] = {"inherited", "free", "frees",
			    "not recorded for forked children, as the table was full: their "
			    "inherited blocks may be wrong",
			    "raise --max-allocs"},
	[LOSS_STRINGS] = {"strings", "string", "strings",
			  "of unknown size, too long or unreadable: counted as far as read", NULL},
	[LOSS_UNREAD] = {"unread", "block", "blocks",
			 "not read: memleak was asked to end, or too many were reallocated",
			 "request a report with SIGUSR1 before the end"},
};

/* Remedies for runs that may sample, if they differ from the others */
static const char *const sampling_remedies[LOSS_CNT] = {
	[LOSS_ALLOCS_FULL] = RAISE_ALLOCS OR_SAMPLE, [LOSS_THREADS_FULL] = "sample with -s",
	[LOSS_NO_MEMORY] = LOWER_ALLOCS OR_SAMPLE,   [LOSS_EVENTS] = "filter with -z, -Z or -s",
	[LOSS_QUOTA_FULL] = RAISE_ALLOCS OR_SAMPLE,
};

const char *lost_remedy(enum loss lost, bool can_sample)
{
	return (can_sample ? sampling_remedies[lost] : NULL) ?: lost_texts[lost].remedy;
}

char *lost_describe(enum loss lost, uint64_t cnt)
{
	const struct lost_text *text = &lost_texts[lost];
	char *words;

	if (asprintf(&words, "%" PRIu64 " %s %s", cnt, cnt == 1 ? text->one : text->many,
		     text->how) < 0)
		return NULL;
	return words;
}
