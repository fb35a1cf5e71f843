// SPDX-License-Identifier: GPL-2.0-or-later
/* A shared library that leaks: loaded by dlopen.c and unloaded before the report. */
#include "truth.h"

void plugin_work(void);

OWN_FRAME static void *plugin_leak(void)
{
	return keep(malloc(48)); /* LEAK */
}

OWN_FRAME void plugin_work(void)
{
	for (int i = 0; i < 5; i++)
		plugin_leak();
	__asm__ volatile("");
}
