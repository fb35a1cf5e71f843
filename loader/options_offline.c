// SPDX-License-Identifier: GPL-2.0-or-later
/* The command lines of work on recordings: memleak report, memleak diff. */
#include <string.h>

#include "loader/log.h"
#include "loader/options_table.h"

#define HINT "; try 'memleak --help'"

enum work options_work_of(int argc, char **argv)
{
	for (int i = WORK_REPORT; i < WORK_CNT && argc > 1; i++)
		if (!strcmp(argv[1], work_names[i]))
			return (enum work)i;
	return WORK_TRACE;
}

/* How many there must be is checked when all are known. */
void options_take_file(struct options *opts, const char *arg)
{
	if (opts->file_cnt < sizeof(opts->files) / sizeof(opts->files[0]))
		opts->files[opts->file_cnt] = arg;
	opts->file_cnt++;
}

/* Diffs have a form of their own, which the other formats cannot have. */
static bool can_format(const struct options *opts)
{
	return opts->work != WORK_DIFF || opts->format <= FORMAT_JSON;
}

/* What would change nothing, and why; NULL: nothing is. */
static const char *without_effect(const struct options *opts, const bool *given)
{
	if (opts->all && opts->format > FORMAT_CSV)
		return "--all is for text, json and csv: in the other formats a file holds one "
		       "report";
	if (option_is_given(given, "summary-sort") && !opts->summary)
		return "--summary-sort is the order of --summary, which is not given";
	if (opts->max_records && opts->by == BY_STACK && !opts->summary && !opts->largest)
		return "--max-records is for --by, --summary and --largest: give one of them";
	return NULL;
}

enum options_result options_check_offline(const struct options *opts, const bool *given,
					  bool dashes)
{
	const char *word = work_names[opts->work];
	size_t wanted = opts->work == WORK_DIFF ? 2 : 1;

	for (int i = 0; i < OPTION_CNT; i++) {
		if (!given[i] || option_table[i].offline & 1U << opts->work)
			continue;
		log_error("option --%s: 'memleak %s' does not take it" HINT, option_table[i].name,
			  word);
		return OPTIONS_EXIT_USAGE;
	}
	if (dashes)
		log_error("'memleak %s' runs no command" HINT, word);
	else if (opts->file_cnt != wanted)
		log_error("'memleak %s' needs %s" HINT, word,
			  wanted == 1 ? "one recording: FILE or FILE@TIME"
				      : "two recordings, or one twice: FILE or FILE@TIME");
	else if (opts->work == WORK_DIFF && opts->sort == SORT_SCORE)
		log_error("'memleak %s' knows no scores: --sort takes size, count or growth" HINT,
			  word);
	else if (!can_format(opts))
		log_error("'memleak %s' is text or json" HINT, word);
	else if (without_effect(opts, given))
		log_error("%s" HINT, without_effect(opts, given));
	else
		return OPTIONS_RUN;
	return OPTIONS_EXIT_USAGE;
}
