/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Describes the options as a table for the parser, the help, the man page and the completion
 * scripts.
 */
#ifndef OPTIONS_TABLE_H
#define OPTIONS_TABLE_H

#include "options/options.h"

enum option_type {
	OPT_FLAG,   /* bool */
	OPT_LEVEL,  /* unsigned int; each use of the option adds 1 */
	OPT_NUMBER, /* uint32_t from min to max */
	OPT_CODE,   /* int from min to max */
	/*
	 * uint64_t bytes, optionally with a suffix k, M or G; from min to max, or any number if max
	 * is 0
	 */
	OPT_SIZE,
	OPT_AGE,     /* uint64_t nanoseconds, given in milliseconds */
	OPT_SECONDS, /* uint64_t nanoseconds, given in seconds */
	OPT_GROWTH,  /* struct growth_limit, given as a size per s, min or h */
	OPT_PERCENT, /* uint32_t units of 0.01 %, given in percent */
	OPT_STRING,  /* const char *, not an empty string */
	OPT_PIDS,    /* stored in several fields of struct options */
	OPT_COMMAND, /* stored in several fields of struct options */
	OPT_LISTEN,  /* struct listen_address */
	OPT_ALLOC,   /* stored in several fields of struct options */
	OPT_FREE,    /* stored in several fields of struct options */
	OPT_OWN,     /* stored in several fields of struct options */
	OPT_RULES,   /* struct suppressions */
	OPT_CHOICE,  /* an enum: min plus the index of the word among the choices */
	OPT_PRESET,  /* an enum: the value is always min */
	OPT_HELP,
	OPT_VERSION,
	OPT_TYPE_CNT,
};

enum option_group { GROUP_TARGET, GROUP_FILTER, GROUP_REPORT, GROUP_LIMIT, GROUP_OTHER, GROUP_CNT };

/* Kinds of words that a shell's completion can offer for an argument */
enum option_words { WORDS_NONE, WORDS_PID, WORDS_COMMAND, WORDS_FILE };

struct option_def {
	const char *name;
	char letter;         /* short name; 0 if there is none */
	const char *metavar; /* name of the argument in the help; NULL if there is no argument */
	const char *help;    /* one or more sentences, without the full stop at the end */
	enum option_type type;
	enum option_group group;
	size_t offset; /* offset of the value in struct options */
	uint64_t min;
	uint64_t max;
	/* words that the option accepts, in the order of the enum, with NULL at the end */
	const char *const *choices;
	enum option_words words;
	/* Commands other than tracing that support the option: a set of bits 1 << enum mode. */
	unsigned int offline;
	/*
	 * true if the argument may be left out, and otherwise follows a '='; its default is the
	 * first choice
	 */
	bool optional;
};

/* Names of the commands; NULL for tracing, which has no name */
extern const char *const mode_names[MODE_CNT];
/* The command "memleak top", which stands for --live and can also show a recording */
#define TOP_WORD "top"

/* Maximum number of options in the table, checked at compile time */
#define OPTIONS_MAX 96

extern const struct option_def option_table[];
extern const int option_cnt;

/*
 * True if the named option is on the command line. `given` tells this for each option of the table.
 */
bool option_is_given(const bool *given, const char *name);

extern const char *const option_group_names[GROUP_CNT];

const char *option_format_word(enum output_format format);

/*
 * A command line without "memleak", and its description. The last element of an array has NULL as
 * its arguments.
 */
struct option_example {
	const char *arguments;
	const char *text;
};
extern const struct option_example option_usages[];
extern const struct option_example option_examples[];
/* The most common command lines, for the short help */
extern const struct option_example option_briefs[];

#endif
