// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the prober with a fake helper: if a reply is invalid, it is refused and the helper is
 * ended. Includes prober.c, which keeps the helper private.
 */
#include "prober/prober.h"
#include "tests/unit/lib/process.h"

/* A long timeout, for slow machines: no test here has a helper that hangs. */
#undef PROBER_WAIT_MS
#define PROBER_WAIT_MS PATIENCE_MS

#include "prober/prober.c"

#include <elf.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/signals.h"
#include "helper/starter.h"

#define FILE_SIZE 0x4000
#define CODE_START 0x1000
#define CODE_END 0x3000
#define MALLOC 0
#define FREE 1
#define NOBODY 2

static const struct wanted_function items[] = {
	[MALLOC] = {.name = "malloc"}, [FREE] = {.name = "free"}, [NOBODY] = {0}};
static const struct wanted_functions wanted = {.items = items, .cnt = 3};

/* Reply of the fake helper. A change takes effect when the helper's starter is forked. */
static struct message false_answer = {.fd = -1};

/*
 * Delay before the fake helper replies. A change takes effect when the helper's starter is forked.
 */
static struct timespec answer_delay;

/*
 * CPU time in nanoseconds that the fake helper uses before it replies. A change takes effect when
 * the helper's starter is forked.
 */
static uint64_t answer_work_ns;

static int give_false_answer(void *arg, struct message *request, struct message *reply)
{
	uint64_t end_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + answer_work_ns;

	nanosleep(&answer_delay, NULL);
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end_ns)
		;
	message_put_bytes(reply, false_answer.data, false_answer.len);
	return 0;
}

static void false_server_main(int sock)
{
	helper_serve(sock, give_false_answer, NULL);
}

static const struct helper_kind false_kind = {
	.name = "prober",
	.rights = HELPER_DROPS_RIGHTS,
	.work = false_server_main,
};
HELPER_KIND(false_kind);

/* Makes the file an ELF file with code between two offsets, and constant data before and after. */
static void set_code(int fd, uint64_t start, uint64_t end)
{
	struct {
		Elf64_Ehdr file;
		Elf64_Phdr parts[3];
	} headers = {
		.file = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64},
			 .e_phoff = sizeof(Elf64_Ehdr),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 3},
		.parts = {{.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = start},
			  {.p_type = PT_LOAD,
			   .p_flags = PF_R | PF_X,
			   .p_offset = start,
			   .p_filesz = end - start},
			  {.p_type = PT_LOAD,
			   .p_flags = PF_R,
			   .p_offset = end,
			   .p_filesz = FILE_SIZE}},
	};

	assert_int_equal(pwrite(fd, &headers, sizeof(headers), 0), sizeof(headers));
}

static int make_file(void **state)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, FILE_SIZE), 0);
	set_code(fd, CODE_START, CODE_END);
	*state = (void *)(intptr_t)fd;
	helper.kind = &false_kind;
	return 0;
}

static int close_file(void **state)
{
	prober_end();
	message_deinit(&false_answer);
	close((int)(intptr_t)*state);
	return 0;
}

/* Ends the helper and its starter, so that a new one gets the current false_answer. */
static void forget_helper(void)
{
	helper_stop(&helper, HELPER_GRACE_MS);
	starter_end();
}

/* Sends a request to a new helper. */
static int ask_false(void **state, struct file_functions *ret)
{
	int err;

	forget_helper();
	err = prober_functions((int)(intptr_t)*state, 0, &wanted, MESSAGE_FOREVER, ret);
	/* An invalid reply ends the helper. */
	assert_int_equal(helper.pid != 0, err != -EPROTO);
	return err;
}

static uint32_t indirect = 3;

static void put_head(uint32_t status, uint32_t cnt)
{
	message_reset(&false_answer);
	message_put_u32(&false_answer, status);
	message_put_u64(&false_answer, 5);
	message_put_u32(&false_answer, indirect);
	message_put_u32(&false_answer, cnt);
}

/* Returns a valid function. Tests change copies of it to make invalid ones. */
static struct found_function honest(void)
{
	static uint64_t returns[] = {0x1010, CODE_END - 1};

	return (struct found_function){.name = MALLOC,
				       .offset = 0x1000,
				       .exported = true,
				       .place = {.offset = 4, .insn = "push %rbp"},
				       .verdict = FUNCTION_RETURNS,
				       .returns = returns,
				       .return_cnt = 2};
}

static void put_function(const struct found_function *function)
{
	message_put_u32(&false_answer, (uint32_t)function->name);
	message_put_u64(&false_answer, function->offset);
	message_put_u32(&false_answer, function->exported);
	message_put_u64(&false_answer, function->place.offset);
	message_put_u32(&false_answer, function->place.emulated);
	message_put_string(&false_answer, function->place.insn);
	message_put_u32(&false_answer, function->verdict);
	message_put_u32(&false_answer, (uint32_t)function->through);
	message_put_u32(&false_answer, function->jumps_there);
	message_put_u32(&false_answer, (uint32_t)function->return_cnt);
	for (size_t i = 0; i < function->return_cnt; i++)
		message_put_u64(&false_answer,
				function->returns ? function->returns[i] : CODE_START);
}

static void assert_taken(void **state, const struct found_function *function)
{
	struct file_functions functions;

	put_head(0, 1);
	put_function(function);
	assert_int_equal(ask_false(state, &functions), 0);
	assert_int_equal(functions.cnt, 1);
	assert_int_equal(functions.surplus_cnt, 5);
	assert_int_equal(functions.indirect, 3);
	assert_int_equal(functions.items[0].offset, function->offset);
	assert_int_equal(functions.items[0].place.offset, function->place.offset);
	assert_int_equal(functions.items[0].return_cnt, function->return_cnt);
	file_functions_deinit(&functions);
}

static void assert_refused(void **state, const struct found_function *function)
{
	struct file_functions functions;

	/* A valid function precedes the given one. It must be refused as well. */
	struct found_function first = honest();

	put_head(0, 2);
	put_function(&first);
	put_function(function);
	assert_int_equal(ask_false(state, &functions), -EPROTO);
}

static void honest_answers(void **state)
{
	struct found_function function = honest();

	assert_taken(state, &function);
	function.place.insn = NULL;
	function.place.offset = CODE_END - 0x1001;
	assert_taken(state, &function);
	function.verdict = FUNCTION_THROUGH;
	function.through = FREE;
	function.return_cnt = 0;
	assert_taken(state, &function);
}

static void names_of_nobody(void **state)
{
	struct found_function function = honest();

	function.name = NOBODY;
	assert_refused(state, &function);
	function.name = 3;
	assert_refused(state, &function);
	function = honest();
	function.return_cnt = 0;
	function.verdict = FUNCTION_THROUGH;
	function.through = NOBODY;
	assert_refused(state, &function);
	function.through = UINT32_MAX;
	assert_refused(state, &function);
	function = honest();
	indirect = 4;
	assert_refused(state, &function);
	indirect = 3;
}

/*
 * A reply has the offset of a function's entry in the file, and the probe's offset from the entry.
 * Neither of the two places may lie outside of the file's code, for example in constant data.
 */
static void places_outside(void **state)
{
	static const struct {
		uint64_t offset;
		uint64_t place;
	} outside[] = {
		{FILE_SIZE, 0},       {UINT64_MAX, 0},
		{CODE_START - 1, 0},  {CODE_START - 1, 1},
		{CODE_END, 0},        {0x1000, CODE_END - 0x1000},
		{UINT64_MAX, 1},      {0x1000, FILE_SIZE - 0x1000},
		{0x1000, UINT64_MAX}, {0x1000, UINT64_MAX - 0xfff},
	};
	struct found_function function = honest();

	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		function.offset = outside[i].offset;
		function.place.offset = outside[i].place;
		assert_refused(state, &function);
	}
}

/* A probe too far from the entry is refused even if it lies within the file. */
static void place_far_from_its_entry(void **state)
{
	struct found_function function = honest();

	set_code((int)(intptr_t)*state, CODE_START, 4 * FUNCTION_BYTES_MAX);
	function.place.offset = FUNCTION_BYTES_MAX - 1;
	assert_taken(state, &function);
	function.place.offset = FUNCTION_BYTES_MAX;
	assert_refused(state, &function);
}

static void returns_outside(void **state)
{
	static uint64_t outside[] = {0x1010, CODE_END};
	struct found_function function = honest();

	function.returns = outside;
	assert_refused(state, &function);
	outside[1] = UINT64_MAX;
	assert_refused(state, &function);
	outside[1] = CODE_START - 1;
	assert_refused(state, &function);
}

/* Without program headers that can be read, no place is accepted. */
static void no_headers(void **state)
{
	static const struct {
		size_t at;
		unsigned char byte;
	} changes[] = {
		{EI_MAG1, 0},
		{EI_CLASS, ELFCLASS32},
		{offsetof(Elf64_Ehdr, e_phnum), 0},
		{offsetof(Elf64_Ehdr, e_phentsize), 1},
		{offsetof(Elf64_Ehdr, e_phoff) + 7, 0xff},
		{offsetof(Elf64_Ehdr, e_phoff) + 3, 0xff},
	};
	const struct found_function function = honest();
	int fd = (int)(intptr_t)*state;

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		set_code(fd, CODE_START, CODE_END);
		assert_int_equal(pwrite(fd, &changes[i].byte, 1, (off_t)changes[i].at), 1);
		assert_refused(state, &function);
	}
}

/* Asks the fake helper about a file. Returns the pid of the helper that has answered. */
static pid_t asked_helper(int fd)
{
	prober_has_section(fd, ".text");
	assert_true(helper.pid > 0);
	return helper.pid;
}

/*
 * A helper that a hostile file took over must not choose places in files of others. It continues
 * only for files that the same users can change.
 */
static void files_of_other_users(void **state)
{
	int fd = (int)(intptr_t)*state, other = memfd_create("other", MFD_CLOEXEC);
	int third = memfd_create("third", MFD_CLOEXEC);
	pid_t first, second;

	message_reset(&false_answer);
	message_put_u32(&false_answer, 0);
	forget_helper();
	assert_int_equal(fchmod(fd, 0755) | fchmod(other, 0555), 0);
	first = asked_helper(fd);
	assert_int_equal(asked_helper(other), first);
	assert_int_equal(fchmod(other, 0775) | fchmod(third, 0775), 0);
	second = asked_helper(other);
	assert_int_not_equal(second, first);
	assert_int_equal(asked_helper(other), second);
	first = asked_helper(third);
	assert_int_not_equal(first, second);
	assert_int_not_equal(asked_helper(fd), first);
	assert_int_equal(fchmod(other, 0757) | fchmod(third, 0757), 0);
	first = asked_helper(other);
	assert_int_not_equal(asked_helper(third), first);
	close(other);
	close(third);
}

/*
 * Only functions with the verdict FUNCTION_RETURNS have return offsets. Unknown verdicts are
 * refused.
 */
static void verdicts(void **state)
{
	struct found_function function = honest();

	function.verdict = FUNCTION_UNKNOWN;
	assert_refused(state, &function);
	function.verdict = FUNCTION_UNKNOWN + 1;
	function.return_cnt = 0;
	assert_refused(state, &function);
}

/* Too many functions or returns are refused even if each of them is valid. */
static void counts(void **state)
{
	struct found_function function = honest();
	struct file_functions functions;
	size_t cnt = FILE_PROBES_MAX / FUNCTION_RETURNS_MAX;

	function.returns = NULL;
	function.return_cnt = FUNCTION_RETURNS_MAX;
	assert_taken(state, &function);
	function.return_cnt = FUNCTION_RETURNS_MAX + 1;
	assert_refused(state, &function);

	/* Functions and returns together exceed the maximum number of probes in a file. */
	function.return_cnt = FUNCTION_RETURNS_MAX;
	put_head(0, (uint32_t)cnt);
	for (size_t i = 0; i < cnt; i++)
		put_function(&function);
	assert_int_equal(ask_false(state, &functions), -EPROTO);

	function.return_cnt = 0;
	put_head(0, FILE_PROBES_MAX + 1);
	for (size_t i = 0; i < FILE_PROBES_MAX + 1; i++)
		put_function(&function);
	assert_int_equal(ask_false(state, &functions), -EPROTO);

	/*
	 * The reply claims far more functions than it contains: no memory may be allocated for
	 * them.
	 */
	put_head(0, UINT32_MAX);
	assert_int_equal(ask_false(state, &functions), -EPROTO);
}

static void strings(void **state)
{
	char text[INSN_TEXT_MAX + 2];
	struct found_function function = honest();

	memset(text, 'a', sizeof(text));
	text[INSN_TEXT_MAX + 1] = '\0';
	function.place.insn = text;
	assert_refused(state, &function);
	text[INSN_TEXT_MAX] = '\0';
	assert_taken(state, &function);
	function.place.insn = "\033[2J";
	assert_refused(state, &function);
	function.place.insn = "two\nlines";
	assert_refused(state, &function);
}

/* A reply cut at any byte, also within a string, is refused. */
static void truncated(void **state)
{
	struct found_function function = honest();
	struct file_functions functions;
	size_t len;

	put_head(0, 1);
	put_function(&function);
	len = false_answer.len;
	while (len-- > 1) {
		false_answer.len = len;
		assert_int_equal(ask_false(state, &functions), -EPROTO);
	}
}

static void statuses(void **state)
{
	struct file_functions functions;

	put_head(ENOEXEC, 0);
	assert_int_equal(ask_false(state, &functions), -ENOEXEC);
	false_answer.len = 8;
	assert_int_equal(ask_false(state, &functions), -EPROTO);
	put_head(4096, 0);
	assert_int_equal(ask_false(state, &functions), -EPROTO);
	put_head(UINT32_MAX, 0);
	assert_int_equal(ask_false(state, &functions), -EPROTO);
}

static void variables_and_sections(void **state)
{
	int fd = (int)(intptr_t)*state;
	uint64_t value = 1;

	message_reset(&false_answer);
	message_put_u32(&false_answer, 1);
	message_put_u64(&false_answer, 77);
	forget_helper();
	assert_true(prober_variable(fd, "environ", UINT64_MAX, &value));
	assert_int_equal(value, 77);
	assert_true(prober_has_section(fd, ".debug_info"));

	false_answer.len--;
	forget_helper();
	assert_false(prober_variable(fd, "environ", UINT64_MAX, &value));
	assert_int_equal(value, 77);
	assert_int_equal(helper.pid, 0);

	false_answer.len = 3;
	forget_helper();
	assert_false(prober_has_section(fd, ".debug_info"));
	assert_int_equal(helper.pid, 0);
}

/* A suggested name is accepted only if it is printable and similar to the requested name. */
static void nearest_names(void **state)
{
	static const struct {
		const char *answer;
		bool good;
	} answers[] = {
		{"pool_take", true}, {"pol_tak\x1b", false}, {"something", false}, {"", false}};
	int fd = (int)(intptr_t)*state;

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		struct nearest nearest = nearest_begin("pol_take", 8);
		char *name;

		message_reset(&false_answer);
		message_put_string(&false_answer, answers[i].answer);
		forget_helper();
		name = prober_nearest(fd, &nearest, UINT64_MAX);
		assert_int_equal(name != NULL, answers[i].good);
		assert_int_equal(nearest.least, answers[i].good ? 1 : 3);
		free(name);
	}
}

static void put_interpreter_answer(uint32_t version, uint64_t free_code)
{
	message_reset(&false_answer);
	message_put_u32(&false_answer, 0);
	message_put_u32(&false_answer, version);
	message_put_u32(&false_answer, false);
	message_put_u64(&false_answer, 16);
	message_put_u64(&false_answer, free_code);
	for (size_t i = 0; i < 2 * LOOP_PARTS; i++)
		message_put_u64(&false_answer, 16);
}

/* The function that frees code objects is probed, so it is refused outside the file's code. */
static void places_of_interpreter(void **state)
{
	static const struct {
		uint64_t free_code;
		int err;
	} answers[] = {{0, 0},
		       {CODE_START, 0},
		       {CODE_END - 1, 0},
		       {CODE_START - 1, -EPROTO},
		       {CODE_END, -EPROTO},
		       {UINT64_MAX, -EPROTO}};
	int fd = (int)(intptr_t)*state;

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		struct interpreter found = {0};

		put_interpreter_answer(0x030b0000, answers[i].free_code);
		forget_helper();
		assert_int_equal(prober_interpreter(fd, MESSAGE_FOREVER, &found), answers[i].err);
		assert_int_equal(found.free_code, answers[i].err ? 0 : answers[i].free_code);
	}
}

/*
 * A termination signal interrupts the search for functions, but not the search for an interpreter,
 * which has a deadline.
 */
static void interpreter_at_end(void **state)
{
	int fd = (int)(intptr_t)*state, functions_err, late_err, err;
	struct file_functions functions;
	struct interpreter found = {0};

	assert_int_equal(signals_hold_all(), 0);
	assert_int_equal(raise(SIGINT), 0);
	put_interpreter_answer(0x030b0000, 0);
	answer_delay = (struct timespec){.tv_sec = PATIENCE_MS / 1000};
	forget_helper();
	functions_err = prober_functions(fd, 0, &wanted, MESSAGE_FOREVER, &functions);

	answer_delay = (struct timespec){.tv_sec = 1};
	forget_helper();
	late_err = prober_interpreter(fd, clock_deadline_ns(200000000), &found);

	/* Longer than the interval of checks for termination signals. */
	answer_delay = (struct timespec){.tv_nsec = 300000000};
	forget_helper();
	err = prober_interpreter(fd, MESSAGE_FOREVER, &found);
	answer_delay = (struct timespec){0};
	/*
	 * Call this before the assertions: a failed assertion would unblock the signal while it is
	 * pending.
	 */
	signals_renew_end();
	assert_int_equal(functions_err, -EINTR);
	assert_int_equal(late_err, -ETIMEDOUT);
	assert_int_equal(err, 0);
	assert_int_equal(found.version, 0x030b0000);
}

/* A termination signal does not interrupt the search for functions while the helper is runnable. */
static void busy_at_end(void **state)
{
	struct file_functions functions;
	int err;

	assert_int_equal(signals_hold_all(), 0);
	assert_int_equal(raise(SIGINT), 0);
	put_head(0, 0);
	/* Longer than the interval of checks for termination signals. */
	answer_work_ns = 300000000;
	forget_helper();
	err = prober_functions((int)(intptr_t)*state, 0, &wanted, MESSAGE_FOREVER, &functions);
	answer_work_ns = 0;
	signals_renew_end();
	assert_int_equal(err, 0);
	file_functions_deinit(&functions);
}

/* A termination signal does not interrupt reading a script frame's name. */
static void script_at_end(void **state)
{
	const struct memleak_script_frame frame = {.code = 0x1000};
	struct script_place place = {0};
	int err;

	assert_int_equal(signals_hold_all(), 0);
	assert_int_equal(raise(SIGINT), 0);
	message_reset(&false_answer);
	message_put_u32(&false_answer, 0);
	message_put_string(&false_answer, "serve");
	message_put_string(&false_answer, "app.py");
	message_put_u32(&false_answer, 12);
	answer_delay = (struct timespec){.tv_nsec = 300000000};
	reader.kind = &false_kind;
	forget_helper();
	err = prober_script((int)(intptr_t)*state, 0x030b0000, &frame, MESSAGE_FOREVER, &place);
	answer_delay = (struct timespec){0};
	signals_renew_end();
	assert_int_equal(err, 0);
	assert_string_equal(place.name, "serve");
	free(place.name);
	free(place.path);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, make_file, close_file)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILE(honest_answers),
		WITH_FILE(names_of_nobody),
		WITH_FILE(places_outside),
		WITH_FILE(place_far_from_its_entry),
		WITH_FILE(returns_outside),
		WITH_FILE(no_headers),
		WITH_FILE(verdicts),
		WITH_FILE(counts),
		WITH_FILE(strings),
		WITH_FILE(truncated),
		WITH_FILE(statuses),
		WITH_FILE(variables_and_sections),
		WITH_FILE(nearest_names),
		WITH_FILE(interpreter_at_end),
		WITH_FILE(busy_at_end),
		WITH_FILE(script_at_end),
		WITH_FILE(files_of_other_users),
		WITH_FILE(places_of_interpreter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
