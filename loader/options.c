// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the command line into struct options and says in one line what is wrong with it. */
#include "loader/options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>

#include "bpf/memleak.h"
#include "loader/cleanup.h"
#include "loader/log.h"
#include "loader/options_table.h"

#define HINT "; try 'memleak --help'"

/* getopt_long returns these; everything else it may return is a letter. */
#define LONG_BASE 256
#define POSITIONAL 1

struct parser {
	struct options *opts;
	bool given[OPTION_CNT];
	unsigned int positional_cnt;
	struct option longs[OPTION_CNT + 1];
	char letters[2 + 2 * OPTION_CNT + 1];
};

/*
 * The leading '-' makes getopt hand out positional arguments where they stand instead of moving
 * them to the end, so that what follows "--" is known exactly; ':' makes it tell a missing
 * argument from an unknown option.
 */
static void parser_init(struct parser *p, struct options *opts)
{
	char *at = p->letters;

	memset(p, 0, sizeof(*p));
	p->opts = opts;
	*at++ = '-';
	*at++ = ':';
	for (int i = 0; i < OPTION_CNT; i++) {
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
	if (val >= LONG_BASE && val < LONG_BASE + OPTION_CNT)
		return &option_table[val - LONG_BASE];
	for (int i = 0; i < OPTION_CNT; i++)
		if (option_table[i].letter && option_table[i].letter == val)
			return &option_table[i];
	return NULL;
}

static enum options_result out_of_memory(void)
{
	log_error("out of memory while reading the command line");
	return OPTIONS_EXIT_USAGE;
}

static enum options_result bad_option(const struct option_def *def, const char *why)
{
	if (!why)
		return out_of_memory();
	log_error("option --%s: %s" HINT, def->name, why);
	return OPTIONS_EXIT_USAGE;
}

/* Not even help may fail unseen: stdout may be a full disk. */
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
		options_print_help(stdout);
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

static enum options_result take_positional(struct parser *p, const char *arg)
{
	cleanup_free char *why = NULL;
	int err;

	if (p->opts->work) {
		options_take_file(p->opts, arg);
		return OPTIONS_RUN;
	}
	if (p->positional_cnt >= 2) {
		log_error("'%s' is one argument too many (a command goes after --)" HINT, arg);
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
	log_error("%s: %s (a command goes after --)" HINT,
		  p->positional_cnt == 1 ? "INTERVAL" : "COUNT", why);
	return OPTIONS_EXIT_USAGE;
}

/* getopt says no more than "?"; arg is the argument that it was looking at. */
static enum options_result unknown_option(const char *arg)
{
	size_t len = strcspn(arg, "=");
	const struct option_def *def = find_option(optopt);
	unsigned int matches = 0;

	if (strncmp(arg, "--", 2) != 0) {
		log_error("unknown option '-%c'" HINT, optopt);
		return OPTIONS_EXIT_USAGE;
	}
	if (def && !def->metavar && arg[len]) {
		log_error("option --%s takes no argument" HINT, def->name);
		return OPTIONS_EXIT_USAGE;
	}
	for (int i = 0; i < OPTION_CNT; i++)
		matches += strncmp(option_table[i].name, arg + 2, len - 2) == 0;
	log_error("%s option '%.*s'" HINT, matches > 1 ? "ambiguous" : "unknown", (int)len, arg);
	return OPTIONS_EXIT_USAGE;
}

static enum options_result missing_argument(void)
{
	const struct option_def *def = find_option(optopt);

	log_error("option --%s needs %s" HINT, def ? def->name : "?", def ? def->metavar : "?");
	return OPTIONS_EXIT_USAGE;
}

/* Returns with optind at the first word after "--", and *dashes telling whether there was one. */
static enum options_result take_arguments(struct parser *p, int argc, char **argv, bool *dashes)
{
	optind = 0; /* glibc and musl: start anew, with what this optstring says */
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
		else
			result = take_option(p, def);
		if (result != OPTIONS_RUN)
			return result;
	}
}

/* words: what follows "--", up to argv's NULL. */
static enum options_result take_command(struct options *opts, char *const *words)
{
	size_t cnt = 0;

	if (opts->command) {
		log_error("a command is given twice, by --command and after --" HINT);
		return OPTIONS_EXIT_USAGE;
	}
	if (!words[0] || !*words[0]) {
		log_error("the command after -- is %s" HINT, words[0] ? "empty" : "missing");
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

/* What is asked for that text and JSON alone can tell; NULL: nothing. */
static const char *beyond_format(const struct options *opts)
{
	return opts->trace              ? "--trace"
	       : opts->show_allocs      ? "--show-allocs"
	       : opts->by != BY_STACK   ? "--by"
	       : opts->count_by         ? "--count"
	       : opts->largest          ? "--largest"
	       : opts->peak             ? "--peak"
	       : opts->stats            ? "--stats"
	       : opts->summary          ? "--summary"
	       : opts->gen_suppressions ? "--gen-suppressions"
					: NULL;
}

/* Only text and JSON are cut by default, and tell more than stacks. */
static enum options_result settle_format(const struct parser *p)
{
	struct options *opts = p->opts;

	if (opts->format <= FORMAT_JSON)
		return OPTIONS_RUN;
	if (!option_is_given(p->given, "top"))
		opts->top = UINT32_MAX;
	if (!beyond_format(opts))
		return OPTIONS_RUN;
	log_error("--format %s has no place for %s: text and json have" HINT,
		  option_format_word(opts->format), beyond_format(opts));
	return OPTIONS_EXIT_USAGE;
}

/* No more room is taken than the tables need to be there. */
static void keep_nothing(struct options *opts)
{
	opts->unwind = MEMLEAK_UNWIND_FP;
	opts->verify_unwind = 0;
	opts->max_allocs = 1;
	opts->stack_storage_size = 1;
}

/* Of those that are found there are many, which have stacks of their own. */
#define MANY_PROCESSES_STACKS 4

static enum options_result check_together(const struct parser *p)
{
	const struct options *opts = p->opts;
	const char *wrong = options_conflict(opts, p->given);

	if (wrong) {
		log_error("%s" HINT, wrong);
		return OPTIONS_EXIT_USAGE;
	}
	if (opts->min_size > opts->max_size) {
		log_error("--min-size %" PRIu64 " is above --max-size %" PRIu64 HINT,
			  opts->min_size, opts->max_size);
		return OPTIONS_EXIT_USAGE;
	}
	return OPTIONS_RUN;
}

enum options_result options_parse(int argc, char **argv, struct options *ret)
{
	struct parser parser;
	bool dashes = false;
	enum options_result result;

	*ret = (struct options){
		.older_ns = 500000000,
		.sample_rate = 1,
		.top = 10,
		.max_size = UINT64_MAX,
		.sort = SORT_SIZE,
		.stack_storage_size = 16384,
		.stack_depth = MEMLEAK_DEFAULT_STACK_DEPTH,
		.max_allocs = 1000000,
		.format = FORMAT_TEXT,
		.interval_ns = 5000000000,
		.work = options_work_of(argc, argv),
	};
	parser_init(&parser, ret);
	if (ret->work)
		result = take_arguments(&parser, argc - 1, argv + 1, &dashes);
	else
		result = take_arguments(&parser, argc, argv, &dashes);
	if (result == OPTIONS_RUN && ret->work) {
		result = options_check_offline(ret, parser.given, dashes);
		return result == OPTIONS_RUN ? settle_format(&parser) : result;
	}
	if (result == OPTIONS_RUN && dashes)
		result = take_command(ret, argv + optind);
	if (result != OPTIONS_RUN)
		return result;
	ret->older_given = option_is_given(parser.given, "older");
	if (options_find_processes(ret) && !option_is_given(parser.given, "stack-storage-size"))
		ret->stack_storage_size *= MANY_PROCESSES_STACKS;
	if (ret->combined_only && !ret->older_given)
		ret->older_ns = 0;
	result = check_together(&parser);
	if (result == OPTIONS_RUN)
		result = settle_format(&parser);
	if (ret->count_by)
		keep_nothing(ret);
	return result;
}

void options_deinit(struct options *opts)
{
	free(opts->pids);
	for (size_t i = 0; i < opts->pool_function_cnt; i++)
		free(opts->pool_functions[i].name);
	free(opts->pool_functions);
	suppressions_deinit(&opts->suppressions);
	words_free(opts->command);
	memset(opts, 0, sizeof(*opts));
}
