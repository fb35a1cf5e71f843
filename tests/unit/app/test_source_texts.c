// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests whose source files may be read for a process that changes its user. */
#include "app/source_texts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/source_lines.h"

#define OTHER_USER 1000

/* Returns the user whose source files may be read for a process; -1 if there is none. */
static uid_t owner_of_files(struct source_texts *texts, pid_t pid)
{
	struct process process = {.pid = pid, .image = 1};
	struct site site = {.process = &process};
	struct report_site shown = {.site = &site};
	struct report report = {.sites = &shown, .site_cnt = 1};

	source_texts_add(texts, &report);
	assert_true(shown.has_source);
	return shown.source_uid;
}

/* Starts a child that changes its user after it has been continued, and then stops again. */
static pid_t child_that_drops_rights(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		raise(SIGSTOP);
		if (setresuid(OTHER_USER, OTHER_USER, OTHER_USER))
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	assert_true(pid > 0);
	return pid;
}

static void wait_for_stop(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
}

static void change_of_user(void **state)
{
	struct source_texts texts = {0};
	int status;
	pid_t pid;

	if (getuid())
		skip();
	assert_int_equal(source_lines__new(&texts.lines), 0);
	pid = child_that_drops_rights();
	wait_for_stop(pid);
	assert_int_equal(owner_of_files(&texts, pid), 0);
	kill(pid, SIGCONT);
	wait_for_stop(pid);
	for (int i = 0; i < 2; i++)
		assert_int_equal(owner_of_files(&texts, pid), (uid_t)-1);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(owner_of_files(&texts, pid), (uid_t)-1);
	source_texts_deinit(&texts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(change_of_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
