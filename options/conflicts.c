// SPDX-License-Identifier: GPL-2.0-or-later
/* Rejects options that exclude each other, and logs why. */
#include "options/conflicts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "options/help.h"
#include "options/table.h"

/* Options that --live does not support. */
static const char *const beyond_screen[] = {
	"show-allocs", "largest",  "count",     "peak",
	"stats",       "summary",  "census",    "gen-suppressions",
	"why",         "json",     "trace",     "format",
	"output",      "top",      "all",       "max-records",
	"all-frames",  "at-bytes", "at-growth", NULL};

/* Options that --fds does not support. */
static const char *const beyond_fds[] = {"agent",
					 "obj",
					 "symbols-prefix",
					 "alloc",
					 "free",
					 "kernel",
					 "percpu",
					 "movable",
					 "min-size",
					 "max-size",
					 "sample-rate",
					 "sample-bytes",
					 "max-overhead",
					 "suppressions",
					 "live",
					 "show-allocs",
					 "largest",
					 "count",
					 "peak",
					 "stats",
					 "summary",
					 "reserved",
					 "why",
					 "prove",
					 "census",
					 "trace",
					 "combined-only",
					 "listen",
					 "record",
					 "gen-suppressions",
					 "wa-missing-free",
					 "at-bytes",
					 "at-growth",
					 NULL};

/* Options that --count does not support, as it has no blocks. */
static const char *const beyond_count[] = {"min-size",     "max-size",  "older",  "sample-rate",
					   "sample-bytes", "sort",      "warmup", "suppressions",
					   "at-bytes",     "at-growth", NULL};

/* Returns the first of the names whose option is given; NULL if there is none. */
static const char *first_given(const bool *given, const char *const *names)
{
	while (*names && !option_is_given(given, *names))
		names++;
	return *names;
}

/*
 * True if an option that conflicts with --count is in use. Does not check options that only filter
 * or sort: they are in beyond_count.
 */
static bool asks_for_blocks(const struct options *opts)
{
	return opts->trace || opts->show_allocs || opts->combined_only || opts->largest ||
	       opts->peak || opts->stats || opts->summary || opts->gen_suppressions || opts->why ||
	       opts->prove || opts->reserved || opts->error_exitcode || opts->kernel ||
	       opts->by != BY_STACK;
}

/*
 * True if tracing would end before the warm-up has ended, so that even the final report would be
 * empty.
 */
static bool ends_in_warmup(const struct options *opts)
{
	if (!opts->warmup_ns)
		return false;
	return opts->duration_ns
		       ? opts->duration_ns <= opts->warmup_ns
		       : opts->count && opts->count <= opts->warmup_ns / opts->interval_ns;
}

/* Returns the reason why an option conflicts with --agent; NULL if none does. */
static const char *agent_conflict(const struct options *opts, const bool *given)
{
	if (!opts->pid_cnt && !opts->command)
		return "--agent needs a process: give --pid or a command";
	if (opts->pid_cnt && opts->follow)
		return "with --agent, --follow needs a command: it conflicts with --pid";
	if (opts->kernel || opts->combined_only)
		return "--agent conflicts with --kernel and --combined-only";
	if ((opts->peak || opts->summary) && (opts->min_size || opts->max_size != UINT64_MAX))
		return "with --agent, --peak and --summary include all sizes: they conflict with "
		       "--min-size and --max-size";
	if (opts->object || opts->symbols_prefix || opts->custom_function_cnt ||
	    option_is_given(given, "unwind"))
		return "--agent places no probes: it conflicts with -O, -S, --alloc, --free and "
		       "--unwind";
	return NULL;
}

/* Returns the reason why an option conflicts with --combined-only; NULL if none does. */
static const char *combined_conflict(const struct options *opts)
{
	if (opts->show_allocs)
		return "--combined-only keeps no blocks: it conflicts with --show-allocs";
	if (opts->older_given && opts->older_ns)
		return "--combined-only keeps no ages: it conflicts with --older";
	if (opts->warmup_ns)
		return "--combined-only keeps no ages: it conflicts with --warmup";
	if (opts->sample_bytes)
		return "--combined-only keeps no sizes: it conflicts with --sample-bytes";
	if (opts->by == BY_THREAD)
		return "--combined-only keeps no blocks: it conflicts with --by thread";
	if (opts->largest)
		return "--combined-only keeps no blocks: it conflicts with --largest";
	if (opts->prove)
		return "--combined-only keeps no blocks: it conflicts with --prove";
	return NULL;
}

static bool samples(const struct options *opts)
{
	return opts->sample_bytes || opts->sample_rate > 1 || opts->max_overhead;
}

/* Returns the reason why an option conflicts with --max-overhead; NULL if none does. */
static const char *overhead_conflict(const struct options *opts, const bool *given)
{
	if (opts->command)
		return "--max-overhead may end the tracing, which would end a command: start it "
		       "with --agent, which uses no traps, or give --pid";
	if (!opts->pid_cnt)
		return "--max-overhead needs a process: give --pid";
	if (opts->follow || opts->kernel || opts->agent || opts->count_by || opts->combined_only ||
	    opts->trace || option_is_given(given, "sample-rate"))
		return "--max-overhead limits only the cost of heap blocks in the given processes: "
		       "it conflicts with --follow, --kernel, --agent, --count, --combined-only, "
		       "--trace and --sample-rate";
	return NULL;
}

/* Returns the reason why options of a tracing command conflict; NULL if they do not. */
static const char *tracing_conflict(const struct options *opts, const bool *given)
{
	if (opts->pid_cnt && opts->command)
		return "--pid and a command cannot be traced together";
	if (opts->rss && (!opts->pid_cnt || opts->live || opts->prove))
		return "--rss needs --pid, and conflicts with --live and --prove";
	if (opts->user && !opts->command)
		return "--user needs a command";
	if ((opts->pid_cnt || opts->command) && options_find_processes(opts))
		return "--all-processes, --comm and --cgroup conflict with --pid and with a "
		       "command";
	if (opts->all_processes && (opts->comm || opts->cgroup))
		return "--all-processes already includes the processes of --comm and --cgroup";
	if (opts->follow && !options_trace_processes(opts))
		return "--follow needs a process: give --pid or a command";
	if (opts->kernel && (options_find_processes(opts) || opts->follow))
		return "--kernel conflicts with --all-processes, --comm, --cgroup and --follow";
	if (opts->max_overhead && overhead_conflict(opts, given))
		return overhead_conflict(opts, given);
	if (opts->combined_only && combined_conflict(opts))
		return combined_conflict(opts);
	if (opts->sample_bytes && option_is_given(given, "sample-rate"))
		return "--sample-rate and --sample-bytes are two ways to sample: give one";
	if (opts->summary && !options_trace_processes(opts))
		return "--summary needs a process: give --pid or a command";
	if (opts->summary && samples(opts))
		return "--summary counts every block: it conflicts with sampling";
	if (opts->peak && !options_trace_processes(opts))
		return "--peak needs a process: give --pid or a command";
	if (opts->peak && samples(opts))
		return "--peak adds up all blocks: it conflicts with sampling";
	if (opts->count_by && !options_trace_processes(opts))
		return "--count needs a process: give --pid or a command";
	if (opts->count_by && (asks_for_blocks(opts) || first_given(given, beyond_count)))
		return "--count only counts calls: it conflicts with all other views, filters and "
		       "sort orders";
	if (opts->sort == SORT_PINNED && !options_know_all_blocks(opts))
		return "--by pin needs all heap blocks of a single process: give --pid or a "
		       "command, but not --follow, --alloc, --combined-only, sampling or filters "
		       "by size";
	if (opts->prove && !options_trace_processes(opts))
		return "--prove needs a process: give --pid or a command";
	if (opts->prove && samples(opts))
		return "--prove needs every block: it conflicts with sampling";
	if (opts->prove && opts->by == BY_THREAD)
		return "--prove has no results per thread: it conflicts with --by thread";
	if (opts->record && opts->count_by)
		return "--count collects no stacks: it conflicts with --record";
	if (opts->all)
		return "--all works only with 'memleak report'";
	if (opts->agent && agent_conflict(opts, given))
		return agent_conflict(opts, given);
	if (opts->fds && !options_trace_processes(opts))
		return "--fds needs a process: give --pid or a command";
	if (opts->source && ((opts->format != FORMAT_HTML && !opts->listen.len) || opts->count_by))
		return "--source needs a page: give --format html or --listen, without --count";
	if (opts->duration_ns && opts->count)
		return "--duration and COUNT are two ways to end: give one";
	if (ends_in_warmup(opts))
		return "--warmup lasts as long as tracing: there would be nothing to report";
	return NULL;
}

static bool tracing_agrees(const struct options *opts, const bool *given)
{
	const char *conflict = tracing_conflict(opts, given);

	if (conflict)
		log_error("%s" HELP_HINT, conflict);
	else if (opts->min_size > opts->max_size)
		log_error("--min-size %" PRIu64 " is above --max-size %" PRIu64 HELP_HINT,
			  opts->min_size, opts->max_size);
	else
		return true;
	return false;
}

/*
 * True if the command supports the format. `memleak diff` supports only text, JSON and HTML; all
 * other commands support all formats.
 */
static bool can_format(const struct options *opts)
{
	return opts->mode != MODE_DIFF || opts->format == FORMAT_TEXT ||
	       opts->format == FORMAT_JSON || opts->format == FORMAT_HTML;
}

/* Returns the reason why an option would have no effect; NULL if every option has an effect. */
static const char *without_effect(const struct options *opts, const bool *given)
{
	if (opts->all && !format_holds_reports(opts->format))
		return "--all needs text, bcc, json, csv or verdict: the other formats allow one "
		       "report per file";
	if (option_is_given(given, "summary-sort") && !opts->summary)
		return "--summary-sort needs --summary";
	if (opts->max_records && opts->by == BY_STACK && !opts->summary && !opts->largest)
		return "--max-records needs --by, --summary or --largest";
	return NULL;
}

/* Minimum and maximum number of files that each command reads; tracing reads none */
static const struct {
	size_t least, most;
	const char *words;
} files_wanted[MODE_CNT] = {
	[MODE_REPORT] = {1, 1, "one recording: FILE or FILE@TIME"},
	[MODE_DIFF] = {2, 2, "two recordings, or one twice: FILE or FILE@TIME"},
	[MODE_CORE] = {1, 2, "a core file, and optionally the program that dumped it"},
};

static bool recordings_agree(const struct options *opts, const bool *given, bool dashes)
{
	const char *word = mode_names[opts->mode];

	for (int i = 0; i < option_cnt; i++) {
		if (!given[i] || option_table[i].offline & 1U << opts->mode)
			continue;
		log_error("option --%s is not supported by 'memleak %s'" HELP_HINT,
			  option_table[i].name, word);
		return false;
	}
	if (dashes)
		log_error("'memleak %s' cannot run a command" HELP_HINT, word);
	else if (opts->file_cnt < files_wanted[opts->mode].least ||
		 opts->file_cnt > files_wanted[opts->mode].most)
		log_error("'memleak %s' needs %s" HELP_HINT, word, files_wanted[opts->mode].words);
	else if (opts->mode == MODE_CORE && opts->sort != SORT_SIZE && opts->sort != SORT_COUNT)
		log_error("'memleak %s' can sort only by size or count" HELP_HINT, word);
	else if (opts->mode == MODE_DIFF && opts->sort == SORT_SCORE)
		log_error("'memleak %s' can sort only by size, count or growth" HELP_HINT, word);
	else if (!can_format(opts))
		log_error("'memleak %s' prints text, json or html only" HELP_HINT, word);
	else if (opts->live && opts->error_exitcode)
		log_error("'memleak %s --live' does not support --error-exitcode" HELP_HINT, word);
	else if (without_effect(opts, given))
		log_error("%s" HELP_HINT, without_effect(opts, given));
	else
		return true;
	return false;
}

/*
 * Returns an option in use that the requested format does not support; NULL if there is none. Must
 * be called only for formats for which format_shows_all() is false.
 */
static const char *beyond_format(const struct options *opts)
{
	bool is_page = opts->format == FORMAT_HTML;

	return opts->trace                     ? "--trace"
	       : opts->show_allocs && !is_page ? "--show-allocs"
	       : opts->by != BY_STACK          ? "--by"
	       : opts->count_by                ? "--count"
	       : opts->largest                 ? "--largest"
	       : opts->peak && !is_page        ? "--peak"
	       : opts->stats                   ? "--stats"
	       : opts->summary                 ? "--summary"
	       : opts->gen_suppressions        ? "--gen-suppressions"
	       : opts->why                     ? "--why"
					       : NULL;
}

static bool format_has_census(enum output_format format)
{
	return format_shows_all(format) || format == FORMAT_HTML;
}

/*
 * True if options of a tracing command conflict. Does not check formats; --live shows no advice.
 */
static bool conflict(const struct options *opts, const bool *given)
{
	bool by_pin = opts->sort == SORT_PINNED;

	return tracing_conflict(opts, given) || (by_pin && option_is_given(given, "sort")) ||
	       (opts->fds && (by_pin || first_given(given, beyond_fds)));
}

/* Adds an option to those in use. */
static void add(enum advised_option advised, struct options *opts, bool *given)
{
	static const char *const names[ADVISED_CNT] = {
		[ADVISED_SAMPLE_RATE] = "sample-rate",
		[ADVISED_SAMPLE_BYTES] = "sample-bytes",
		[ADVISED_DURATION] = "duration",
		[ADVISED_FOLLOW] = "follow",
		[ADVISED_KERNEL] = "kernel",
		[ADVISED_FDS] = "fds",
		[ADVISED_AGENT] = "agent",
		[ADVISED_BY_PIN] = "by",
	};
	static char *command[] = {NULL};

	for (int i = 0; i < option_cnt; i++)
		given[i] |= !strcmp(option_table[i].name, names[advised]);
	opts->sample_rate = advised == ADVISED_SAMPLE_RATE ? 2 : opts->sample_rate;
	opts->sample_bytes = advised == ADVISED_SAMPLE_BYTES ? 1 : opts->sample_bytes;
	opts->duration_ns = advised == ADVISED_DURATION ? UINT64_MAX : opts->duration_ns;
	opts->follow |= advised == ADVISED_FOLLOW;
	opts->kernel |= advised == ADVISED_KERNEL;
	opts->fds |= advised == ADVISED_FDS;
	opts->sort = advised == ADVISED_BY_PIN ? SORT_PINNED : opts->sort;
	if (advised == ADVISED_AGENT) {
		opts->agent = true;
		opts->pid_cnt = 0;
		opts->command = command;
	}
}

unsigned int options_refused(const struct options *opts, const bool *given)
{
	unsigned int refused = opts->duration_ns ? 1U << ADVISED_DURATION : 0;
	cleanup_free bool *with_given = calloc((size_t)option_cnt, sizeof(*with_given));

	for (int i = 0; with_given && opts->mode == MODE_TRACE && i < ADVISED_CNT; i++) {
		struct options with = *opts;

		memcpy(with_given, given, (size_t)option_cnt * sizeof(*given));
		add((enum advised_option)i, &with, with_given);
		if (conflict(&with, with_given))
			refused |= 1U << i;
	}
	return refused;
}

bool options_agree(const struct options *opts, const bool *given, bool dashes)
{
	bool agree = opts->mode == MODE_TRACE ? tracing_agrees(opts, given)
					      : recordings_agree(opts, given, dashes);

	if (agree && opts->live && first_given(given, beyond_screen)) {
		log_error("--live does not support --%s" HELP_HINT,
			  first_given(given, beyond_screen));
		return false;
	}
	if (agree && opts->fds && first_given(given, beyond_fds)) {
		log_error("--fds traces only descriptors: it conflicts with --%s" HELP_HINT,
			  first_given(given, beyond_fds));
		return false;
	}
	if (agree && opts->sort == SORT_PINNED && option_is_given(given, "sort")) {
		log_error("--by pin also determines the order: it conflicts with --sort" HELP_HINT);
		return false;
	}
	if (agree && opts->fds && opts->sort == SORT_PINNED) {
		log_error("--fds traces only descriptors: it conflicts with --by pin" HELP_HINT);
		return false;
	}
	if (agree && opts->fds && opts->format != FORMAT_TEXT && opts->format != FORMAT_JSON &&
	    opts->format != FORMAT_VERDICT) {
		log_error("--format %s does not support --fds: use text, json or verdict" HELP_HINT,
			  option_format_word(opts->format));
		return false;
	}
	if (agree && opts->live && (opts->by == BY_CGROUP || opts->sort == SORT_PINNED)) {
		log_error("--live does not support --by %s: give stack, process, thread or "
			  "module" HELP_HINT,
			  opts->by == BY_CGROUP ? "cgroup" : "pin");
		return false;
	}
	if (agree && opts->census && !format_has_census(opts->format)) {
		log_error("--format %s does not support --census: use text, json or html" HELP_HINT,
			  option_format_word(opts->format));
		return false;
	}
	if (!agree || format_shows_all(opts->format) || !beyond_format(opts))
		return agree;
	log_error("--format %s does not support %s: use text or json" HELP_HINT,
		  option_format_word(opts->format), beyond_format(opts));
	return false;
}
