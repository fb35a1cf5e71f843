// SPDX-License-Identifier: GPL-2.0-or-later
/* Defines the options: names, help, types and groups. */
#include "options/table.h"

#include <string.h>

#include "bpf/exponential.h"
#include "bpf/memleak.h"

#define FIELD(member) .offset = offsetof(struct options, member)
#define MAX_STACKS (1U << 24)
#define REPORT .offline = 1 << MODE_REPORT
#define REPORT_DIFF .offline = 1 << MODE_REPORT | 1 << MODE_DIFF
#define REPORT_CORE .offline = 1 << MODE_REPORT | 1 << MODE_CORE
#define OFFLINE .offline = 1 << MODE_REPORT | 1 << MODE_DIFF | 1 << MODE_CORE

const char *const mode_names[MODE_CNT] = {
	[MODE_REPORT] = "report", [MODE_DIFF] = "diff", [MODE_CORE] = "core"};

const char *const option_group_names[GROUP_CNT] = {
	[GROUP_TARGET] = "What to trace",  [GROUP_FILTER] = "Which allocations",
	[GROUP_REPORT] = "What to report", [GROUP_LIMIT] = "How much to keep",
	[GROUP_OTHER] = "Everything else",
};

static const char *const format_words[] = {"text",   "bcc",     "json",       "csv",
					   "folded", "pprof",   "speedscope", "heaptrack",
					   "html",   "verdict", NULL};
static const char *const colour_words[] = {"auto", "always", "never", NULL};
static const char *const unwind_words[] = {"auto", "fp", "dwarf", NULL};
static const char *const by_words[] = {"stack",  "process", "module", "thread",
				       "cgroup", "pin",     NULL};
static const char *const count_words[] = {"cgroup", "process", "function", NULL};
static const char *const sort_words[] = {"size", "count", "growth", "score", NULL};
static const char *const summary_sort_words[] = {
	"outstanding", "allocated", "freed", "peak", "largest", "calls", "pid", NULL,
};

#define WORD_CNT(words) (sizeof(words) / sizeof((words)[0]) - 1)
_Static_assert(WORD_CNT(format_words) == FORMAT_CNT, "each format has a word");
_Static_assert(WORD_CNT(by_words) == BY_PIN + 1, "each grouping has a word");

bool option_is_given(const bool *given, const char *name)
{
	for (int i = 0; i < option_cnt; i++)
		if (strcmp(option_table[i].name, name) == 0)
			return given[i];
	return false;
}

const char *option_format_word(enum output_format format)
{
	return format_words[format];
}

const struct option_def option_table[] = {
	/* Options that select what is traced */
	{"pid", 'p', "PID[,PID...]",
	 "Trace these running processes. They are not stopped (but see --prove). A name may be "
	 "given instead of a number if only one process has it",
	 OPT_PIDS, GROUP_TARGET, .words = WORDS_PID},
	{"command", 'c', "CMD",
	 "Run CMD and trace it from its first allocation on. CMD is split into words as by a "
	 "shell, without expansion. PATH is searched. \"-- CMD ARG...\" is the exact form",
	 OPT_COMMAND, GROUP_TARGET, .words = WORDS_COMMAND},
	{"user", 0, "NAME",
	 "Run the command as user NAME, with its group and supplementary groups; the environment "
	 "stays as it is. By default it runs as memleak does",
	 OPT_STRING, GROUP_TARGET, FIELD(user), .words = WORDS_NONE},
	{"all-processes", 'A', NULL,
	 "Trace every process, including those that begin later: one total for each process and "
	 "stack",
	 OPT_FLAG, GROUP_TARGET, FIELD(all_processes)},
	{"comm", 0, "NAME",
	 "Trace the processes with this name, as ps -o comm and /proc/PID/comm show it, "
	 "including those that begin later",
	 OPT_STRING, GROUP_TARGET, FIELD(comm), .words = WORDS_COMMAND},
	{"cgroup", 0, "CGROUP",
	 "Trace the processes of this cgroup and of those below it, including those that begin "
	 "later: its path, the name of a systemd unit, or the id of a container",
	 OPT_STRING, GROUP_TARGET, FIELD(cgroup), .words = WORDS_FILE},
	{"agent", 0, NULL,
	 "Read the account that libmemleak.so keeps in the program: every allocation with its "
	 "whole stack, without root and at a fraction of what probes cost. A command is started "
	 "with the agent; a process of --pid must have been started with LD_PRELOAD=libmemleak.so "
	 "(see Agent)",
	 OPT_FLAG, GROUP_TARGET, FIELD(agent)},
	{"follow", 'f', NULL,
	 "Also trace the children of the processes of --pid or of a command, and their children in "
	 "turn; a forked child begins with copies of its parent's outstanding blocks. As with -A, "
	 "--comm and --cgroup, other programs that use the same libraries are slowed down, too",
	 OPT_FLAG, GROUP_TARGET, FIELD(follow)},
	{"obj", 'O', "PATH",
	 "Probe the allocator in this file. By default it is found among the files that the "
	 "process maps",
	 OPT_STRING, GROUP_TARGET, FIELD(object), .words = WORDS_FILE},
	{"symbols-prefix", 'S', "PREFIX",
	 "The prefix of the allocator's symbols, such as je_. By default it is found", OPT_STRING,
	 GROUP_TARGET, FIELD(symbols_prefix)},
	{"alloc", 0, "FUNC[:SHAPE]",
	 "Also trace FUNC, which allocates memory: a function of the program or of a library, by "
	 "the name of its symbol. SHAPE says how it is called: like malloc (the default), calloc, "
	 "realloc, reallocarray, memalign or posix_memalign; like pool_malloc, pool_calloc, "
	 "pool_realloc or pool_reallocarray if another argument comes before these; like strdup if "
	 "it returns a string, whose length is then the size. May be given several times",
	 OPT_ALLOC, GROUP_TARGET, .words = WORDS_NONE},
	{"free", 0, "FUNC[:SHAPE]",
	 "Also trace FUNC, which frees memory from functions of --alloc: the address is its first "
	 "argument, or its second if SHAPE is pool_free. May be given several times",
	 OPT_FREE, GROUP_TARGET, .words = WORDS_NONE},
	{"kernel", 'K', NULL,
	 "Also trace kernel allocations: those made on behalf of the traced processes. Without a "
	 "process, kernel allocations are traced anyway",
	 OPT_FLAG, GROUP_TARGET, FIELD(kernel)},
	{"fds", 0, NULL,
	 "Trace open descriptors (of files, sockets and the like) instead of memory: show where "
	 "those still open were opened (see Descriptors). Every system call on the machine is "
	 "slowed down a little",
	 OPT_FLAG, GROUP_TARGET, FIELD(fds)},
	{"percpu", 'P', NULL, "Kernel: also trace percpu allocations", OPT_FLAG, GROUP_TARGET,
	 FIELD(percpu)},
	{"movable", 0, NULL,
	 "Kernel: also trace movable pages, which are user memory and the page cache. By default "
	 "they are left out, as kernel code does not own them",
	 OPT_FLAG, GROUP_TARGET, FIELD(movable)},

	{"force", 0, NULL,
	 "Trace even where probes could harm the program: Go programs (only their C code is "
	 "traced), and processes under a seccomp filter on kernels that would kill them",
	 OPT_FLAG, GROUP_TARGET, FIELD(force)},

	/* Options that filter allocations */
	{"min-size", 'z', "SIZE",
	 "Only allocations of at least this size: bytes, or with a suffix k, M or G (powers of "
	 "1024)",
	 OPT_SIZE, GROUP_FILTER, FIELD(min_size)},
	{"max-size", 'Z', "SIZE", "Only allocations of at most this size", OPT_SIZE, GROUP_FILTER,
	 FIELD(max_size)},
	{"older", 'o', "AGE_MS",
	 "Leave out blocks younger than AGE_MS milliseconds (default 500). The final report after "
	 "the target has exited includes all blocks unless --older is given",
	 OPT_AGE, GROUP_FILTER, FIELD(older_ns)},
	{"sample-rate", 's', "N",
	 "Sample one allocation in N, chosen at random (default 1: all). Totals are scaled up and "
	 "marked as estimates",
	 OPT_NUMBER, GROUP_FILTER, FIELD(sample_rate), 1, UINT32_MAX},
	{"sample-bytes", 0, "N",
	 "Take one sample in N bytes on average, with the same suffixes: nearly all large blocks "
	 "are sampled, and few small ones. Totals are estimates, with their standard error",
	 OPT_SIZE, GROUP_FILTER, FIELD(sample_bytes), 1, EXPONENTIAL_MAX_MEAN},
	{"max-overhead", 0, "PERCENT",
	 "Keep the cost of tracing below PERCENT of the processes' CPU time: while it is above, "
	 "sample as --sample-bytes does, with fewer and fewer samples. End tracing with a final "
	 "report if that does not suffice (see What it costs)",
	 OPT_PERCENT, GROUP_FILTER, FIELD(max_overhead)},
	{"wa-missing-free", 'F', NULL,
	 "Kernel: every allocation event first frees any block already tracked at its address, "
	 "even if the event itself is filtered out or not sampled. The report counts such repairs",
	 OPT_FLAG, GROUP_FILTER, FIELD(wa_missing_free)},
	{"warmup", 0, "SECONDS",
	 "Leave out what was allocated in the first SECONDS of tracing; fractions are allowed",
	 OPT_SECONDS, GROUP_FILTER, FIELD(warmup_ns)},
	{"suppressions", 0, "FILE",
	 "Leave out the stacks that FILE names, in the form of LeakSanitizer: lines of "
	 "leak:PATTERN, which is compared with the function, the module and the source file of "
	 "each frame. May be given several times. The report says how much was left out",
	 OPT_RULES, GROUP_FILTER, FIELD(suppressions), .words = WORDS_FILE, REPORT_CORE},

	/* Options that choose what reports show */
	{"top", 'T', "N",
	 "Show N stacks, or N groups of --by (default 10, on a terminal as many as fit; see "
	 "--format)",
	 OPT_NUMBER, GROUP_REPORT, FIELD(top), 1, UINT32_MAX, OFFLINE},
	{"max-records", 0, "N",
	 "Show at most N processes, modules, threads or cgroups: as groups of the report "
	 "(default: as --top), in the table of --summary (default: all), by --largest and by "
	 "--count",
	 OPT_NUMBER, GROUP_REPORT, FIELD(max_records), 1, UINT32_MAX, REPORT},
	{"by", 0, "WHAT",
	 "Group the report by stack (the default), or by process, module (the program or library "
	 "that asked for the memory), thread or cgroup, each with its top 3 stacks; pin lists "
	 "the stacks by the free memory that glibc cannot return because of their blocks",
	 OPT_CHOICE, GROUP_REPORT, FIELD(by), .choices = by_words, REPORT},
	{"sort", 0, "ORDER",
	 "Order of the stacks: by size (the default) or count of what is outstanding, by growth "
	 "since the previous report, or by score: how much they look like a leak",
	 OPT_CHOICE, GROUP_REPORT, FIELD(sort), .choices = sort_words, OFFLINE},
	{"live", 0, NULL,
	 "Show reports on an interactive screen: order, filter, groups, stacks with their source, "
	 "marks; with a recording, any of its moments (see The live screen)",
	 OPT_FLAG, GROUP_REPORT, FIELD(live), REPORT},
	{"show-allocs", 'a', NULL,
	 "List each outstanding block under its stack: address, size, age, thread", OPT_FLAG,
	 GROUP_REPORT, FIELD(show_allocs), REPORT},
	{"largest", 0, NULL,
	 "Also show the largest outstanding allocation of each process, with its stack", OPT_FLAG,
	 GROUP_REPORT, FIELD(largest), REPORT},
	{"count", 0, "WHAT",
	 "Only count calls of allocator functions for each cgroup (the default), process or "
	 "function: the cheapest view, without blocks, stacks and frees",
	 OPT_CHOICE, GROUP_REPORT, FIELD(count_by), .min = COUNT_BY_CGROUP,
	 .max = COUNT_BY_FUNCTION, .choices = count_words, .optional = true},
	{"peak", 0, NULL,
	 "Also show the stacks of the moment at which the processes had the most memory "
	 "outstanding",
	 OPT_FLAG, GROUP_REPORT, FIELD(peak), REPORT},
	{"stats", 0, NULL,
	 "Also show statistics: calls of each function, stacks walked, how full the tables are, "
	 "and all counters of losses, even those that are zero",
	 OPT_FLAG, GROUP_REPORT, FIELD(stats), REPORT},
	{"summary", 0, NULL,
	 "Add a table of the processes: bytes allocated, freed and outstanding, the peak of these, "
	 "the largest request, and calls. It covers malloc and related functions, from the start "
	 "of the process or of memleak, whichever is later",
	 OPT_FLAG, GROUP_REPORT, FIELD(summary), REPORT},
	{"summary-sort", 0, "WORD",
	 "Order of the table of --summary: the largest value comes first (default outstanding)",
	 OPT_CHOICE, GROUP_REPORT, FIELD(summary_sort), .choices = summary_sort_words, REPORT},
	{"no-default-suppressions", 0, NULL,
	 "Also show what the C and C++ libraries allocate for themselves and keep: stdio "
	 "buffers, locales and the like",
	 OPT_FLAG, GROUP_REPORT, FIELD(no_default_suppressions), REPORT},
	{"own", 0, "PATH",
	 "Blame functions whose file, source or script is PATH or below it, instead of those that "
	 "look like the program's own (see Who is named). May be given several times",
	 OPT_OWN, GROUP_REPORT, .words = WORDS_FILE, REPORT_DIFF},
	{"ended", 0, NULL,
	 "With --all-processes, --comm and --cgroup, also count the memory of processes that have "
	 "ended since the last report; otherwise the report only says how much it was",
	 OPT_FLAG, GROUP_REPORT, FIELD(ended), REPORT},
	{"reserved", 0, NULL,
	 "Show and count address space that is only reserved as if it were memory; otherwise the "
	 "report only says how much it is",
	 OPT_FLAG, GROUP_REPORT, FIELD(reserved), REPORT_DIFF},
	{"why", 0, NULL,
	 "Below each stack, explain its verdict: the results of the tests, and the values they "
	 "require. Also give each growing function a line, not only the five worst",
	 OPT_FLAG, GROUP_REPORT, FIELD(why), REPORT},
	{"prove", 0, NULL,
	 "Find the blocks that nothing in the process's memory points to: they are lost, whatever "
	 "else the program does. For the other blocks, show what holds them (see Proof)",
	 OPT_FLAG, GROUP_REPORT, FIELD(prove)},
	{"prove-every", 0, "N",
	 "Make a proof with every Nth report only (default 1); implies --prove", OPT_NUMBER,
	 GROUP_REPORT, FIELD(prove_every), 1, UINT32_MAX},
	{"census", 0, NULL,
	 "With each proof, also show what is in glibc's heap, by size of chunk: blocks known to "
	 "memleak, older ones, free memory; and the heap's share of the process's memory. Implies "
	 "--prove (see Census)",
	 OPT_FLAG, GROUP_REPORT, FIELD(census), .offline = 1 << MODE_CORE},
	{"rss", 0, NULL,
	 "Print what the resident memory of the processes of --pid is used for (live blocks, kept "
	 "by glibc, files and so on) and exit. Places no probes (see Resident memory)",
	 OPT_FLAG, GROUP_REPORT, FIELD(rss)},
	{"gen-suppressions", 0, NULL,
	 "After each report, print lines for --suppressions: one for the function of each stack "
	 "shown",
	 OPT_FLAG, GROUP_REPORT, FIELD(gen_suppressions), REPORT_CORE},
	{"trace", 't', NULL,
	 "Print one line for each allocation and free as it happens, besides the reports; -tt: "
	 "with the stack of each",
	 OPT_LEVEL, GROUP_REPORT, FIELD(trace)},
	{"combined-only", 'C', NULL,
	 "Keep only totals for each stack, in the kernel: reports over many blocks cost less, "
	 "calls cost the same. Blocks and ages are not kept, so neither --show-allocs nor --older "
	 "works",
	 OPT_FLAG, GROUP_REPORT, FIELD(combined_only)},
	{"format", 0, "FORMAT",
	 "Format of the reports: text (the default); bcc, the text format of bcc's memleak, for "
	 "scripts; json, csv; folded stacks, for flame graphs; a profile for pprof, speedscope or "
	 "heaptrack; html, a page for a browser; or verdict, one short line of JSON. By default "
	 "text, bcc, json and verdict show ten stacks, the other formats all",
	 OPT_CHOICE, GROUP_REPORT, FIELD(format), .choices = format_words, OFFLINE},
	{"all-frames", 0, NULL,
	 "In text, show all frames of each stack, including those of runtimes and those that every "
	 "program has",
	 OPT_FLAG, GROUP_REPORT, FIELD(all_frames), OFFLINE},
	{"source", 0, NULL,
	 "Include source lines in HTML pages, if the files can be read. Off by default, because "
	 "pages are often shared",
	 OPT_FLAG, GROUP_REPORT, FIELD(source)},
	{"color", 0, "WHEN",
	 "Colour text: auto (the default: on a terminal, unless NO_COLOR is set), always or "
	 "never",
	 OPT_CHOICE, GROUP_REPORT, FIELD(colour), .choices = colour_words, OFFLINE},
	{"json", 0, NULL, "The same as --format json", OPT_PRESET, GROUP_REPORT, FIELD(format),
	 .min = FORMAT_JSON, OFFLINE},
	{"duration", 'd', "SECONDS",
	 "End after SECONDS, with a final report; fractions are allowed. An alternative to COUNT",
	 OPT_SECONDS, GROUP_REPORT, FIELD(duration_ns)},
	{"at-bytes", 0, "SIZE",
	 "Print no report until at least SIZE is outstanding (bytes, or with a suffix k, M or G). "
	 "Then print one at once, and go on at each INTERVAL, COUNT times in all. If tracing ends "
	 "earlier, no report is printed (see Waiting for a leak)",
	 OPT_SIZE, GROUP_REPORT, FIELD(at_bytes), 1, UINT64_MAX},
	{"at-growth", 0, "SIZE/TIME",
	 "Like --at-bytes, but wait until what is outstanding grows by SIZE within a second, "
	 "minute or hour: TIME is s, min or h. With both, the first to happen counts",
	 OPT_GROWTH, GROUP_REPORT, FIELD(at_growth)},
	{"output", 0, "FILE",
	 "Write reports to FILE instead of stdout. FILE is emptied when tracing begins; each "
	 "report is appended whole or not at all. In formats that allow one report per file, "
	 "each report replaces the one before, and stdout or a pipe gets only the final one. Only "
	 "you can read a new FILE, also if you use sudo. As root, memleak refuses a FILE, or a "
	 "link to it, that belongs to another user",
	 OPT_STRING, GROUP_REPORT, FIELD(output), .words = WORDS_FILE, OFFLINE},
	{"listen", 0, "ADDRESS",
	 "Also serve the last report over HTTP: / as a page for a browser, /metrics for Prometheus "
	 "and compatible collectors, /report as JSON, /pprof as a profile. ADDRESS is PORT of "
	 "127.0.0.1, which only this machine can reach, ADDR:PORT, where an IPv6 address stands in "
	 "brackets, or unix:PATH[,mode=MODE], a socket that only you can open unless an octal MODE "
	 "allows others",
	 OPT_LISTEN, GROUP_REPORT, FIELD(listen), .words = WORDS_NONE},
	{"record", 0, "FILE",
	 "Also write every snapshot to FILE, with the names in all stacks, for \"memleak "
	 "report\" and \"memleak diff\". FILE is emptied when tracing begins",
	 OPT_STRING, GROUP_REPORT, FIELD(record), .words = WORDS_FILE},
	{"all", 0, NULL, "Report every snapshot of a recording instead of only the last one",
	 OPT_FLAG, GROUP_REPORT, FIELD(all), REPORT},
	{"error-exitcode", 0, "N",
	 "Exit with this code (1 to 255) if anything is outstanding in the last report; with "
	 "--prove or a core, if blocks are definitely lost",
	 OPT_CODE, GROUP_REPORT, FIELD(error_exitcode), 1, 255, REPORT_CORE},

	/* Options that limit how much is stored */
	{"max-memory", 0, "SIZE",
	 "Let the tables of blocks, sites and stacks grow to this size in total (default: 10 % of "
	 "the machine's memory, or less in a memory cgroup). Most of it is allocated only when "
	 "needed, except on old kernels",
	 OPT_SIZE, GROUP_LIMIT, FIELD(max_memory), 1 << 20, UINT64_MAX},
	{"max-allocs", 0, "N",
	 "Track up to N blocks at once (default: as many as --max-memory allows). Further blocks "
	 "are not tracked; the report says how many",
	 OPT_NUMBER, GROUP_LIMIT, FIELD(max_allocs), 1, MEMLEAK_MAX_ALLOCS_CAP},
	{"stack-storage-size", 0, "N",
	 "Keep up to N distinct stacks (default: as many as --max-memory allows); stacks without "
	 "outstanding blocks are evicted",
	 OPT_NUMBER, GROUP_LIMIT, FIELD(stack_storage_size), 1, MAX_STACKS},
	{"perf-max-stack-depth", 0, "N", "Keep up to N frames of each stack (default 127)",
	 OPT_NUMBER, GROUP_LIMIT, FIELD(stack_depth), 1, MEMLEAK_MAX_STACK_DEPTH},
	{"unwind", 0, "METHOD",
	 "How user stacks are walked: by the unwind tables of the program and its libraries "
	 "(dwarf), by frame pointers (fp), or by tables and, in code that has none, by frame "
	 "pointers (auto, the default)",
	 OPT_CHOICE, GROUP_LIMIT, FIELD(unwind), .choices = unwind_words},

	/* All other options */
	{"verbose", 'v', NULL, "Print more on stderr; -vv includes libbpf's messages", OPT_LEVEL,
	 GROUP_OTHER, FIELD(verbose), OFFLINE},
	{"help", 'h', NULL,
	 "Print all options, or those of a command, and exit; -h prints the most common ones",
	 .type = OPT_HELP, .group = GROUP_OTHER, OFFLINE},
	{"version", 'V', NULL, "Print the version and exit", .type = OPT_VERSION,
	 .group = GROUP_OTHER, OFFLINE},
};

const int option_cnt = sizeof(option_table) / sizeof(option_table[0]);

_Static_assert(sizeof(option_table) / sizeof(option_table[0]) <= OPTIONS_MAX,
	       "the parser has room for each option");

const struct option_example option_usages[] = {
	{"[OPTION...] [INTERVAL [COUNT]]", "kernel allocations"},
	{"[OPTION...] -p PID[,PID...] [INTERVAL [COUNT]]", "a running process"},
	{"[OPTION...] -A [INTERVAL [COUNT]]", "all processes, or some: --comm, --cgroup"},
	{"[OPTION...] [INTERVAL [COUNT]] -- CMD [ARG...]",
	 "a new process, from its first allocation"},
	{"report [OPTION...] FILE[@TIME]", "the last report of what --record wrote"},
	{TOP_WORD " [FILE[@TIME]] [OPTION...] [INTERVAL]", "on an interactive screen"},
	{"diff [OPTION...] FILE[@TIME] FILE[@TIME]", "what is new, grown, shrunk or gone"},
	{"core [OPTION...] CORE [EXECUTABLE]", "what is lost in the heap of a core file"},
	{NULL, NULL},
};

const struct option_example option_examples[] = {
	{"5", "the kernel: a report every 5 seconds"},
	{"-p 4711", "a report every 5 seconds, until Ctrl-C"},
	{"-K -p 4711", "its own memory and what the kernel holds for it"},
	{"-p 4711 10 3", "three reports, 10 seconds apart"},
	{"-p 4711 -d 60 10", "a report every 10 seconds, for a minute"},
	{"-p 4711 --at-growth 100M/h 10 1", "one report, when it gains 100 MiB within an hour"},
	{"-p 4711,4712 --summary -T 3", "also what each of them allocates and frees"},
	{"-A --by process --summary", "which processes of the system hold the memory"},
	{"--cgroup nginx.service -T 3", "a service, with all its processes"},
	{"-f -- make", "a command and all that it starts"},
	{"-p 4711 --by thread", "which threads hold the memory"},
	{"--count=process -A 5", "how often processes allocate: the cheapest view"},
	{"--live -p 4711 1", "on a screen, with a report every second; h: help"},
	{"-p 4711 --sort growth -T 3", "the three stacks that grew most"},
	{"-a -- ./server --port 80", "a new process; each block under its stack"},
	{"-s 100 -p 4711", "a busy process: one allocation in a hundred"},
	{"--sample-bytes 512k -p 4711", "a sample by bytes: large blocks matter more"},
	{"--json --output leaks.json -p 4711", "one JSON object per report, into a file"},
	{"--record run1.mlk -p 4711", "keep every snapshot for later"},
	{"report --sort growth run1.mlk", "the last report of a recording, in another order"},
	{"diff run1.mlk@60 run1.mlk", "what has changed since the first minute"},
	{"core core.4711", "a core file: lost blocks, and what holds the rest"},
	{"--format pprof --output heap.gz -p 4711", "a profile for go tool pprof"},
	{"--format folded -p 4711 60 1", "one minute, as input for a flame graph"},
	{"--error-exitcode 9 -- ./test", "exit code 9 if ./test leaves memory outstanding"},
	{NULL, NULL},
};

const struct option_example option_briefs[] = {
	{"-p, --pid PID|NAME", "a running process; it is not stopped"},
	{"-A, --all-processes", "every process; some: --comm NAME, --cgroup CGROUP"},
	{"-f, --follow", "and its children"},
	{"-K, --kernel", "and what the kernel holds for it"},
	{"--agent", "through libmemleak.so: no root, cheapest"},
	{"-z, --min-size SIZE", "only blocks of at least SIZE; at most: -Z"},
	{"-o, --older AGE_MS", "only blocks of at least that age (default 500)"},
	{"--sample-bytes N", "a sample: cheaper, with estimates"},
	{"--prove", "find out which blocks nothing points to"},
	{"--live", "on an interactive screen"},
	{"-T, --top N", "show N stacks (default 10)"},
	{"--sort ORDER", "by size, count, growth or score"},
	{"--by WHAT", "group by process, module, thread, cgroup or pin"},
	{"-a, --show-allocs", "list each block"},
	{"--format FORMAT", "text, json, html, pprof, folded, csv, ..."},
	{"--output FILE", "write reports to FILE"},
	{"--record FILE", "keep every snapshot for memleak report and diff"},
	{"-d, --duration SECONDS", "end after SECONDS"},
	{"--error-exitcode N", "exit with N if anything is outstanding"},
	{NULL, NULL},
};
