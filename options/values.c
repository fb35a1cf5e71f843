// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses the values of options: one parser for each type. */
#include "options/values.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/nearest.h"
#include "base/number.h"
#include "options/process_name.h"
#include "options/shell_words.h"

#define NSEC_PER_SEC 1000000000ULL
#define NSEC_PER_MSEC 1000000ULL
/*
 * Minimum and maximum interval between reports, in nanoseconds. Below the minimum, memleak would
 * spend all its time on reports. Nobody needs an interval above the maximum.
 */
#define MIN_INTERVAL_NS NSEC_PER_MSEC
#define MAX_INTERVAL_NS (1000000000ULL * NSEC_PER_SEC)

__attribute__((format(printf, 2, 3))) static int complain(char **why, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (vasprintf(why, fmt, args) < 0)
		*why = NULL;
	va_end(args);
	return *why ? -EINVAL : -ENOMEM;
}

static int take_bounded(const char *arg, uint64_t min, uint64_t max, uint64_t *ret, char **why)
{
	int err = number_parse(arg, min, max, ret);

	if (err == -EINVAL)
		return complain(why, "'%s' is not a whole number", arg);
	if (err)
		return complain(why, "%s is not between %" PRIu64 " and %" PRIu64, arg, min, max);
	return 0;
}

static int store_flag(const struct option_def *def, const char *arg, void *field, char **why)
{
	*(bool *)field = true;
	return 0;
}

static int store_level(const struct option_def *def, const char *arg, void *field, char **why)
{
	++*(unsigned int *)field;
	return 0;
}

static int store_number(const struct option_def *def, const char *arg, void *field, char **why)
{
	uint64_t value;
	int err = take_bounded(arg, def->min, def->max, &value, why);

	if (!err)
		*(uint32_t *)field = (uint32_t)value;
	return err;
}

static int store_code(const struct option_def *def, const char *arg, void *field, char **why)
{
	uint64_t value;
	int err = take_bounded(arg, def->min, def->max, &value, why);

	if (!err)
		*(int *)field = (int)value;
	return err;
}

static unsigned int suffix_shift(char c)
{
	switch (c) {
	case 'k':
	case 'K':
		return 10;
	case 'm':
	case 'M':
		return 20;
	case 'g':
	case 'G':
		return 30;
	default:
		return 0;
	}
}

/*
 * Parses a size and moves *at behind it. Returns 0, -EINVAL if there is none, or -ERANGE if it does
 * not fit into 64 bits.
 */
static int take_size(const char **at, uint64_t *ret)
{
	uint64_t value;
	unsigned int shift;
	int err = number_take(at, NULL, 10, &value);

	if (err)
		return err;
	shift = suffix_shift(**at);
	if (shift)
		++*at;
	if (value > UINT64_MAX >> shift)
		return -ERANGE;
	*ret = value << shift;
	return 0;
}

static int store_size(const struct option_def *def, const char *arg, void *field, char **why)
{
	const char *at = arg;
	uint64_t value;
	int err = take_size(&at, &value);

	if (err == -ERANGE)
		return complain(why, "%s does not fit into 64 bits", arg);
	if (err || *at)
		return complain(why, "'%s' is not a size (bytes, or with a suffix k, M or G)", arg);
	if (def->max && (value < def->min || value > def->max))
		return complain(why, "%s is not between %" PRIu64 " and %" PRIu64, arg, def->min,
				def->max);
	*(uint64_t *)field = value;
	return 0;
}

static int store_growth(const struct option_def *def, const char *arg, void *field, char **why)
{
	static const struct {
		const char *word;
		uint64_t ns;
	} periods[] = {
		{"/s", NSEC_PER_SEC},
		{"/min", 60 * NSEC_PER_SEC},
		{"/h", 3600 * NSEC_PER_SEC},
	};
	struct growth_limit *limit = field;
	const char *at = arg;
	uint64_t bytes = 0;
	int err = take_size(&at, &bytes);

	if (err == -ERANGE)
		return complain(why, "%s does not fit into 64 bits", arg);
	for (size_t i = 0; bytes && i < sizeof(periods) / sizeof(periods[0]); i++) {
		if (strcmp(at, periods[i].word))
			continue;
		*limit = (struct growth_limit){bytes, periods[i].ns};
		return 0;
	}
	return complain(why, "'%s' is not a size per time, such as 10M/min (s, min or h)", arg);
}

static int store_age(const struct option_def *def, const char *arg, void *field, char **why)
{
	uint64_t value;
	int err = take_bounded(arg, 0, UINT64_MAX / NSEC_PER_MSEC, &value, why);

	if (!err)
		*(uint64_t *)field = value * NSEC_PER_MSEC;
	return err;
}

static int take_seconds(const char *arg, uint64_t *ret, char **why)
{
	const char *at = arg;
	uint64_t ns = 0, unit;

	if (number_take_seconds(&at, &ns, &unit) == -EINVAL || *at)
		return complain(why, "'%s' is not a number of seconds", arg);
	if (ns < MIN_INTERVAL_NS || ns > MAX_INTERVAL_NS)
		return complain(why, "%s is not between 0.001 and 1000000000 seconds", arg);
	*ret = ns;
	return 0;
}

static int store_seconds(const struct option_def *def, const char *arg, void *field, char **why)
{
	return take_seconds(arg, field, why);
}

static int store_percent(const struct option_def *def, const char *arg, void *field, char **why)
{
	const char *at = arg;
	uint64_t percent_e9 = 0, unit, value;

	if (number_take_seconds(&at, &percent_e9, &unit) == -EINVAL || at[*at == '%'])
		return complain(why, "'%s' is not a percentage", arg);
	value = percent_e9 / 10000000;
	if (value < 1 || value > 9999)
		return complain(why, "%s is not between 0.01 and 99.99 %%", arg);
	*(uint32_t *)field = (uint32_t)value;
	return 0;
}

static int store_string(const struct option_def *def, const char *arg, void *field, char **why)
{
	if (!*arg)
		return complain(why, "the argument is empty");
	*(const char **)field = arg;
	return 0;
}

static int store_listen(const struct option_def *def, const char *arg, void *field, char **why)
{
	int err = listen_address_parse(arg, field);

	if (err == -ENAMETOOLONG)
		return complain(why, "the path of a socket has at most %zu bytes",
				sizeof(((struct listen_address *)NULL)->local.sun_path) - 1);
	if (err)
		return complain(why, "'%s' is not [ADDR:]PORT in numbers or unix:PATH[,mode=MODE]",
				arg);
	return 0;
}

/* Joins the words of a choice as "a, b or c". */
static int join_choices(const char *const *choices, char **ret)
{
	cleanup_free char *joined = NULL;
	size_t len;
	FILE *out = open_memstream(&joined, &len);

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; choices[i]; i++)
		fprintf(out, "%s%s", !i ? "" : choices[i + 1] ? ", " : " or ", choices[i]);
	if (fclose(out))
		return -ENOMEM;
	*ret = joined;
	joined = NULL;
	return 0;
}

static int store_choice(const struct option_def *def, const char *arg, void *field, char **why)
{
	cleanup_free char *words = NULL;
	const char *meant;
	unsigned int i;
	int err;

	for (i = 0; def->choices[i]; i++) {
		if (!arg || strcmp(arg, def->choices[i]) == 0) {
			*(unsigned int *)field = (unsigned int)def->min + i;
			return 0;
		}
	}
	meant = nearest_word(arg, strlen(arg), def->choices, i);
	err = join_choices(def->choices, &words);
	if (err)
		return err;
	if (meant)
		return complain(why, "'%s' is unknown (did you mean %s?): give %s", arg, meant,
				words);
	return complain(why, "'%s' is unknown: give %s", arg, words);
}

static int store_preset(const struct option_def *def, const char *arg, void *field, char **why)
{
	*(unsigned int *)field = (unsigned int)def->min;
	return 0;
}

static int add_pid(struct options *opts, pid_t pid)
{
	for (size_t i = 0; i < opts->pid_cnt; i++)
		if (opts->pids[i] == pid)
			return 0;
	if (array_reserve(&opts->pids, &opts->pid_cap, opts->pid_cnt + 1))
		return -ENOMEM;
	opts->pids[opts->pid_cnt++] = pid;
	return 0;
}

/* Parses a pid, or finds the process of the given name. */
static int take_pid(const char *word, size_t len, pid_t *ret, char **why)
{
	cleanup_free char *others = NULL;
	const char *at = word;
	uint64_t pid = 0;
	int err;

	if (!number_take(&at, NULL, 10, &pid) && at == word + len && pid && pid <= INT_MAX) {
		*ret = (pid_t)pid;
		return 0;
	}
	if (!len || strspn(word, "+-0123456789") == len)
		return complain(why, "'%.*s' is not a process id", (int)len, word);
	err = process_by_name(word, len, ret, &others);
	if (err == -ESRCH)
		return complain(why, "'%.*s' is neither the number nor the name of a process%s%s%s",
				(int)len, word, others ? ": did you mean " : "",
				others ? others : "", others ? "?" : "");
	if (err == -EMLINK)
		return complain(why,
				"several processes are called '%.*s': %s; give one of these, or "
				"trace all with --comm",
				(int)len, word, others);
	return err;
}

static int store_pids(const struct option_def *def, const char *arg, void *field, char **why)
{
	for (const char *word = arg;;) {
		size_t len = strcspn(word, ",");
		pid_t pid;
		int err = take_pid(word, len, &pid, why);

		if (!err)
			err = add_pid(field, pid);
		if (err || !word[len])
			return err;
		word += len + 1;
	}
}

static int store_command(const struct option_def *def, const char *arg, void *field, char **why)
{
	struct options *opts = field;
	int err;

	if (opts->command)
		return complain(why, "given twice");
	err = shell_words_split(arg, &opts->command);
	if (err == -EINVAL)
		return complain(why, "a quote is not closed in: %s", arg);
	if (err == -ENODATA || (!err && !*opts->command[0]))
		return complain(why, "the command is empty");
	return err;
}

struct shape_word {
	const char *word;
	enum memleak_shape shape;
};

static const struct shape_word alloc_shapes[] = {
	{"malloc", MEMLEAK_SHAPE_SIZE},
	{"calloc", MEMLEAK_SHAPE_COUNT_SIZE},
	{"realloc", MEMLEAK_SHAPE_REALLOC},
	{"reallocarray", MEMLEAK_SHAPE_REALLOCARRAY},
	{"memalign", MEMLEAK_SHAPE_ALIGN_SIZE},
	{"posix_memalign", MEMLEAK_SHAPE_POSIX_MEMALIGN},
	{"strdup", MEMLEAK_SHAPE_STRING},
	/* pool_malloc(pool, size): the size is the second argument, as for memalign. */
	{"pool_malloc", MEMLEAK_SHAPE_ALIGN_SIZE},
	{"pool_calloc", MEMLEAK_SHAPE_HEAP_COUNT_SIZE},
	{"pool_realloc", MEMLEAK_SHAPE_HEAP_REALLOC},
	{"pool_reallocarray", MEMLEAK_SHAPE_HEAP_REALLOCARRAY},
	{NULL, 0},
};

static const struct shape_word free_shapes[] = {
	{"free", MEMLEAK_SHAPE_FREE},
	{"pool_free", MEMLEAK_SHAPE_HEAP_FREE},
	{NULL, 0},
};

static int add_custom_function(struct options *opts, const char *name, size_t len,
			       enum memleak_shape shape)
{
	struct custom_function *added;

	if (array_reserve(&opts->custom_functions, &opts->custom_function_cap,
			  opts->custom_function_cnt + 1))
		return -ENOMEM;
	added = &opts->custom_functions[opts->custom_function_cnt];
	*added = (struct custom_function){strndup(name, len), shape};
	if (!added->name)
		return -ENOMEM;
	opts->custom_function_cnt++;
	return 0;
}

/*
 * Stores a function of --alloc or --free, given as NAME or NAME:SHAPE. Without SHAPE, uses the
 * first element of `shapes`.
 */
static int store_custom_function(const struct shape_word *shapes, const char *arg,
				 struct options *opts, char **why)
{
	size_t len = strcspn(arg, ":");
	const char *word = arg[len] ? arg + len + 1 : shapes->word;

	if (!len)
		return complain(why, "the name of a function is missing");
	for (size_t i = 0; i < opts->custom_function_cnt; i++)
		if (strlen(opts->custom_functions[i].name) == len &&
		    !strncmp(opts->custom_functions[i].name, arg, len))
			return complain(why, "%s is given twice", opts->custom_functions[i].name);
	for (; shapes->word; shapes++)
		if (!strcmp(shapes->word, word))
			return add_custom_function(opts, arg, len, shapes->shape);
	return complain(why, "'%s' is not a known call shape", word);
}

static int store_alloc(const struct option_def *def, const char *arg, void *field, char **why)
{
	return store_custom_function(alloc_shapes, arg, field, why);
}

static int store_free(const struct option_def *def, const char *arg, void *field, char **why)
{
	return store_custom_function(free_shapes, arg, field, why);
}

static int store_own(const struct option_def *def, const char *arg, void *field, char **why)
{
	struct options *opts = field;

	while (!strncmp(arg, "./", 2))
		arg += 2 + strspn(arg + 2, "/");
	if (!*arg || !strcmp(arg, "."))
		return complain(why, "a path is missing");
	if (array_reserve(&opts->own, &opts->own_cap, opts->own_cnt + 1))
		return -ENOMEM;
	opts->own[opts->own_cnt] = strdup(arg);
	if (!opts->own[opts->own_cnt])
		return -ENOMEM;
	opts->own_cnt++;
	return 0;
}

static int store_rules(const struct option_def *def, const char *arg, void *field, char **why)
{
	return suppressions_read(field, arg, why);
}

static int (*const store[OPT_TYPE_CNT])(const struct option_def *def, const char *arg, void *field,
					char **why) = {
	[OPT_FLAG] = store_flag,       [OPT_LEVEL] = store_level,     [OPT_NUMBER] = store_number,
	[OPT_CODE] = store_code,       [OPT_SIZE] = store_size,       [OPT_AGE] = store_age,
	[OPT_STRING] = store_string,   [OPT_PIDS] = store_pids,       [OPT_COMMAND] = store_command,
	[OPT_ALLOC] = store_alloc,     [OPT_FREE] = store_free,       [OPT_CHOICE] = store_choice,
	[OPT_PRESET] = store_preset,   [OPT_SECONDS] = store_seconds, [OPT_LISTEN] = store_listen,
	[OPT_OWN] = store_own,         [OPT_RULES] = store_rules,     [OPT_GROWTH] = store_growth,
	[OPT_PERCENT] = store_percent,
};

int option_store(const struct option_def *def, const char *arg, struct options *opts, char **why)
{
	*why = NULL;
	return store[def->type](def, arg, (char *)opts + def->offset, why);
}

int option_store_interval(const char *arg, struct options *opts, char **why)
{
	*why = NULL;
	return take_seconds(arg, &opts->interval_ns, why);
}

int option_store_count(const char *arg, struct options *opts, char **why)
{
	*why = NULL;
	return take_bounded(arg, 1, UINT64_MAX, &opts->count, why);
}
