// SPDX-License-Identifier: GPL-2.0-or-later
/* The options themselves: everything that is ever said about one stands here, once. */
#include "loader/options_table.h"
#include "bpf/exponential.h"
#include "bpf/memleak.h"

#define FIELD(member) .offset = offsetof(struct options, member)
#define MAX_STACKS (1U << 24)
#define REPORT .offline = 1 << WORK_REPORT
#define REPORT_DIFF .offline = 1 << WORK_REPORT | 1 << WORK_DIFF

const char *const work_names[WORK_CNT] = {[WORK_REPORT] = "report", [WORK_DIFF] = "diff"};

const char *const option_group_names[GROUP_CNT] = {
	[GROUP_TARGET] = "What to trace",  [GROUP_FILTER] = "Which allocations",
	[GROUP_REPORT] = "What to report", [GROUP_LIMIT] = "How much to keep",
	[GROUP_OTHER] = "Everything else",
};

static const char *const format_words[] = {"text",       "json",      "csv",  "folded", "pprof",
					   "speedscope", "heaptrack", "html", NULL};
static const char *const unwind_words[] = {"auto", "fp", "dwarf", NULL};
static const char *const by_words[] = {"stack", "process", "module", "thread", "cgroup", NULL};
static const char *const count_words[] = {"cgroup", "process", "function", NULL};
static const char *const sort_words[] = {"size", "count", "growth", "score", NULL};
static const char *const summary_sort_words[] = {
	"outstanding", "allocated", "freed", "peak", "largest", "calls", "pid", NULL,
};

const char *option_format_word(enum output_format format)
{
	return format_words[format];
}

const struct option_def option_table[OPTION_CNT] = {
	/* What to trace */
	{"pid", 'p', "PID[,PID...]", "Trace these running processes. They are never stopped",
	 OPT_PIDS, GROUP_TARGET, .words = WORDS_PID},
	{"command", 'c', "CMD",
	 "Run CMD and trace it from its first allocation on. CMD is split into words as a shell "
	 "does; nothing in it is expanded. PATH is searched. \"-- CMD ARG...\" is the exact form",
	 OPT_COMMAND, GROUP_TARGET, .words = WORDS_COMMAND},
	{"all-processes", 'A', NULL,
	 "Trace every process, also those that begin later: one total for each process and stack",
	 OPT_FLAG, GROUP_TARGET, FIELD(all_processes)},
	{"comm", 0, "NAME",
	 "Trace the processes of this name, as ps -o comm and /proc/PID/comm have it, also those "
	 "that begin later",
	 OPT_STRING, GROUP_TARGET, FIELD(comm), .words = WORDS_COMMAND},
	{"cgroup", 0, "CGROUP",
	 "Trace the processes of this cgroup and those below, also those that come later: its "
	 "path, the name of a unit of systemd's, or the id of a container",
	 OPT_STRING, GROUP_TARGET, FIELD(cgroup), .words = WORDS_FILE},
	{"follow", 'f', NULL,
	 "Trace the children, too, that processes of --pid or a command make, and theirs; forked "
	 "ones begin with copies of what their parents have outstanding. As with "
	 "the three options above, other programs that use the same libraries are slowed down, too",
	 OPT_FLAG, GROUP_TARGET, FIELD(follow)},
	{"obj", 'O', "PATH",
	 "Probe the allocator in this file. By default it is found in the files that the process "
	 "maps",
	 OPT_STRING, GROUP_TARGET, FIELD(object), .words = WORDS_FILE},
	{"symbols-prefix", 'S', "PREFIX",
	 "The allocator's symbols carry this prefix, such as je_. By default it is found",
	 OPT_STRING, GROUP_TARGET, FIELD(symbols_prefix)},
	{"alloc", 0, "FUNC[:SHAPE]",
	 "FUNC gives memory, too: a function of the program's own or of a library, by the name of "
	 "its symbol. It is called like SHAPE, which is malloc by default, calloc, realloc, "
	 "reallocarray, memalign or posix_memalign; pool_malloc, pool_calloc, pool_realloc and "
	 "pool_reallocarray have another argument before those; whatever strdup is called with, it "
	 "gives a string that is as large as it is. May be given several times",
	 OPT_ALLOC, GROUP_TARGET, .words = WORDS_NONE},
	{"free", 0, "FUNC[:SHAPE]",
	 "FUNC takes back what functions of --alloc gave: its first argument, or its second if "
	 "SHAPE is pool_free. May be given several times",
	 OPT_FREE, GROUP_TARGET, .words = WORDS_NONE},
	{"kernel", 'K', NULL,
	 "Kernel allocations, too: those made on behalf of the processes that are traced. They are "
	 "what is traced if there is no process",
	 OPT_FLAG, GROUP_TARGET, FIELD(kernel)},
	{"percpu", 'P', NULL, "Kernel: trace percpu allocations too", OPT_FLAG, GROUP_TARGET,
	 FIELD(percpu)},
	{"movable", 0, NULL,
	 "Kernel: trace movable pages too, which are user memory and the page cache. Without this "
	 "they are left out: no kernel code holds on to them",
	 OPT_FLAG, GROUP_TARGET, FIELD(movable)},

	{"force", 0, NULL,
	 "Trace what is refused as probes could hurt it: programs in Go, of which the C code is "
	 "traced, and processes under a seccomp filter on kernels that would end them",
	 OPT_FLAG, GROUP_TARGET, FIELD(force)},

	/* Which allocations */
	{"min-size", 'z', "SIZE",
	 "Only allocations of at least this size: bytes, or with a suffix k, M or G (powers of "
	 "1024)",
	 OPT_SIZE, GROUP_FILTER, FIELD(min_size)},
	{"max-size", 'Z', "SIZE", "Only allocations of at most this size", OPT_SIZE, GROUP_FILTER,
	 FIELD(max_size)},
	{"older", 'o', "AGE_MS",
	 "Leave out blocks younger than so many milliseconds (default 500). The report after the "
	 "target's own end leaves none out unless this is given",
	 OPT_AGE, GROUP_FILTER, FIELD(older_ns)},
	{"sample-rate", 's', "N",
	 "Look at one allocation in N, chosen at random (default 1: all). Totals are scaled up "
	 "and marked as estimates",
	 OPT_NUMBER, GROUP_FILTER, FIELD(sample_rate), 1, UINT32_MAX},
	{"sample-bytes", 0, "N",
	 "Take one sample in N bytes on average, N with a suffix as above: large blocks are nearly "
	 "all looked at, small ones seldom. Totals are estimates, with their standard error",
	 OPT_SIZE, GROUP_FILTER, FIELD(sample_bytes), 1, EXPONENTIAL_MAX_MEAN},
	{"wa-missing-free", 'F', NULL,
	 "Kernel: every allocation event first frees whatever is held at its address, even when "
	 "the event itself is filtered or not sampled. Such repairs are counted in the report",
	 OPT_FLAG, GROUP_FILTER, FIELD(wa_missing_free)},
	{"warmup", 0, "SECONDS",
	 "Leave out what was allocated in the first so many seconds of tracing; fractions are "
	 "allowed",
	 OPT_SECONDS, GROUP_FILTER, FIELD(warmup_ns)},
	{"suppressions", 0, "FILE",
	 "Leave out the stacks that FILE says, in the form of LeakSanitizer: lines leak:PATTERN, "
	 "for the function, the module or the source file of any frame. May be given several "
	 "times. What they hold is told",
	 OPT_RULES, GROUP_FILTER, FIELD(suppressions), .words = WORDS_FILE, REPORT},

	/* What to report */
	{"top", 'T', "N", "Show so many stacks, or whatever --by says (default 10; see --format)",
	 OPT_NUMBER, GROUP_REPORT, FIELD(top), 1, UINT32_MAX, REPORT_DIFF},
	{"max-records", 0, "N",
	 "Show at most so many processes, modules, threads or cgroups: as entries (else it is as "
	 "many as "
	 "--top says), in the table of --summary (else all) and by --largest",
	 OPT_NUMBER, GROUP_REPORT, FIELD(max_records), 1, UINT32_MAX, REPORT},
	{"by", 0, "WHAT",
	 "What the entries of a report are: stacks (the default), or processes, modules (the "
	 "program or library that asked for the memory), threads or cgroups, each with its top 3 "
	 "stacks",
	 OPT_CHOICE, GROUP_REPORT, FIELD(by), .choices = by_words, REPORT},
	{"sort", 0, "ORDER",
	 "Order of the stacks (default size): by size or count of what is outstanding, by growth "
	 "since the report before, or by score, that is by how much they look like a leak",
	 OPT_CHOICE, GROUP_REPORT, FIELD(sort), .choices = sort_words, REPORT_DIFF},
	{"show-allocs", 'a', NULL,
	 "List each outstanding block under its stack: address, size, age, thread", OPT_FLAG,
	 GROUP_REPORT, FIELD(show_allocs), REPORT},
	{"largest", 0, NULL,
	 "Show the largest outstanding allocation of each process, too, with its stack", OPT_FLAG,
	 GROUP_REPORT, FIELD(largest), REPORT},
	{"count", 0, "WHAT",
	 "Count calls of allocator functions for each cgroup (the default), process or function, "
	 "and do nothing else: the cheapest view, without blocks, stacks and returns",
	 OPT_CHOICE, GROUP_REPORT, FIELD(count_by), .min = MEMLEAK_COUNT_CGROUP,
	 .max = MEMLEAK_COUNT_FUNCTION, .choices = count_words, .optional = true},
	{"peak", 0, NULL,
	 "Show the stacks, too, as they were when most memory of the processes was outstanding",
	 OPT_FLAG, GROUP_REPORT, FIELD(peak), REPORT},
	{"stats", 0, NULL,
	 "Say in each report what was done, too: calls of each function, stacks walked, how full "
	 "the tables are, and each way of losing something, also those by which nothing was lost",
	 OPT_FLAG, GROUP_REPORT, FIELD(stats), REPORT},
	{"summary", 0, NULL,
	 "Add a table of the processes: bytes allocated, freed, outstanding, the peak of these, "
	 "the "
	 "largest request, and calls. Of malloc and its kin, since the process began or memleak "
	 "did",
	 OPT_FLAG, GROUP_REPORT, FIELD(summary), REPORT},
	{"summary-sort", 0, "WORD",
	 "Order of the table of --summary: the most comes first (default outstanding)", OPT_CHOICE,
	 GROUP_REPORT, FIELD(summary_sort), .choices = summary_sort_words, REPORT},
	{"no-default-suppressions", 0, NULL,
	 "Show, too, what the C and C++ libraries allocate for themselves and keep: buffers of "
	 "stdio, locales and the like",
	 OPT_FLAG, GROUP_REPORT, FIELD(no_default_suppressions), REPORT},
	{"gen-suppressions", 0, NULL,
	 "Print lines for --suppressions after each report, one for the function of each stack "
	 "that is shown",
	 OPT_FLAG, GROUP_REPORT, FIELD(gen_suppressions), REPORT},
	{"trace", 't', NULL,
	 "Print one line for each allocation and free as it happens, besides the reports; -tt: "
	 "with the stack of each",
	 OPT_LEVEL, GROUP_REPORT, FIELD(trace)},
	{"combined-only", 'C', NULL,
	 "Keep only totals for each stack, in the kernel: cheapest, but without ages, so neither "
	 "--show-allocs nor --older",
	 OPT_FLAG, GROUP_REPORT, FIELD(combined_only)},
	{"format", 0, "FORMAT",
	 "What is printed: text (the default), json, csv; folded stacks, which flame graphs are "
	 "made of; a profile for pprof, speedscope or heaptrack; or html, a page for a browser. "
	 "Only "
	 "text and json are cut to ten stacks, the others to what --top says",
	 OPT_CHOICE, GROUP_REPORT, FIELD(format), .choices = format_words, REPORT_DIFF},
	{"json", 0, NULL, "The same as --format json", OPT_PRESET, GROUP_REPORT, FIELD(format),
	 .min = FORMAT_JSON, REPORT_DIFF},
	{"duration", 'd', "SECONDS",
	 "End after so many seconds, with a final report; fractions are allowed. An alternative to "
	 "COUNT",
	 OPT_SECONDS, GROUP_REPORT, FIELD(duration_ns)},
	{"output", 0, "FILE",
	 "Write reports to FILE instead of stdout. It is emptied at the start; each report is "
	 "appended whole or not at all. Of a format of which a file holds one report, each takes "
	 "the place of the one before, and stdout or a pipe gets the final one",
	 OPT_STRING, GROUP_REPORT, FIELD(output), .words = WORDS_FILE, REPORT_DIFF},
	{"listen", 0, "[ADDR:]PORT",
	 "Serve the last report over HTTP, too: /metrics for Prometheus and its kin, /report as "
	 "JSON, /pprof as a profile. By default on 127.0.0.1, for this machine alone; an IPv6 "
	 "address stands in "
	 "brackets",
	 OPT_LISTEN, GROUP_REPORT, FIELD(listen), .words = WORDS_NONE},
	{"record", 0, "FILE",
	 "Write every snapshot to FILE, too, with the names of all stacks: for \"memleak report\" "
	 "and \"memleak diff\". It is emptied at the start",
	 OPT_STRING, GROUP_REPORT, FIELD(record), .words = WORDS_FILE},
	{"all", 0, NULL,
	 "Of a recording: the report of every snapshot, not that of the last one alone", OPT_FLAG,
	 GROUP_REPORT, FIELD(all), REPORT},
	{"error-exitcode", 0, "N",
	 "Exit with this code (1 to 255) if anything is outstanding in the last report", OPT_CODE,
	 GROUP_REPORT, FIELD(error_exitcode), 1, 255, REPORT},

	/* How much to keep */
	{"max-allocs", 0, "N",
	 "Track so many blocks at once (default 1000000). Blocks beyond are not tracked; the "
	 "report says how many they were",
	 OPT_NUMBER, GROUP_LIMIT, FIELD(max_allocs), 1, MEMLEAK_MAX_ALLOCS_CAP},
	{"stack-storage-size", 0, "N",
	 "Keep so many distinct stacks (default 16384; 65536 if processes are found by "
	 "themselves); "
	 "those that hold nothing make room for others",
	 OPT_NUMBER, GROUP_LIMIT, FIELD(stack_storage_size), 1, MAX_STACKS},
	{"perf-max-stack-depth", 0, "N", "Keep so many frames of each stack (default 127)",
	 OPT_NUMBER, GROUP_LIMIT, FIELD(stack_depth), 1, MEMLEAK_MAX_STACK_DEPTH},
	{"unwind", 0, "METHOD",
	 "How user stacks are walked: by the unwind tables of the program and its libraries "
	 "(dwarf), by frame pointers (fp), or by tables and, in code that has none, by frame "
	 "pointers (auto, the default)",
	 OPT_CHOICE, GROUP_LIMIT, FIELD(unwind), .choices = unwind_words},
	{"verify-unwind", 0, "N",
	 "Have libdwfl walk so many stacks a second time, on a copy of their memory, and say at "
	 "the end how many differ; with -v, where",
	 OPT_NUMBER, GROUP_LIMIT, FIELD(verify_unwind), 1, 1000000},

	/* Everything else */
	{"verbose", 'v', NULL, "Say more on stderr; -vv: what libbpf says, too", OPT_LEVEL,
	 GROUP_OTHER, FIELD(verbose), REPORT_DIFF},
	{"help", 'h', NULL, "Print this help and exit", .type = OPT_HELP, .group = GROUP_OTHER,
	 REPORT_DIFF},
	{"version", 'V', NULL, "Print the version and exit", .type = OPT_VERSION,
	 .group = GROUP_OTHER, REPORT_DIFF},
};

const struct option_example option_usages[] = {
	{"[OPTION...] [INTERVAL [COUNT]]", "kernel allocations"},
	{"[OPTION...] -p PID[,PID...] [INTERVAL [COUNT]]", "a running process"},
	{"[OPTION...] -A [INTERVAL [COUNT]]", "all processes; --comm, --cgroup: some"},
	{"[OPTION...] [INTERVAL [COUNT]] -- CMD [ARG...]",
	 "a new process, from its first allocation"},
	{"report [OPTION...] FILE[@TIME]", "what --record wrote: its last report"},
	{"diff [OPTION...] FILE[@TIME] FILE[@TIME]", "what is new, grown, shrunk or gone"},
	{NULL, NULL},
};

const struct option_example option_examples[] = {
	{"5", "the kernel: a report every 5 seconds"},
	{"-p 4711", "a report every 5 seconds, until Ctrl-C"},
	{"-K -p 4711", "its kernel memory beside its own"},
	{"-p 4711 10 3", "three reports, 10 seconds apart"},
	{"-p 4711 -d 60 10", "a report every 10 seconds, for a minute"},
	{"-p 4711,4712 --summary -T 3", "and what each of them allocates and frees"},
	{"-A --by process --summary", "which processes of the system hold the memory"},
	{"--cgroup nginx.service -T 3", "a service, whichever processes it has"},
	{"-f -- make", "a command and all that it starts"},
	{"-p 4711 --by thread", "which threads hold the memory"},
	{"--count=process -A 5", "who calls allocators how often: the cheapest view"},
	{"-p 4711 --sort growth -T 3", "the three stacks that grew most"},
	{"-a -- ./server --port 80", "a new process; each block under its stack"},
	{"-s 100 -p 4711", "a busy process: one allocation in a hundred"},
	{"--sample-bytes 512k -p 4711", "the same by bytes: large blocks matter more"},
	{"--json --output leaks.json -p 4711", "one JSON object per report, into a file"},
	{"--record run1.mlk -p 4711", "and keep all of it for later"},
	{"report --sort growth run1.mlk", "the last report of it, in another order"},
	{"diff run1.mlk@60 run1.mlk", "what has changed since its first minute"},
	{"--format pprof --output heap.gz -p 4711", "a profile for go tool pprof"},
	{"--format folded -p 4711 60 1", "a minute, to be made into a flame graph"},
	{"--error-exitcode 9 -- ./test", "9 if ./test ends with memory outstanding"},
	{NULL, NULL},
};
