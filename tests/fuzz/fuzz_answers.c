// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes the code that reads replies of the prober and the unwinder, helper processes that a
 * hostile file may control; "make fuzz" builds and runs it. The first byte of an input selects the
 * kind of reply. The .c files under test are included, because the functions that read replies are
 * static.
 */
#include "prober/prober.c"
#include "unwinder/unwinder.c"
#undef SEND_NS
#include "unwinder/walker.c"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CODE_END 0x4000

static void check_status(int err)
{
	if (err > 0 || err < -4095)
		abort();
}

static void check_functions(const struct question *question)
{
	const struct file_functions *functions = &question->functions;

	if (functions->cnt > FILE_PROBES_MAX)
		abort();
	for (size_t i = 0; i < functions->cnt; i++) {
		const struct found_function *function = &functions->items[i];

		if (function->name >= question->wanted->cnt || function->offset >= CODE_END ||
		    function->offset + function->place.offset >= CODE_END)
			abort();
		for (size_t j = 0; j < function->return_cnt; j++)
			if (function->returns[j] >= CODE_END)
				abort();
	}
}

/* Makes an ELF file with nothing but code. */
static int make_file(void)
{
	const struct {
		Elf64_Ehdr file;
		Elf64_Phdr code;
	} headers = {
		.file = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64},
			 .e_phoff = sizeof(Elf64_Ehdr),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1},
		.code = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = CODE_END},
	};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (write(fd, &headers, sizeof(headers)) != sizeof(headers))
		abort();
	return fd;
}

static void fuzz_functions(struct message *answer)
{
	static const struct wanted_function items[] = {{.name = "malloc"}, {.name = "free"}, {0}};
	static const struct wanted_functions wanted = {.items = items, .cnt = 3};
	static int fd = -1;
	struct question question = {.wanted = &wanted};
	int err;

	if (fd < 0)
		fd = make_file();
	question.fd = fd;
	err = take_functions(&question, answer);

	check_status(err);
	check_status(question.status);
	if (err || question.status)
		return;
	check_functions(&question);
	file_functions_deinit(&question.functions);
}

static void fuzz_variable(struct message *answer)
{
	struct question question = {0};

	check_status(take_variable(&question, answer));
	check_status(take_section(&question, answer));
}

/* Uses the first 28 bytes as the reply, and the rest as the words of an unwind table. */
static void fuzz_table(struct message *answer)
{
	const size_t head = 28;
	struct unwinder unwinder = {.words_fd = memfd_create("fuzz", MFD_CLOEXEC)};
	struct table_answer taken = {.unwinder = &unwinder};
	size_t len = answer->len;

	if (len < head) {
		close_words(&unwinder);
		return;
	}
	answer->len = head;
	if (write(unwinder.words_fd, answer->data + head, len - head) != (ssize_t)(len - head))
		abort();
	check_status(take_table(&taken, answer));
	check_status(taken.status);
	if (taken.table.words && !unwind_table_valid(&taken.table))
		abort();
	unwind_table_deinit(&taken.table);
	close_words(&unwinder);
}

static void fuzz_stack(struct message *answer)
{
	static struct walker_stack stack;
	int err = take_stack(&stack, answer);

	check_status(err);
	if (!err && (stack.cnt > WALKER_FRAMES_MAX || stack.end >= WALKER_END_CNT))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const fuzz[])(struct message * answer) = {fuzz_functions, fuzz_variable,
								fuzz_table, fuzz_stack};
	struct message answer = {.fd = -1};

	if (!size)
		return 0;
	message_put_bytes(&answer, data + 1, size - 1);
	if (answer.failed)
		return 0;
	fuzz[data[0] % (sizeof(fuzz) / sizeof(fuzz[0]))](&answer);
	answer.fd = -1;
	message_deinit(&answer);
	return 0;
}
