// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the exit codes of `memleak report --error-exitcode`, which are those of the recorded run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "app/commands.h"
#include "options/parse.h"
#include "recording/recording.h"

#define CODE 9

static char path[] = "/tmp/test_report_command.XXXXXX";

static void record(unsigned int flags, const struct snapshot *snap)
{
	struct recorder *recorder;

	assert_int_equal(recorder__new(path, &recorder), 0);
	assert_int_equal(recorder__begin(recorder, flags), 0);
	assert_int_equal(recorder__add(recorder, snap, true, NULL, 0), 0);
	recorder__free(recorder);
}

/* Returns the exit code for a recording whose only snapshot is `snap`. */
static int exit_code(unsigned int flags, const struct snapshot *snap)
{
	char *argv[] = {(char *)"memleak",
			(char *)"report",
			(char *)"--error-exitcode",
			(char *)"9",
			(char *)"--output",
			(char *)"/dev/null",
			path,
			NULL};
	struct options opts;
	int code;

	record(flags, snap);
	assert_int_equal(options_parse(7, argv, &opts), OPTIONS_RUN);
	code = report_command(&opts);
	options_deinit(&opts);
	return code;
}

static const uint64_t frames[] = {0x1000};
static struct process process = {.pid = 1, .image = 1, .comm = (char *)"program"};

static struct site site_of(enum reach reach)
{
	struct site site = {
		.id = 1,
		.process = &process,
		.bytes = 100,
		.count = 1,
		.frames = frames,
		.frame_cnt = 1,
	};

	site.reach.of[reach].bytes = 100;
	site.reach.of[reach].count = 1;
	return site;
}

static void without_proof(void **state)
{
	struct site site = site_of(REACH_REACHABLE);
	struct snapshot snap = {.sites = &site, .site_cnt = 1};

	assert_int_equal(exit_code(RECORDING_AGES, &snap), CODE);
	snap.site_cnt = 0;
	assert_int_equal(exit_code(RECORDING_AGES, &snap), 0);
	/* The blocks that were not read may be outstanding. */
	snap.lost[LOSS_UNREAD] = 1;
	assert_int_equal(exit_code(RECORDING_AGES, &snap), EXIT_CANNOT);
}

/* If the run had --prove, only lost blocks count. */
static void with_proof(void **state)
{
	const struct proof_facts proof = {.method = PROOF_STILL, .processes = 1};
	struct site site = site_of(REACH_REACHABLE);
	struct snapshot snap = {.sites = &site, .site_cnt = 1, .proof = &proof};

	assert_int_equal(exit_code(RECORDING_AGES | RECORDING_PROVE, &snap), 0);
	site = site_of(REACH_DEFINITE);
	assert_int_equal(exit_code(RECORDING_AGES | RECORDING_PROVE, &snap), CODE);
	site = site_of(REACH_REACHABLE);
	snap.proof = NULL;
	assert_int_equal(exit_code(RECORDING_AGES | RECORDING_PROVE, &snap), EXIT_CANNOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_proof),
		cmocka_unit_test(with_proof),
	};
	int fd = mkstemp(path);
	int result;

	if (fd < 0)
		return 99;
	close(fd);
	result = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return result;
}
