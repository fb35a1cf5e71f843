# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases that do not apply to programs with an agent, by the reason."""

import fnmatch

STATIC = "a static program loads no library"
OWN = "the program has an allocator of its own, which calls no library"
SANITIZER = "sanitizers want to be the first library"
NAMES = "an allocator's own names are not the agent's"
PROBES = "it is about probes, or BPF programs"
TABLES = "it is about unwind tables that memleak makes"
INSIDE = "the C library maps within itself"
RETURNS = "only the kernel knows where calls with return probes return to"
NAMESPACE = "calls within the namespace of a library do not reach the agent"
MEMORY = "the agent has memory of its own for each thread"
DEBUG_FRAME = "what says of frames is not in the program's memory"

KNOWN = "the agent knows blocks from before, and that they are freed"
COUNTERS = "it is about tables and counters of BPF programs"

REASONS = {
    "agent.*": "it loads the agent itself", "agent_harm.*": "it loads the agent itself",
    "*static*": STATIC, "unwind.static.*": STATIC, "*musl*": STATIC,
    "allocators.own_*": OWN, "allocators.*each_cxx.cxx_own_new": OWN,
    "allocators.built_in.*": OWN, "allocators.prefix_found": OWN,
    "allocators.begun_again": OWN,
    "allocators.linked_cxx.*": OWN, "allocators.failure_frees": NAMES,
    "allocators.two_allocators.*": NAMESPACE,
    "allocators.heap_destroyed": NAMES, "allocators.own_names.*": NAMES,
    "allocators.sanitizer*": SANITIZER,
    "allocators.pitfall_20_*": PROBES, "allocators.pitfall_18_exception_by_other_links.*": PROBES,
    "allocators.pitfall_18_cxx_after_exec.*": PROBES, "process.memleak_killed": PROBES,
    "frames.two_processes": PROBES, "process.probes_are_seen": PROBES,
    "process.asked_to_end_while_searching": PROBES, "process.raise_in_later_library": PROBES,
    "process.dlopened_*": PROBES, "places.*": PROBES, "process.worker_is_made.*": PROBES,
    "process.workers.*": PROBES, "process.worker_is_traced": PROBES, "process.many_given": PROBES,
    "symbols.script.*": PROBES, "symbols.java": PROBES, "symbols.node_unnamed": PROBES,
    "pending.*": PROBES, "count.count_target_filter.*": PROBES, "count.count_gone.*": PROBES,
    "count.count_operators.operators": OWN,
    "unwind.pending_return_probes.*": RETURNS,
    "unwind_exotic.debug_frame.*": DEBUG_FRAME, "unwind_exotic.compressed.*": DEBUG_FRAME,
    "unwind_exotic.unreadable": TABLES, "unwind_exotic.equal_files": TABLES,
    "unwind_exotic.too_*": TABLES, "unwind_exotic.late_library": TABLES,
    "nesting.threads_after_free.*": INSIDE,
    "growth.untraced.threads": MEMORY,
    "mappings.pitfall_06_huge_blocks.*": OWN,
    "peak.peak_between_reports": KNOWN, "stats.summary.*": KNOWN, "stats.summary_of_many": KNOWN,
    "stats.summary_text": KNOWN,
    "peak.peak_of_full_table.*": COUNTERS, "stats.cost": PROBES,
    "stats.stats.*": COUNTERS, "stats.stats_filtered": COUNTERS, "stats.stats_text": COUNTERS,
}


def reason_without_agent(name):
    """Returns why the case cannot run with an agent, or None if it can."""
    return next((reason for pattern, reason in REASONS.items() if fnmatch.fnmatch(name, pattern)),
                None)
