// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: a window for each alarm of a monitor.
// expect: show_alarm through newwin or newwin_sp
// library: ncurses (libncurses-dev)
#include <curses.h>

#include "server.h"

unsigned int requests_per_s = 20;

void start_up(void)
{
	FILE *screen = fopen("/dev/null", "w+");

	must(newterm("vt100", screen, screen), "open a screen");
}

static void show_alarm(unsigned int number)
{
	WINDOW *popup = newwin(5, 30, 2, 2); // LEAK

	mvwprintw(popup, 1, 1, "request %u was late", number);
	wrefresh(popup);
}

void handle_request(unsigned int number)
{
	if (number % 4 == 0)
		show_alarm(number);
}
