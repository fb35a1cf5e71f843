// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints completion scripts for shells. The script for bash has a fixed part, and a case statement
 * that offers words for the arguments of options. The scripts for zsh and fish have a line for each
 * option.
 */
#include "options/completion.h"

#include <string.h>

#include "options/table.h"

/* True if a shell can offer words for the option's argument. */
static bool has_words(const struct option_def *def)
{
	return def->choices || def->words != WORDS_NONE;
}

/* True if the option's argument is the next word of the command line. */
static bool takes_next(const struct option_def *def)
{
	return def->metavar && !def->optional;
}

static void write_choices(FILE *out, const struct option_def *def)
{
	for (size_t i = 0; def->choices[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", def->choices[i]);
}

static void write_pattern(FILE *out, const struct option_def *def)
{
	if (def->letter)
		fprintf(out, "-%c | ", def->letter);
	fprintf(out, "--%s", def->name);
}

/* Writes the branch of bash's case statement that offers words for an option's argument. */
static void write_arm(FILE *out, const struct option_def *def)
{
	fputc('\t', out);
	write_pattern(out, def);
	fputs(")\n", out);
	if (def->choices) {
		fputs("\t\t_memleak_reply -W '", out);
		write_choices(out, def);
		fputs("'\n", out);
	} else if (def->words == WORDS_PID) {
		fputs("\t\t_memleak_pids\n", out);
	} else if (def->words == WORDS_COMMAND) {
		fputs("\t\t_memleak_reply -c\n", out);
	} else {
		fputs("\t\tcompopt -o filenames\n\t\t_memleak_reply -f\n", out);
	}
	fputs("\t\treturn\n\t\t;;\n", out);
}

static void write_arms(FILE *out)
{
	const char *before = "\t";

	for (int i = 0; i < option_cnt; i++)
		if (takes_next(&option_table[i]) && has_words(&option_table[i]))
			write_arm(out, &option_table[i]);
	/*
	 * Offer nothing after an option whose argument is, for example, a number: not even the
	 * names of options.
	 */
	for (int i = 0; i < option_cnt; i++) {
		if (!takes_next(&option_table[i]) || has_words(&option_table[i]))
			continue;
		fputs(before, out);
		write_pattern(out, &option_table[i]);
		before = " | \\\n\t\t";
	}
	fputs(")\n\t\treturn\n\t\t;;\n", out);
}

static void write_option_words(FILE *out)
{
	fputs("\t[[ $cur == -* ]] && _memleak_reply -W '", out);
	for (int i = 0; i < option_cnt; i++) {
		const struct option_def *def = &option_table[i];

		if (i)
			fputs(i % 5 ? " " : "\n\t\t", out);
		if (def->letter)
			fprintf(out, "-%c ", def->letter);
		fprintf(out, "--%s", def->name);
	}
	fputs("'\n", out);
}

static const char helpers[] =
	"# SPDX-License-Identifier: GPL-2.0-or-later\n"
	"# shellcheck shell=bash\n"
	"# Completion of memleak for bash; made from the table of options.\n"
	"\n"
	"_memleak_reply()\n"
	"{\n"
	"\tmapfile -t COMPREPLY < <(compgen \"$@\" -- \"$cur\")\n"
	"}\n"
	"\n"
	"# A list: the last one is being typed, the ones before stay as they are.\n"
	"_memleak_pids()\n"
	"{\n"
	"\tlocal before='' dir pids=''\n"
	"\t[[ $cur == *,* ]] && before=${cur%,*},\n"
	"\tfor dir in /proc/[0-9]*; do\n"
	"\t\tpids+=\" $before${dir#/proc/}\"\n"
	"\tdone\n"
	"\t_memleak_reply -W \"$pids\"\n"
	"}\n"
	"\n"
	"# Completes the words after --: a command, then its arguments.\n"
	"_memleak_command()\n"
	"{\n"
	"\tif declare -F _command_offset >/dev/null; then\n"
	"\t\t_command_offset \"$1\"\n"
	"\telif ((COMP_CWORD == $1)); then\n"
	"\t\t_memleak_reply -c\n"
	"\telse\n"
	"\t\tcompopt -o filenames\n"
	"\t\t_memleak_reply -f\n"
	"\tfi\n"
	"}\n"
	"\n"
	"_memleak()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev='' i\n"
	"\tCOMPREPLY=()\n"
	"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	"\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n"
	"\t\t\t_memleak_command $((i + 1))\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\t\t# bash takes --option=word apart\n"
	"\t\t[[ ${COMP_WORDS[i]} == = ]] || prev=${COMP_WORDS[i]}\n"
	"\tdone\n"
	"\t[[ $cur == = ]] && cur=''\n"
	"\tcase $prev in\n";

static const char recordings[] =
	"\tcase ${COMP_WORDS[1]} in\n"
	"\treport | diff | core | top)\n"
	"\t\t[[ $cur == -* ]] || { compopt -o filenames; _memleak_reply -f; }\n"
	"\t\t;;\n"
	"\t[rdct]*)\n"
	"\t\t((COMP_CWORD == 1)) && _memleak_reply -W 'report diff core top'\n"
	"\t\t;;\n"
	"\tesac\n";

void options_print_completion_bash(FILE *out)
{
	fputs(helpers, out);
	write_arms(out);
	fputs("\tesac\n", out);
	write_option_words(out);
	fputs(recordings, out);
	fputs("}\n\ncomplete -F _memleak memleak\n", out);
}

/*
 * Writes the first sentence of an option's help, for use between single quotes. Leaves out
 * characters that are special to zsh's _arguments or to fish.
 */
static void write_first_sentence(FILE *out, const char *help)
{
	for (; *help && strncmp(help, ". ", 2) != 0; help++)
		if (*help == '\'')
			fputs("'\\''", out);
		else if (!strchr("[]\\", *help))
			fputc(*help, out);
}

static void write_zsh_argument(FILE *out, const struct option_def *def)
{
	if (!def->metavar)
		return;
	fputs(def->optional ? "::argument:" : ":argument:", out);
	if (def->choices) {
		fputc('(', out);
		write_choices(out, def);
		fputc(')', out);
	} else if (def->words == WORDS_PID) {
		fputs("_pids", out);
	} else if (def->words == WORDS_COMMAND) {
		fputs("_command_names -e", out);
	} else if (def->words == WORDS_FILE) {
		fputs("_files", out);
	} else {
		fputc(' ', out);
	}
}

static void write_zsh_option(FILE *out, const struct option_def *def)
{
	fputs("\t'*", out);
	if (def->letter)
		fprintf(out, "'{-%c,--%s%s}'", def->letter, def->name,
			def->metavar && def->optional ? "=-" : "");
	else
		fprintf(out, "--%s%s", def->name, def->metavar && def->optional ? "=-" : "");
	fputc('[', out);
	write_first_sentence(out, def->help);
	fputc(']', out);
	write_zsh_argument(out, def);
	fputs("' \\\n", out);
}

void options_print_completion_zsh(FILE *out)
{
	fputs("#compdef memleak\n"
	      "# SPDX-License-Identifier: GPL-2.0-or-later\n"
	      "# Completion of memleak for zsh; made from the table of options.\n\n"
	      "_arguments -s -S \\\n",
	      out);
	for (int i = 0; i < option_cnt; i++)
		write_zsh_option(out, &option_table[i]);
	fputs("\t'1:interval or command:(report diff core top)' \\\n"
	      "\t'*::file or command:_normal'\n",
	      out);
}

static void write_fish_option(FILE *out, const struct option_def *def)
{
	fputs("complete -c memleak", out);
	if (def->letter)
		fprintf(out, " -s %c", def->letter);
	fprintf(out, " -l %s", def->name);
	if (def->metavar && !def->optional)
		fputs(def->words == WORDS_FILE ? " -r -F" : " -x", out);
	if (def->choices) {
		fputs(" -a '", out);
		write_choices(out, def);
		fputc('\'', out);
	} else if (def->words == WORDS_PID) {
		fputs(" -a '(__fish_complete_pids)'", out);
	} else if (def->words == WORDS_COMMAND) {
		fputs(" -a '(__fish_complete_command)'", out);
	}
	fputs(" -d '", out);
	write_first_sentence(out, def->help);
	fputs("'\n", out);
}

void options_print_completion_fish(FILE *out)
{
	fputs("# SPDX-License-Identifier: GPL-2.0-or-later\n"
	      "# Completion of memleak for fish; made from the table of options.\n",
	      out);
	for (int i = MODE_TRACE + 1; i < MODE_CNT; i++)
		fprintf(out, "complete -c memleak -n __fish_is_first_arg -a %s\n", mode_names[i]);
	fputs("complete -c memleak -n __fish_is_first_arg -a " TOP_WORD "\n", out);
	for (int i = 0; i < option_cnt; i++)
		write_fish_option(out, &option_table[i]);
}
