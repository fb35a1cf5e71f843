// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs at build time. Prints a text that is made from the table of options:
 *   generate man TEMPLATE    TEMPLATE with its line "@OPTIONS@" replaced by the options
 *   generate bash|zsh|fish   the completion script for that shell
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "options/completion.h"
#include "options/help.h"

static int print_man(const char *path)
{
	cleanup_fclose FILE *in = fopen(path, "re");
	cleanup_free char *line = NULL;
	size_t size = 0;
	bool found = false;

	if (!in) {
		fprintf(stderr, "generate: %s: %s\n", path, strerror(errno));
		return 1;
	}
	while (getline(&line, &size, in) >= 0) {
		if (strcmp(line, "@OPTIONS@\n") == 0) {
			options_print_man(stdout);
			found = true;
		} else {
			fputs(line, stdout);
		}
	}
	if (ferror(in) || !found) {
		fprintf(stderr, "generate: %s: %s\n", path,
			found ? "cannot be read" : "has no line @OPTIONS@");
		return 1;
	}
	return 0;
}

static int print_completion(const char *shell)
{
	static const struct {
		const char *name;
		void (*print)(FILE *out);
	} shells[] = {{"bash", options_print_completion_bash},
		      {"zsh", options_print_completion_zsh},
		      {"fish", options_print_completion_fish}};

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (strcmp(shells[i].name, shell) != 0)
			continue;
		shells[i].print(stdout);
		return 0;
	}
	return 2;
}

int main(int argc, char **argv)
{
	int code = 2;

	if (argc == 3 && strcmp(argv[1], "man") == 0)
		code = print_man(argv[2]);
	else if (argc == 2)
		code = print_completion(argv[1]);
	if (code == 2)
		fputs("usage: generate man TEMPLATE | generate bash|zsh|fish\n", stderr);
	if (fflush(stdout) || ferror(stdout)) {
		fputs("generate: writing to stdout failed\n", stderr);
		return 1;
	}
	return code;
}
