// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the options as --help and as the OPTIONS section of the man page. */
#include "options/help.h"

#include <stdbool.h>
#include <string.h>

#include "options/table.h"

#define HELP_WIDTH 100
#define HELP_INDENT 34

/*
 * Writes the placeholder for an option's argument: its metavar, such as "PID", or all words that
 * the option accepts.
 */
static void write_metavar(FILE *out, const struct option_def *def)
{
	if (!def->choices) {
		fputs(def->metavar, out);
		return;
	}
	for (size_t i = 0; def->choices[i]; i++)
		fprintf(out, "%s%s", i ? "|" : "", def->choices[i]);
}

static size_t metavar_len(const struct option_def *def)
{
	size_t len = 0;

	if (!def->choices)
		return strlen(def->metavar);
	for (size_t i = 0; def->choices[i]; i++)
		len += (i ? 1 : 0) + strlen(def->choices[i]);
	return len;
}

static void pad_to(FILE *out, size_t from, size_t to)
{
	fprintf(out, "%*s", from < to ? (int)(to - from) : 1, "");
}

/*
 * Writes text from column HELP_INDENT on, to which the caller has moved. Breaks lines at blanks,
 * and indents all further lines by HELP_INDENT.
 */
static void write_wrapped(FILE *out, const char *text)
{
	size_t column = HELP_INDENT;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (column > HELP_INDENT && column + 1 + len > HELP_WIDTH) {
			fputc('\n', out);
			pad_to(out, 0, HELP_INDENT);
			column = HELP_INDENT;
		} else if (column > HELP_INDENT) {
			fputc(' ', out);
			column++;
		}
		fwrite(text, 1, len, out);
		column += len;
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

static void write_help_option(FILE *out, const struct option_def *def)
{
	size_t column = strlen("  -x, --") + strlen(def->name);

	if (def->letter)
		fprintf(out, "  -%c, --%s", def->letter, def->name);
	else
		fprintf(out, "      --%s", def->name);
	if (def->metavar) {
		fputs(def->optional ? "[=" : " ", out);
		write_metavar(out, def);
		fputs(def->optional ? "]" : "", out);
		column += 1 + metavar_len(def) + (def->optional ? 2 : 0);
	}
	if (column >= HELP_INDENT) {
		fputc('\n', out);
		column = 0;
	}
	pad_to(out, column, HELP_INDENT);
	write_wrapped(out, def->help);
}

/*
 * Writes a table of the examples in `lines` whose arguments begin with `only`. The first column is
 * `before`, followed by the arguments; the second column is the description.
 */
static void write_columns(FILE *out, const char *before, const struct option_example *lines,
			  const char *only)
{
	size_t widest = 0, only_len = strlen(only);

	for (size_t i = 0; lines[i].arguments; i++)
		if (!strncmp(lines[i].arguments, only, only_len) &&
		    strlen(lines[i].arguments) > widest)
			widest = strlen(lines[i].arguments);
	for (size_t i = 0; lines[i].arguments; i++)
		if (!strncmp(lines[i].arguments, only, only_len))
			fprintf(out, "  %s%-*s  %s\n", before, (int)widest, lines[i].arguments,
				lines[i].text);
}

static void write_begin(FILE *out, const char *only)
{
	fputs("memleak: finds memory that programs allocate and never free\n\nUsage:\n", out);
	write_columns(out, "memleak ", option_usages, only);
}

void options_print_brief_help(FILE *out)
{
	write_begin(out, "");
	fputs("\nINTERVAL: seconds between reports (default 5). COUNT: number of reports\n\n", out);
	write_columns(out, "", option_briefs, "");
	fputs("\nAll options: memleak --help, or man memleak. Of a command: memleak report "
	      "--help\n",
	      out);
}

void options_print_help(FILE *out, enum mode mode)
{
	const char *only = mode_names[mode] ? mode_names[mode] : "";

	write_begin(out, only);
	if (mode == MODE_TRACE)
		fputs("\nINTERVAL: seconds between reports (default 5; 0.5 is allowed). COUNT: "
		      "number of reports\n(default: until Ctrl-C, or until the target ends).\n",
		      out);
	for (int group = 0; group < GROUP_CNT; group++) {
		bool begun = false;

		for (int i = 0; i < option_cnt; i++) {
			const struct option_def *def = &option_table[i];

			if ((int)def->group != group ||
			    (mode != MODE_TRACE && !(def->offline & 1U << mode)))
				continue;
			if (!begun)
				fprintf(out, "\n%s:\n", option_group_names[group]);
			begun = true;
			write_help_option(out, def);
		}
	}
	fputs("\nExamples:\n", out);
	write_columns(out, "memleak ", option_examples, only);
	fputs("\nExit status: 0 success, 1 memleak failed, 2 wrong usage; with a command, the "
	      "exit\nstatus of the command. See memleak(8).\n",
	      out);
}

/*
 * Writes text for troff. Escapes dashes, so that readers can copy them, and a dot or quote at the
 * start of the text, which troff would take for a request.
 */
static void write_troff(FILE *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	for (; *text; text++) {
		if (*text == '-')
			fputs("\\-", out);
		else if (*text == '\\')
			fputs("\\e", out);
		else
			fputc(*text, out);
	}
}

/*
 * Writes the placeholder for an option's argument in the man page. Accepted words are in bold. In a
 * metavar such as PID[,PID...], words are in italics, and punctuation is not.
 */
static void write_troff_metavar(FILE *out, const struct option_def *def)
{
	const char *at = def->metavar;

	for (size_t i = 0; def->choices && def->choices[i]; i++)
		fprintf(out, "%s\\fB%s\\fR", i ? "|" : "", def->choices[i]);
	while (!def->choices && *at) {
		size_t len = strcspn(at, "[],.");

		if (len)
			fprintf(out, "\\fI%.*s\\fR", (int)len, at);
		at += len;
		len = strspn(at, "[],.");
		fwrite(at, 1, len, out);
		at += len;
	}
}

static void write_man_option(FILE *out, const struct option_def *def)
{
	fputs(".TP\n", out);
	if (def->letter)
		fprintf(out, "\\fB\\-%c\\fR, ", def->letter);
	fputs("\\fB\\-\\-", out);
	write_troff(out, def->name);
	fputs("\\fR", out);
	if (def->metavar) {
		fputs(def->optional ? "[=" : " ", out);
		write_troff_metavar(out, def);
		fputs(def->optional ? "]" : "", out);
	}
	fputc('\n', out);
	write_troff(out, def->help);
	fputs(".\n", out);
}

void options_print_man(FILE *out)
{
	fputs(".SH OPTIONS\n", out);
	for (int group = 0; group < GROUP_CNT; group++) {
		fprintf(out, ".SS %s\n", option_group_names[group]);
		for (int i = 0; i < option_cnt; i++)
			if ((int)option_table[i].group == group)
				write_man_option(out, &option_table[i]);
	}
}
