// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses the command line into struct options. Logs one line about the first error. */
#include "options/parse.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/proc.h"
#include "bpf/memleak.h"
#include "options/conflicts.h"
#include "options/help.h"
#include "options/table.h"
#include "options/values.h"

/*
 * Values that getopt_long() returns: LONG_BASE + i for the long option i of the table, POSITIONAL
 * for a positional argument, and a letter for a short option
 */
#define LONG_BASE 256
#define POSITIONAL 1

#define NSEC_PER_SEC 1000000000ULL
/*
 * Minimum interval in seconds that is suspected to be a pid given without -p. Shorter intervals are
 * too common.
 */
#define PID_SECONDS 300

struct parser {
	struct options *opts;
	bool given[OPTIONS_MAX];
	unsigned int positional_cnt;
	bool briefly; /* true if the short help was requested (-h), and not the full one (--help) */
	struct option longs[OPTIONS_MAX + 1];
	char letters[2 + 2 * OPTIONS_MAX + 1];
};

/*
 * Fills the option tables for getopt_long(). The option string begins with "-:". Because of the
 * '-', getopt returns positional arguments in order and does not move them to the end of argv; so,
 * at the end, optind is the index of the word after "--". Because of the ':', getopt returns ':'
 * for a missing argument, and '?' for all other errors.
 */
static void parser_init(struct parser *p, struct options *opts)
{
	char *at = p->letters;

	memset(p, 0, sizeof(*p));
	p->opts = opts;
	*at++ = '-';
	*at++ = ':';
	for (int i = 0; i < option_cnt; i++) {
		const struct option_def *def = &option_table[i];

		p->longs[i].name = def->name;
		p->longs[i].has_arg = !def->metavar   ? no_argument
				      : def->optional ? optional_argument
						      : required_argument;
		p->longs[i].val = LONG_BASE + i;
		if (!def->letter)
			continue;
		*at++ = def->letter;
		if (def->metavar)
			*at++ = ':';
	}
}

static const struct option_def *find_option(int val)
{
	if (val >= LONG_BASE && val < LONG_BASE + option_cnt)
		return &option_table[val - LONG_BASE];
	for (int i = 0; i < option_cnt; i++)
		if (option_table[i].letter && option_table[i].letter == val)
			return &option_table[i];
	return NULL;
}

static enum options_result out_of_memory(void)
{
	log_error("out of memory while reading the command line");
	return OPTIONS_EXIT_FAILED;
}

static enum options_result bad_option(const struct option_def *def, const char *why)
{
	if (!why)
		return out_of_memory();
	log_error("option --%s: %s" HELP_HINT, def->name, why);
	return OPTIONS_EXIT_USAGE;
}

/*
 * Flushes stdout. If the help or the version could not be printed, for example because the disk is
 * full, logs an error.
 */
static enum options_result end_of_output(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return OPTIONS_EXIT_OK;
	log_error("cannot write to stdout: %s", strerror(errno));
	return OPTIONS_EXIT_FAILED;
}

static enum options_result take_option(struct parser *p, const struct option_def *def)
{
	cleanup_free char *why = NULL;

	if (def->type == OPT_HELP) {
		if (p->briefly)
			options_print_brief_help(stdout);
		else
			options_print_help(stdout, p->opts->mode);
		return end_of_output();
	}
	if (def->type == OPT_VERSION) {
		puts("memleak " MEMLEAK_VERSION);
		return end_of_output();
	}
	if (option_store(def, optarg, p->opts, &why))
		return bad_option(def, why);
	p->given[def - option_table] = true;
	return OPTIONS_RUN;
}

/*
 * Stores the name of a file. If there are too many files, only counts them: the number is checked
 * after all arguments have been parsed.
 */
static void take_file(struct options *opts, const char *arg)
{
	if (opts->file_cnt < sizeof(opts->files) / sizeof(opts->files[0]))
		opts->files[opts->file_cnt] = arg;
	opts->file_cnt++;
}

static enum options_result take_positional(struct parser *p, const char *arg)
{
	const char *const commands[] = {mode_names[MODE_REPORT], mode_names[MODE_DIFF],
					mode_names[MODE_CORE], TOP_WORD};
	cleanup_free char *why = NULL;
	const char *meant;
	int err;

	if (p->opts->mode) {
		take_file(p->opts, arg);
		return OPTIONS_RUN;
	}
	if (p->positional_cnt >= 2) {
		log_error("unexpected argument '%s' (to run a command, put it after --)" HELP_HINT,
			  arg);
		return OPTIONS_EXIT_USAGE;
	}
	if (p->positional_cnt++ == 0)
		err = option_store_interval(arg, p->opts, &why);
	else
		err = option_store_count(arg, p->opts, &why);
	if (!err)
		return OPTIONS_RUN;
	if (!why)
		return out_of_memory();
	meant = nearest_word(arg, strlen(arg), commands, sizeof(commands) / sizeof(*commands));
	if (p->positional_cnt == 1 && meant)
		log_error("'%s' is unknown: did you mean 'memleak %s'?" HELP_HINT, arg, meant);
	else
		log_error("%s: %s (to run a command, put it after --)" HELP_HINT,
			  p->positional_cnt == 1 ? "INTERVAL" : "COUNT", why);
	return OPTIONS_EXIT_USAGE;
}

/*
 * Logs that an option is unknown, ambiguous, or takes no argument. `arg` is the word that getopt
 * has just parsed.
 */
static enum options_result unknown_option(const char *arg)
{
	size_t len = strcspn(arg, "=");
	const struct option_def *def = find_option(optopt);
	const char *names[OPTIONS_MAX], *meant;
	unsigned int matches = 0;

	if (strncmp(arg, "--", 2) != 0) {
		log_error("unknown option '-%c'" HELP_HINT, optopt);
		return OPTIONS_EXIT_USAGE;
	}
	if (def && !def->metavar && arg[len]) {
		log_error("option --%s takes no argument" HELP_HINT, def->name);
		return OPTIONS_EXIT_USAGE;
	}
	for (int i = 0; i < option_cnt; i++) {
		names[i] = option_table[i].name;
		matches += strncmp(names[i], arg + 2, len - 2) == 0;
	}
	meant = nearest_word(arg + 2, len - 2, names, (size_t)option_cnt);
	if (matches > 1)
		log_error("ambiguous option '%.*s'" HELP_HINT, (int)len, arg);
	else if (meant)
		log_error("unknown option '%.*s': did you mean --%s?" HELP_HINT, (int)len, arg,
			  meant);
	else
		log_error("unknown option '%.*s'" HELP_HINT, (int)len, arg);
	return OPTIONS_EXIT_USAGE;
}

static enum options_result missing_argument(void)
{
	const struct option_def *def = find_option(optopt);

	log_error("option --%s needs %s" HELP_HINT, def ? def->name : "?",
		  def ? def->metavar : "?");
	return OPTIONS_EXIT_USAGE;
}

/*
 * Parses all arguments before "--". Sets *dashes to true if there is a "--"; optind is then the
 * index of the word after it.
 */
static enum options_result take_arguments(struct parser *p, int argc, char **argv, bool *dashes)
{
	/* If optind is 0, getopt of glibc and of musl starts anew, with the new option string. */
	optind = 0;
	opterr = 0;
	for (;;) {
		int before = optind ? optind : 1;
		int val = getopt_long(argc, argv, p->letters, p->longs, NULL);
		const struct option_def *def = val >= 0 ? find_option(val) : NULL;
		enum options_result result;

		if (val < 0) {
			*dashes = before < argc;
			return OPTIONS_RUN;
		}
		if (val == POSITIONAL)
			result = take_positional(p, optarg);
		else if (val == ':')
			result = missing_argument();
		else if (!def)
			result = unknown_option(argv[before]);
		else {
			p->briefly = val == def->letter;
			result = take_option(p, def);
		}
		if (result != OPTIONS_RUN)
			return result;
	}
}

/* Copies the command, whose words begin after "--" and end with the NULL of argv. */
static enum options_result take_command(struct options *opts, char *const *words)
{
	size_t cnt = 0;

	if (opts->command) {
		log_error("a command is given twice, by --command and after --" HELP_HINT);
		return OPTIONS_EXIT_USAGE;
	}
	if (!words[0] || !*words[0]) {
		log_error("the command after -- is %s" HELP_HINT, words[0] ? "empty" : "missing");
		return OPTIONS_EXIT_USAGE;
	}
	while (words[cnt])
		cnt++;
	opts->command = calloc(cnt + 1, sizeof(*opts->command));
	if (!opts->command)
		return out_of_memory();
	for (size_t i = 0; i < cnt; i++) {
		opts->command[i] = strdup(words[i]);
		if (!opts->command[i])
			return out_of_memory();
	}
	return OPTIONS_RUN;
}

/* Makes the tables in the kernel as small as possible, because --count stores no blocks. */
static void keep_nothing(struct options *opts)
{
	opts->unwind = MEMLEAK_UNWIND_FP;
	opts->max_allocs = 1;
	opts->stack_storage_size = 1;
}

/* Sets defaults that depend on other options. */
static void set_defaults(const struct parser *p)
{
	struct options *opts = p->opts;

	if (opts->by == BY_PIN) {
		opts->by = BY_STACK;
		opts->sort = SORT_PINNED;
	}
	opts->older_given = option_is_given(p->given, "older");
	opts->top_given = option_is_given(p->given, "top");
	opts->prove |= opts->census || option_is_given(p->given, "prove-every");
	if (opts->combined_only && !opts->older_given)
		opts->older_ns = 0;
	/*
	 * On the screen, show all stacks, because users can scroll. By default, also show all
	 * stacks in formats that other programs read, such as CSV, but not in text, JSON and the
	 * verdict.
	 */
	if (opts->live ||
	    (!format_shows_all(opts->format) && opts->format != FORMAT_VERDICT && !opts->top_given))
		opts->top = UINT32_MAX;
}

/*
 * True if INTERVAL is probably a pid given without -p: "memleak 25571" would make a report of the
 * kernel every seven hours. This is assumed if a process has this pid, no COUNT is given, and the
 * interval is a whole number of seconds, at least PID_SECONDS, but no whole number of minutes. Logs
 * the error.
 */
static bool interval_is_pid(const struct parser *p)
{
	const struct options *opts = p->opts;
	uint64_t seconds = opts->interval_ns / NSEC_PER_SEC;
	cleanup_free char *comm = NULL;

	if (opts->mode != MODE_TRACE || options_trace_processes(opts) || p->positional_cnt != 1 ||
	    opts->interval_ns % NSEC_PER_SEC || seconds < PID_SECONDS || seconds % 60 == 0 ||
	    seconds > INT_MAX)
		return false;
	comm = proc_comm((pid_t)seconds);
	if (!comm)
		return false;
	log_error("%" PRIu64 " is the pid of %s: give -p %" PRIu64 " to trace it, or %" PRIu64
		  ".001 to trace the kernel at this interval" HELP_HINT,
		  seconds, comm, seconds, seconds);
	return true;
}

static enum mode mode_of(int argc, char **argv)
{
	for (int i = MODE_REPORT; i < MODE_CNT && argc > 1; i++)
		if (!strcmp(argv[1], mode_names[i]))
			return (enum mode)i;
	return MODE_TRACE;
}

/*
 * True if "memleak top" is to show a recording: the next word is neither an option nor a number, so
 * it is the name of a file.
 */
static bool top_has_file(int argc, char **argv)
{
	return argc > 2 && *argv[2] != '-' && argv[2][strspn(argv[2], "0123456789.")];
}

enum options_result options_parse(int argc, char **argv, struct options *ret)
{
	bool is_top = argc > 1 && !strcmp(argv[1], TOP_WORD);
	enum mode mode = is_top && top_has_file(argc, argv) ? MODE_REPORT : mode_of(argc, argv);
	/* number of words of argv to skip: the name of the command, if there is one */
	int skipped = mode != MODE_TRACE || is_top;
	struct parser parser;
	bool dashes = false;
	enum options_result result;

	*ret = (struct options){
		.older_ns = 500000000,
		.sample_rate = 1,
		.prove_every = 1,
		.top = 10,
		.max_size = UINT64_MAX,
		.sort = SORT_SIZE,
		.stack_depth = MEMLEAK_DEFAULT_STACK_DEPTH,
		.format = FORMAT_TEXT,
		.interval_ns = 5000000000,
		.mode = mode,
		.live = is_top,
	};
	parser_init(&parser, ret);
	result = take_arguments(&parser, argc - skipped, argv + skipped, &dashes);
	if (result == OPTIONS_RUN && dashes && !mode)
		result = take_command(ret, argv + skipped + optind);
	if (result != OPTIONS_RUN)
		return result;
	set_defaults(&parser);
	if (!options_agree(ret, parser.given, dashes) || interval_is_pid(&parser))
		return OPTIONS_EXIT_USAGE;
	ret->refused = options_refused(ret, parser.given);
	if (ret->count_by)
		keep_nothing(ret);
	return OPTIONS_RUN;
}
