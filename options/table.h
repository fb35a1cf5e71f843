/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options as a table, which the parser, help, man page and completion read. */
#ifndef OPTIONS_TABLE_H
#define OPTIONS_TABLE_H

#include "options/options.h"

enum option_type {
	OPT_FLAG,    /* bool */
	OPT_LEVEL,   /* unsigned int, one more each time */
	OPT_NUMBER,  /* uint32_t from min to max */
	OPT_CODE,    /* int from min to max */
	OPT_SIZE,    /* uint64_t bytes, k M G; from min to max, unless max is 0 */
	OPT_AGE,     /* uint64_t nanoseconds, given in milliseconds */
	OPT_SECONDS, /* uint64_t nanoseconds, given in seconds */
	OPT_STRING,  /* const char *, not empty */
	OPT_PIDS,    /* struct options as a whole */
	OPT_COMMAND, /* struct options as a whole */
	OPT_LISTEN,  /* struct listen_address */
	OPT_ALLOC,   /* struct options as a whole */
	OPT_FREE,    /* struct options as a whole */
	OPT_OWN,     /* struct options as a whole */
	OPT_RULES,   /* struct suppressions */
	OPT_CHOICE,  /* an enum, by the word's place in choices, counted from min */
	OPT_PRESET,  /* an enum, always min */
	OPT_HELP,
	OPT_VERSION,
	OPT_TYPE_CNT,
};

enum option_group { GROUP_TARGET, GROUP_FILTER, GROUP_REPORT, GROUP_LIMIT, GROUP_OTHER, GROUP_CNT };

/* What a shell may offer for the argument. */
enum option_words { WORDS_NONE, WORDS_PID, WORDS_COMMAND, WORDS_FILE };

struct option_def {
	const char *name;
	char letter;         /* 0: none */
	const char *metavar; /* NULL: takes no argument */
	const char *help;    /* one sentence or more without the last full stop */
	enum option_type type;
	enum option_group group;
	size_t offset; /* in struct options */
	uint64_t min;
	uint64_t max;
	const char *const *choices; /* NULL-terminated, in the enum's order */
	enum option_words words;
	unsigned int offline; /* commands that take it, too: 1 << enum mode */
	bool optional; /* the argument, which follows a '='; without one it is the first choice */
};

/* The words that commands begin with; NULL: tracing has none. */
extern const char *const mode_names[MODE_CNT];

/* Room for so many options; more do not compile. */
#define OPTIONS_MAX 96

extern const struct option_def option_table[];
extern const int option_cnt;

/* given: for each option whether it is on the command line. */
bool option_is_given(const bool *given, const char *name);

extern const char *const option_group_names[GROUP_CNT];

const char *option_format_word(enum output_format format);

/* A command line without the program's name and what it does; ended by a NULL arguments. */
struct option_example {
	const char *arguments;
	const char *text;
};
extern const struct option_example option_usages[];
extern const struct option_example option_examples[];
/* What most people need, as arguments without "memleak". */
extern const struct option_example option_briefs[];

#endif
