// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of formats, and the words for what was lost that all of them share. */
#include "sinks/sink.h"

static const struct sink *const sinks[] = {
	[FORMAT_TEXT] = &sink_text,
	[FORMAT_JSON] = &sink_json,
	[FORMAT_CSV] = &sink_csv,
	[FORMAT_FOLDED] = &sink_folded,
	[FORMAT_PPROF] = &sink_pprof,
	[FORMAT_SPEEDSCOPE] = &sink_speedscope,
	[FORMAT_HEAPTRACK] = &sink_heaptrack,
	[FORMAT_HTML] = &sink_html,
};

const struct sink *sink_for(enum output_format format)
{
	return sinks[format];
}

const struct lost_text lost_texts[MEMLEAK_LOST_CNT] = {
	[MEMLEAK_LOST_ALLOCS_FULL] = {"allocs_full",
				      "allocations not tracked: the block table was full",
				      "raise --max-allocs, or sample with -s"},
	[MEMLEAK_LOST_STACKS_FULL] = {"stacks_full",
				      "stacks not kept: the stack table was full; their blocks "
				      "are shown without a stack",
				      "raise --stack-storage-size"},
	[MEMLEAK_LOST_NESTING] = {"nesting",
				  "calls not followed to their end: another one on another stack "
				  "of the same thread (a coroutine, a signal handler) took their "
				  "place",
				  NULL},
	[MEMLEAK_LOST_RECURSION] = {"recursion",
				    "calls not seen: the kernel skipped the probe, which was "
				    "already running on that CPU",
				    NULL},
	[MEMLEAK_LOST_UNWIND] = {"unwind", "stacks cut: their outer frames are not known", NULL},
	[MEMLEAK_LOST_UNRETURNED] = {"unreturned",
				     "calls that never returned: left by longjmp or an exception, "
				     "or their return was not seen",
				     NULL},
	[MEMLEAK_LOST_SITES_FULL] = {"sites_full",
				     "allocations not tracked: the table of sites was full",
				     "raise --stack-storage-size"},
	[MEMLEAK_LOST_THREADS_FULL] = {"threads_full",
				       "calls not seen: no memory for the state of their thread",
				       "sample with -s"},
	[MEMLEAK_LOST_NO_MEMORY] = {"no_memory",
				    "allocations not tracked: the kernel had no memory for them",
				    "lower --max-allocs, or sample with -s"},
	[MEMLEAK_LOST_MAPPINGS] = {"mappings",
				   "mmap, munmap or mremap calls not followed: they came faster "
				   "than they were read",
				   NULL},
	[MEMLEAK_LOST_EVENTS] = {"events",
				 "lines of -t not printed: they came faster than they were read",
				 "filter with -z, -Z or -s"},
	[MEMLEAK_LOST_EXEC] =
		{"exec",
		 "programs executed by a traced process whose first allocations were not "
		 "seen",
		 NULL},
	[MEMLEAK_LOST_SHARE_FULL] = {"share_full",
				     "allocations not tracked: their process had its share of the "
				     "table of blocks",
				     "raise --max-allocs, or sample with -s"},
	[MEMLEAK_LOST_PROCESSES] = {"processes",
				    "processes not traced: there are too many, or they were gone "
				    "before they were looked at",
				    NULL},
	[MEMLEAK_LOST_HEAPS] = {"heaps",
				"heaps freed as a whole (mi_heap_destroy): what was in them is "
				"still shown",
				NULL},
	[MEMLEAK_LOST_INHERITED] = {"inherited",
				    "frees not kept for forked children: the table was full; what "
				    "they have of their parents may be wrong",
				    "raise --max-allocs"},
	[MEMLEAK_LOST_STRINGS] = {"strings",
				  "strings whose size is not known: too long to be read, or gone; "
				  "each counts as what was read of it",
				  NULL},
};
