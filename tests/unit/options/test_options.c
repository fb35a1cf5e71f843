// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests parsing of command lines, and the help and completions generated from the option table. Run
 * from the root of the source. After an intended change of the help
 *
 *     GOLDEN_UPDATE=1 build/tests/unit/options/test_options
 *
 * rewrites the expected help in tests/golden/.
 */
#include <ctype.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "bpf/memleak.h"
#include "options/completion.h"
#include "options/parse.h"
#include "options/shell_words.h"
#include "options/table.h"
#include "tests/unit/lib/capture.h"
#include "tests/unit/lib/golden.h"
#include "tests/unit/options/lines.h"

/* Parses a command line without the program name. Splits it into words as a shell does. */
static enum options_result parse(const char *line, struct options *ret)
{
	char **words = NULL;
	char **argv;
	size_t cnt = 0;
	enum options_result result;

	if (*line)
		assert_int_equal(shell_words_split(line, &words), 0);
	while (words && words[cnt])
		cnt++;
	argv = calloc(cnt + 2, sizeof(*argv));
	assert_non_null(argv);
	argv[0] = (char *)"memleak";
	for (size_t i = 0; i < cnt; i++)
		argv[i + 1] = words[i];
	result = options_parse((int)cnt + 1, argv, ret);
	/* The options may point into argv, which is freed below, so copy them. */
	if (ret->object)
		ret->object = strdup(ret->object);
	if (ret->symbols_prefix)
		ret->symbols_prefix = strdup(ret->symbols_prefix);
	if (ret->user)
		ret->user = strdup(ret->user);
	if (ret->output)
		ret->output = strdup(ret->output);
	if (ret->record)
		ret->record = strdup(ret->record);
	for (size_t i = 0; i < 2; i++)
		if (ret->files[i])
			ret->files[i] = strdup(ret->files[i]);
	free(argv);
	shell_words_free(words);
	return result;
}

static void forget(struct options *opts)
{
	free((char *)opts->object);
	free((char *)opts->symbols_prefix);
	free((char *)opts->user);
	free((char *)opts->output);
	free((char *)opts->record);
	free((char *)opts->files[0]);
	free((char *)opts->files[1]);
	options_deinit(opts);
}

static void print_text(FILE *out, const char *name, const char *value)
{
	if (value)
		fprintf(out, " %s=%s", name, value);
}

static void print_number(FILE *out, const char *name, uint64_t value, uint64_t usual)
{
	if (value != usual)
		fprintf(out, " %s=%" PRIu64, name, value);
}

/* Prints the options that select processes and allocations. */
static void describe_tracing(FILE *out, const struct options *opts)
{
	print_number(out, "work", opts->mode, MODE_TRACE);
	for (size_t i = 0; i < opts->file_cnt; i++)
		fprintf(out, " file=%s", opts->files[i]);
	for (size_t i = 0; i < opts->pid_cnt; i++)
		fprintf(out, " pid=%d", opts->pids[i]);
	for (size_t i = 0; opts->command && opts->command[i]; i++)
		fprintf(out, " [%s]", opts->command[i]);
	print_number(out, "trace", opts->trace, 0);
	print_number(out, "allocs", opts->show_allocs, 0);
	print_number(out, "older", opts->older_ns, 500000000);
	print_number(out, "older_given", opts->older_given, 0);
	print_number(out, "warmup", opts->warmup_ns, 0);
	for (size_t i = 0; i < opts->suppressions.cnt; i++)
		fprintf(out, " suppress=%s", opts->suppressions.patterns[i]);
	print_number(out, "start_up", opts->no_default_suppressions, 0);
	for (size_t i = 0; i < opts->own_cnt; i++)
		fprintf(out, " own=%s", opts->own[i]);
	print_number(out, "reserved", opts->reserved, 0);
	print_number(out, "propose", opts->gen_suppressions, 0);
	print_number(out, "why", opts->why, 0);
	print_number(out, "source", opts->source, 0);
	print_number(out, "prove", opts->prove, 0);
	print_number(out, "census", opts->census, 0);
	print_number(out, "prove_every", opts->prove_every, 1);
	print_number(out, "combined", opts->combined_only, 0);
	print_number(out, "missing_free", opts->wa_missing_free, 0);
	print_number(out, "rate", opts->sample_rate, 1);
	print_number(out, "bytes", opts->sample_bytes, 0);
	print_number(out, "max-overhead", opts->max_overhead, 0);
	print_number(out, "top", opts->top, 10);
	print_number(out, "min", opts->min_size, 0);
	print_number(out, "max", opts->max_size, UINT64_MAX);
	print_text(out, "user", opts->user);
	print_text(out, "object", opts->object);
	print_text(out, "prefix", opts->symbols_prefix);
	for (size_t i = 0; i < opts->custom_function_cnt; i++)
		fprintf(out, " pool=%s:%d", opts->custom_functions[i].name,
			opts->custom_functions[i].shape);
	print_number(out, "kernel", opts->kernel, 0);
	print_number(out, "fds", opts->fds, 0);
	print_number(out, "percpu", opts->percpu, 0);
	print_number(out, "movable", opts->movable, 0);
	print_number(out, "force", opts->force, 0);
}

/* Returns the options that differ from the defaults, as text. */
static char *describe(const struct options *opts)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	describe_tracing(out, opts);
	print_number(out, "sort", opts->sort, SORT_SIZE);
	print_number(out, "largest", opts->largest, 0);
	print_number(out, "peak", opts->peak, 0);
	print_number(out, "count_by", opts->count_by, COUNT_BY_NOTHING);
	print_number(out, "stats", opts->stats, 0);
	print_number(out, "summary", opts->summary, 0);
	print_number(out, "summary_sort", opts->summary_sort, SUMMARY_BY_OUTSTANDING);
	print_number(out, "records", opts->max_records, 0);
	print_number(out, "by", opts->by, BY_STACK);
	print_number(out, "stacks", opts->stack_storage_size, 0);
	print_number(out, "depth", opts->stack_depth, 127);
	print_number(out, "max_allocs", opts->max_allocs, 0);
	print_number(out, "max_memory", opts->max_memory, 0);
	print_number(out, "format", opts->format, FORMAT_TEXT);
	print_text(out, "output", opts->output);
	if (opts->listen.len) {
		char address[LISTEN_ADDRESS_SIZE];

		listen_address_print(&opts->listen, address);
		fprintf(out, " listen=%s%s", address,
			listen_address_is_loopback(&opts->listen) ? "" : " (open)");
		if (opts->listen.any.sa_family == AF_UNIX)
			fprintf(out, " %o", (unsigned int)opts->listen.mode);
	}
	print_text(out, "record", opts->record);
	print_number(out, "all", opts->all, 0);
	print_number(out, "live", opts->live, 0);
	print_number(out, "code", (uint64_t)opts->error_exitcode, 0);
	print_number(out, "verbose", opts->verbose, 0);
	print_number(out, "interval", opts->interval_ns, 5000000000);
	print_number(out, "count", opts->count, 0);
	print_number(out, "duration", opts->duration_ns, 0);
	print_number(out, "at-bytes", opts->at_bytes, 0);
	if (opts->at_growth.bytes)
		fprintf(out, " at-growth=%" PRIu64 "/%" PRIu64, opts->at_growth.bytes,
			opts->at_growth.period_ns);
	fclose(out);
	return text;
}

static void good_lines(void **state)
{
	for (size_t i = 0; i < good_cnt; i++) {
		struct options opts;
		enum options_result result;
		cleanup_free char *text = NULL;

		result = parse(good[i].line, &opts);
		if (result != OPTIONS_RUN)
			fail_msg("refused: %s", good[i].line);
		text = describe(&opts);
		if (strcmp(text, good[i].expected))
			fail_msg("%s: got '%s', expected '%s'", good[i].line, text,
				 good[i].expected);
		forget(&opts);
	}
}

static const char tail[] = "; try 'memleak --help'\n";

static void bad_lines(void **state)
{
	for (size_t i = 0; i < bad_cnt; i++) {
		struct options opts;
		struct capture capture;
		enum options_result result;
		cleanup_free char *said = NULL;
		size_t len;

		capture_begin(&capture, STDERR_FILENO);
		result = parse(bad[i].line, &opts);
		forget(&opts);
		said = capture_end(&capture);
		len = strlen(said);
		if (result != OPTIONS_EXIT_USAGE)
			fail_msg("accepted: %s", bad[i].line);
		if (strncmp(said, "memleak: ", 9) || len < sizeof(tail) ||
		    strcmp(said + len - strlen(tail), tail) || !strstr(said, bad[i].expected) ||
		    strcspn(said, "\n") != len - 1 || strchr(said, '\x1b'))
			fail_msg("%s: printed '%s'", bad[i].line, said);
	}
}

/* Reports must not advise an option that the options in use refuse. */
static void refused(void **state)
{
	static const char *const names[ADVISED_CNT] = {
		[ADVISED_SAMPLE_RATE] = " -s", [ADVISED_SAMPLE_BYTES] = " bytes",
		[ADVISED_DURATION] = " -d",    [ADVISED_FOLLOW] = " -f",
		[ADVISED_AGENT] = " --agent",  [ADVISED_BY_PIN] = " pin",
		[ADVISED_KERNEL] = " -K",      [ADVISED_FDS] = " --fds",
	};
	static const struct line lines[] = {
		{"-p 1", ""},
		{"-p 1 --peak", " -s bytes --fds"},
		{"-p 1 --summary", " -s bytes --fds"},
		{"-p 1 --prove", " -s bytes --fds"},
		{"-p 1 --by pin", " -s bytes -f --fds"},
		{"-p 1 --sort count", " pin"},
		{"-p 1 --count=process", " -s bytes -K --fds pin"},
		{"-p 1 -C", " bytes --fds --agent pin"},
		{"-p 1 -s 5", " bytes --fds pin"},
		{"-p 1 --sample-bytes 5", " -s --fds pin"},
		{"-p 1 --max-overhead 3", " -s -f -K --fds --agent pin"},
		{"-p 1 -O lib.so", " --fds --agent"},
		{"-p 1 5 6", " -d"},
		{"-p 1 -d 5", " -d"},
		{"-p 1 --warmup 5", ""},
		{"-p 1 -f", " -K pin"},
		{"-K", " -f --fds --agent pin"},
		{"-p 1 -K", " -f --fds --agent"},
		{"--comm app", " -K --agent pin"},
		{"-p 1 --agent", " -f -K --fds"},
		{"-p 1 --fds", " -s bytes -K --agent pin"},
		{"report file", ""},
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char text[64] = "";
		struct options opts;

		assert_int_equal(parse(lines[i].line, &opts), OPTIONS_RUN);
		for (int j = 0; j < ADVISED_CNT; j++)
			if (opts.refused & 1U << j)
				strcat(text, names[j]);
		if (strcmp(text, lines[i].expected))
			fail_msg("%s: got '%s', expected '%s'", lines[i].line, text,
				 lines[i].expected);
		forget(&opts);
	}
}

static char *printed(const char *line, enum options_result expected)
{
	struct options opts;
	struct capture capture;
	enum options_result result;
	char *text;

	capture_begin(&capture, STDOUT_FILENO);
	result = parse(line, &opts);
	text = capture_end(&capture);
	forget(&opts);
	assert_int_equal(result, expected);
	return text;
}

static void version(void **state)
{
	cleanup_free char *text = printed("-V", OPTIONS_EXIT_OK);
	cleanup_free char *other = printed("-v --version --nonsense", OPTIONS_EXIT_OK);

	assert_string_equal(text, "memleak " MEMLEAK_VERSION "\n");
	assert_string_equal(other, text);
}

static void assert_fits(const char *text, size_t most_lines)
{
	size_t lines = 0;

	for (const char *at = text; *at; at = strchr(at, '\n') + 1) {
		size_t len = strcspn(at, "\n");

		lines++;
		if (len > 100 || (len && at[len - 1] == ' '))
			fail_msg("above 100 columns, or with a blank at the end: %.*s", (int)len,
				 at);
	}
	if (lines > most_lines)
		fail_msg("%zu lines", lines);
}

/* True if the text has the option's name as a whole, not only as the beginning of a longer name. */
static bool has_name(const char *text, const char *before, const char *name)
{
	cleanup_free char *wanted = NULL;

	assert_true(asprintf(&wanted, "%s--%s", before, name) > 0);
	for (const char *at = text; (at = strstr(at, wanted)); at++)
		if (!isalnum(at[strlen(wanted)]) && at[strlen(wanted)] != '-')
			return true;
	return false;
}

/*
 * True if the text has a line that describes the option. A mention of the name elsewhere does not
 * count.
 */
static bool lists(const char *text, const char *name)
{
	return has_name(text, ", ", name) || has_name(text, "\n      ", name);
}

static void help(void **state)
{
	cleanup_free char *text = printed("--help", OPTIONS_EXIT_OK);
	cleanup_free char *diff = printed("diff --help", OPTIONS_EXIT_OK);

	assert_fits(text, SIZE_MAX);
	compare("help", "txt", text);
	for (int i = 0; i < option_cnt; i++) {
		bool of_diff = option_table[i].offline & 1U << MODE_DIFF;
		const char *name = option_table[i].name;

		assert_true(lists(text, name));
		if (lists(diff, name) != of_diff)
			fail_msg("wrongly listed in 'diff --help', or missing there: %s", name);
	}
	assert_non_null(strstr(diff, "memleak diff "));
	assert_null(strstr(diff, "memleak report "));
}

/* Each letter and name of an option in the brief help exists. */
static void brief_help(void **state)
{
	cleanup_free char *text = printed("-a -h 1 2 3", OPTIONS_EXIT_OK);

	assert_fits(text, 40);
	compare("help-brief", "txt", text);
	for (const struct option_example *brief = option_briefs; brief->arguments; brief++) {
		const char *name = strstr(brief->arguments, "--");
		size_t len = strcspn(name, " ");
		const struct option_def *def = option_table, *end = option_table + option_cnt;

		assert_non_null(strstr(text, brief->arguments));
		while (def < end &&
		       (strlen(def->name) != len - 2 || strncmp(def->name, name + 2, len - 2) != 0))
			def++;
		assert_true(def < end);
		assert_true(name == brief->arguments || brief->arguments[1] == def->letter);
	}
}

/* A process's name is accepted in place of its pid, unless several processes have it. */
static void process_names(void **state)
{
	char name[16], line[64];
	struct options opts;
	pid_t pids[2];

	snprintf(name, sizeof(name), "n%d-%d", getpid(), 1);
	for (size_t i = 0; i < 2; i++) {
		struct capture capture;
		cleanup_free char *said = NULL;
		enum options_result result;

		pids[i] = fork();
		if (!pids[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			prctl(PR_SET_NAME, name);
			raise(SIGSTOP);
			_exit(0);
		}
		assert_int_equal(waitpid(pids[i], NULL, WUNTRACED), pids[i]);
		snprintf(line, sizeof(line), "-p 1,%s", name);
		capture_begin(&capture, STDERR_FILENO);
		result = parse(line, &opts);
		said = capture_end(&capture);
		if (i) {
			char both[64];

			assert_int_equal(result, OPTIONS_EXIT_USAGE);
			snprintf(both, sizeof(both), "%d", pids[1]);
			assert_non_null(strstr(said, both));
			assert_non_null(strstr(said, "--comm"));
		} else {
			assert_int_equal(result, OPTIONS_RUN);
			assert_int_equal(opts.pid_cnt, 2);
			assert_int_equal(opts.pids[1], pids[0]);
		}
		forget(&opts);
	}
	for (size_t i = 0; i < 2; i++) {
		kill(pids[i], SIGKILL);
		assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
	}
}

/*
 * An INTERVAL that is also the pid of a running process is refused with a hint to -p, unless it is
 * a whole number of minutes or a COUNT follows.
 */
static void interval_or_process(void **state)
{
	struct options opts;
	struct capture capture;
	cleanup_free char *said = NULL;
	char line[64];
	pid_t pid;

	for (;;) {
		pid = fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pause();
			_exit(0);
		}
		if (pid >= 300 && pid % 60)
			break;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	snprintf(line, sizeof(line), "%d", pid);
	capture_begin(&capture, STDERR_FILENO);
	assert_int_equal(parse(line, &opts), OPTIONS_EXIT_USAGE);
	said = capture_end(&capture);
	forget(&opts);
	snprintf(line, sizeof(line), "-p %d", pid);
	assert_non_null(strstr(said, line));
	snprintf(line, sizeof(line), "%d 3", pid);
	assert_int_equal(parse(line, &opts), OPTIONS_RUN);
	forget(&opts);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(parse("3600", &opts), OPTIONS_RUN);
	forget(&opts);
}

static void help_on_full_disk(void **state)
{
	struct options opts;
	struct capture capture;
	cleanup_free char *said = NULL;
	int saved = dup(STDOUT_FILENO);

	fflush(stdout);
	assert_non_null(freopen("/dev/full", "w", stdout));
	capture_begin(&capture, STDERR_FILENO);
	assert_int_equal(parse("--help", &opts), OPTIONS_EXIT_FAILED);
	said = capture_end(&capture);
	forget(&opts);
	assert_non_null(freopen("/dev/null", "w", stdout));
	assert_true(dup2(saved, STDOUT_FILENO) >= 0);
	close(saved);
	assert_non_null(strstr(said, "No space left"));
}

/*
 * Letters and names of options are unique, no help text ends with a period, limits are in order,
 * and only options of type OPT_CHOICE have choices.
 */
static void table(void **state)
{
	for (int i = 0; i < option_cnt; i++) {
		const struct option_def *def = &option_table[i];

		assert_non_null(def->name);
		assert_true(def->help[strlen(def->help) - 1] != '.');
		assert_true(def->min <= def->max || def->type == OPT_PRESET);
		assert_true((def->type == OPT_CHOICE) == (def->choices != NULL));
		for (int j = 0; j < i; j++) {
			assert_string_not_equal(def->name, option_table[j].name);
			assert_true(!def->letter || def->letter != option_table[j].letter);
		}
	}
}

/*
 * Runs a shell command that uses a completion script, $HOME/script, which `print` writes. Returns
 * the command's output with blanks in place of line breaks.
 */
static char *ask_shell(const char *command, void (*print)(FILE *out))
{
	char home[] = "/tmp/memleak-completion-XXXXXX", path[64];
	char *words = calloc(1, 1024);
	FILE *script, *shell;
	int status;

	assert_non_null(words);
	assert_non_null(mkdtemp(home));
	setenv("HOME", home, 1);
	snprintf(path, sizeof(path), "%s/script", home);
	script = fopen(path, "w");
	assert_non_null(script);
	print(script);
	assert_int_equal(fclose(script), 0);
	shell = popen(command, "r");
	assert_non_null(shell);
	for (size_t i = fread(words, 1, 1023, shell); i-- > 0;)
		words[i] = words[i] == '\n' ? ' ' : words[i];
	status = pclose(shell);
	assert_int_equal(status, 0);
	assert_int_equal(system("rm -r \"$HOME\""), 0);
	return words;
}

#define BASH(words)                                                                                \
	"bash -c '. $HOME/script; COMP_WORDS=(memleak " words "); "                                \
	"COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _memleak; printf \"%s \" ${COMPREPLY[@]}'"
#define ZSH(words) "zsh -f tests/unit/options/complete.zsh $HOME/script 'memleak " words "'"
#define FISH(words) "fish --no-config -c \"source $HOME/script; complete -C 'memleak " words "'\""
#define FISH_WORDS(words) FISH(words) " | cut -f 1"

/* Tests completion in bash, zsh and fish, as far as they are installed. */
static void completion(void **state)
{
	static const struct {
		const char *seek, *ask, *expected;
		void (*print)(FILE *out);
	} questions[] = {
		{"bash", BASH("--fo"), "--follow --force --format ", options_print_completion_bash},
		{"bash", BASH("--sort s"), "size score ", options_print_completion_bash},
		{"zsh", ZSH("--fo"), "--follow --force --format ", options_print_completion_zsh},
		{"zsh", ZSH("--sort s"), "score size ", options_print_completion_zsh},
		{"fish", FISH_WORDS("--fo"), "--follow --force --format ",
		 options_print_completion_fish},
		{"fish", FISH_WORDS("--sort s"), "score size ", options_print_completion_fish},
		{"fish", FISH("--verb"),
		 "--verbose\tPrint more on stderr; -vv includes libbpf's messages ",
		 options_print_completion_fish},
	};
	size_t seen = 0;

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		cleanup_free char *words = NULL, *seek = NULL;

		assert_true(asprintf(&seek, "command -v %s >/dev/null 2>&1", questions[i].seek) >
			    0);
		if (system(seek))
			continue;
		seen++;
		words = ask_shell(questions[i].ask, questions[i].print);
		assert_string_equal(words, questions[i].expected);
	}
	if (!seen) {
		print_message("skipped: no bash, zsh or fish\n");
		skip();
	}
}

static void nothing_given(void **state)
{
	char *none[] = {NULL};
	struct options opts;

	assert_int_equal(options_parse(0, none, &opts), OPTIONS_RUN);
	options_deinit(&opts);
	options_deinit(&opts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_lines),
		cmocka_unit_test(bad_lines),
		cmocka_unit_test(refused),
		cmocka_unit_test(version),
		cmocka_unit_test(help),
		cmocka_unit_test(table),
		cmocka_unit_test(completion),
		cmocka_unit_test(brief_help),
		cmocka_unit_test(process_names),
		cmocka_unit_test(nothing_given),
		cmocka_unit_test(interval_or_process),
		cmocka_unit_test(help_on_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
