// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes over the terminal, and restores it when memleak ends for any reason except SIGKILL. Keys
 * that normally send signals, such as Ctrl-C, are read as characters, so that they do not end
 * memleak during a report.
 */
#include "screen/terminal.h"

/* Must be included before <term.h>, which defines macros with names such as `lines`. */
#include "screen/model.h"

#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

/*
 * Maximum time in milliseconds between Esc and the rest of the sequence that a function key sends.
 */
#define ESCAPE_MS 25

static struct termios before;
static char leave[128]; /* sequence that restores the main screen and the cursor */
static SCREEN *screen;
static bool is_open;
static int wake = -1;

static const char *type; /* NULL: the type that TERM names */

#ifdef MEMLEAK_STATIC

/*
 * Makes curses use the description in memleak if the machine has no descriptions at all and the
 * terminal is not a simple one. Stays in the environment: programs find no other description.
 */
static bool use_own_description(int found)
{
	/* Value of TERMINFO: see terminfo(5). */
	static const char description[] =
#include "screen/terminfo.inc"
		;
	const char *wanted = getenv("TERM");

	if (found >= 0 || !wanted || !strcmp(wanted, "dumb"))
		return false;
	setenv("TERMINFO", description, 1);
	type = "xterm-256color";
	return setupterm(type, STDOUT_FILENO, &found) == OK;
}

#else

static bool use_own_description(int found)
{
	return false;
}

#endif

const char *terminal_fault(void)
{
	int found;

	if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		return "--live needs a terminal for stdin and stdout";
	if (setupterm(NULL, STDOUT_FILENO, &found) != OK && !use_own_description(found))
		return found == 1 ? "--live cannot draw on this type of terminal (TERM)"
				  : "--live does not know this type of terminal: set TERM, for "
				    "instance to xterm, or install ncurses-term";
	if (!cursor_address || !clear_screen)
		return "--live cannot draw on this type of terminal: TERM says that its cursor "
		       "does not move";
	return NULL;
}

static void resized(int sig)
{
	const uint64_t one = 1;
	int saved = errno;

	if (write(wake, &one, sizeof(one)) < 0)
		errno = saved;
	errno = saved;
}

/* Handles a signal that ends memleak. Restores the terminal, using only async-signal-safe calls. */
static void ended(int sig)
{
	if (is_open && write(STDOUT_FILENO, leave, strlen(leave)) >= 0)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	raise(sig);
}

/*
 * Installs the handler for crashes, unless sanitizers handle them, and for SIGTERM, SIGINT and
 * SIGHUP. The handler receives these three signals only after signals_release_end(): until then,
 * they are blocked and read from a signalfd.
 */
static void catch_ends(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS,  SIGILL, SIGFPE,
				      SIGABRT, SIGTERM, SIGINT, SIGHUP};
	const struct sigaction action = {.sa_handler = ended, .sa_flags = SA_RESETHAND};
	struct sigaction old;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
}

static void keep_way_out(void)
{
	const char *parts[] = {exit_attribute_mode, keypad_local, cursor_normal, exit_ca_mode};

	*leave = '\0';
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i] && strlen(leave) + strlen(parts[i]) < sizeof(leave))
			strcat(leave, parts[i]);
}

static void begin_colour(bool colour)
{
	if (!colour || !has_colors() || start_color() == ERR)
		return;
	use_default_colors();
	init_pair(1, COLOR_RED, -1);
	init_pair(2, COLOR_YELLOW, -1);
	init_pair(3, COLOR_CYAN, -1);
}

int terminal_open(int wake_fd, bool colour)
{
	const struct sigaction action = {.sa_handler = resized, .sa_flags = SA_RESTART};

	setlocale(LC_CTYPE, "");
	wake = wake_fd;
	tcgetattr(STDIN_FILENO, &before);
	/* Call before newterm(): curses sets handlers only for signals without a handler. */
	catch_ends();
	screen = newterm(type, stdout, stdin);
	if (!screen)
		return -ENODEV;
	keep_way_out();
	begin_colour(colour);
	raw();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	is_open = true;
	/* Replace curses' signal handler: it may run in any thread, and accesses curses' data. */
	sigaction(SIGWINCH, &action, NULL);
	signal(SIGTSTP, SIG_IGN);
	atexit(terminal_close);
	return 0;
}

void terminal_close(void)
{
	if (!is_open)
		return;
	terminal_mouse(false);
	endwin();
	delscreen(screen);
	screen = NULL;
	is_open = false;
	signal(SIGWINCH, SIG_DFL);
	signal(SIGTSTP, SIG_DFL);
}

void terminal_suspend(void)
{
	endwin();
	signal(SIGTSTP, SIG_DFL);
	raise(SIGTSTP);
	signal(SIGTSTP, SIG_IGN);
	terminal_resize();
	clearok(curscr, TRUE);
}

void terminal_resize(void)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col &&
	    is_term_resized(size.ws_row, size.ws_col))
		resizeterm(size.ws_row, size.ws_col);
}

void terminal_redraw(void)
{
	clearok(curscr, TRUE);
}

void terminal_mouse(bool on)
{
	mousemask(on ? BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED | BUTTON1_PRESSED |
				  BUTTON4_PRESSED | BUTTON5_PRESSED
		     : 0,
		  NULL);
}

static int64_t key_of_mouse(struct terminal_point *point)
{
	MEVENT event;

	if (getmouse(&event) != OK)
		return -1;
	if (event.bstate & BUTTON4_PRESSED)
		return KEY_IS_UP;
	if (event.bstate & BUTTON5_PRESSED)
		return KEY_IS_DOWN;
	*point = (struct terminal_point){event.y, event.bstate & BUTTON1_DOUBLE_CLICKED};
	return 0;
}

static int64_t key_of_code(wint_t code, struct terminal_point *point)
{
	static const struct {
		wint_t code;
		enum screen_key key;
	} keys[] = {
		{KEY_UP, KEY_IS_UP},
		{KEY_DOWN, KEY_IS_DOWN},
		{KEY_LEFT, KEY_IS_LEFT},
		{KEY_RIGHT, KEY_IS_RIGHT},
		{KEY_PPAGE, KEY_IS_PAGE_UP},
		{KEY_NPAGE, KEY_IS_PAGE_DOWN},
		{KEY_HOME, KEY_IS_HOME},
		{KEY_END, KEY_IS_END},
		{KEY_ENTER, KEY_IS_ENTER},
		{KEY_BACKSPACE, KEY_IS_BACKSPACE},
		{KEY_BTAB, KEY_IS_BACK_TAB},
		{KEY_F(1), KEY_IS_HELP},
		{KEY_F(4), '/'},
		{KEY_F(6), 's'},
		{KEY_F(10), 'q'},
	};

	if (code == KEY_MOUSE)
		return key_of_mouse(point);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].code == code)
			return keys[i].key;
	return KEY_IS_UNKNOWN;
}

int64_t terminal_key(struct terminal_point *point)
{
	wint_t code;
	int kind = get_wch(&code);

	if (kind == ERR)
		return -1;
	if (kind == KEY_CODE_YES)
		return key_of_code(code, point);
	switch (code) {
	case 0:
		return KEY_IS_UNKNOWN;
	case '\r':
	case '\n':
		return KEY_IS_ENTER;
	case '\t':
		return KEY_IS_TAB;
	case 27:
		return KEY_IS_ESCAPE;
	case 8:
	case 127:
		return KEY_IS_BACKSPACE;
	default:
		return code;
	}
}
