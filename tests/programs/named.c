// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory that the program gets by calls of a library, which has it by functions of its own. */
#include <regex.h>

#include "truth.h"

OWN_FRAME static void match_user(regex_t *regex)
{
	must(!regcomp(regex, "^(alice|bob)[0-9]+@(example|invalid)$", REG_EXTENDED), "regcomp");
	__asm__ volatile("");
}

int main(void)
{
	static regex_t regex;

	ready();
	match_user(&regex);
	ready();
	return 0;
}
