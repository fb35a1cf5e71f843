// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs a program of made_heap.h, and reads the records of its blocks. */
#include "tests/unit/proof/heap_program.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/order.h"

static int used_first(const void *a, const void *b)
{
	const struct made_block *block_a = a, *block_b = b;

	return ORDER(block_b->is_used, block_a->is_used) ?: ORDER(block_a->addr, block_b->addr);
}

static void read_line(struct heap_program *program, int output)
{
	char line[64] = "";
	ssize_t len = read(output, line, sizeof(line) - 1);

	if (len <= 0 || sscanf(line, "truth 0x%lx %zu", &program->truth, &program->cnt) != 2)
		fail_msg("unexpected output of the program: '%s'", line);
	program->blocks = calloc(program->cnt, sizeof(*program->blocks));
	assert_non_null(program->blocks);
}

void heap_program_read(struct heap_program *program)
{
	struct iovec to, from;

	to = (struct iovec){program->blocks, program->cnt * sizeof(*program->blocks)};
	from = (struct iovec){(void *)program->truth, to.iov_len};
	program->used_cnt = 0;
	assert_int_equal(process_vm_readv(program->pid, &to, 1, &from, 1, 0), to.iov_len);
	/* The block may just be allocated or freed: count it as free. */
	for (size_t i = 0; i < program->cnt; i++)
		if (program->blocks[i].is_used == MADE_BLOCK_CHANGING)
			program->blocks[i].is_used = 0;
	qsort(program->blocks, program->cnt, sizeof(*program->blocks), used_first);
	while (program->used_cnt < program->cnt && program->blocks[program->used_cnt].is_used)
		program->used_cnt++;
}

void heap_program_start(struct heap_program *program, char **argv, const char *tunables)
{
	int input[2], output[2];

	assert_int_equal(pipe(input) | pipe(output), 0);
	program->pid = fork();
	assert_true(program->pid >= 0);
	if (!program->pid) {
		dup2(input[0], 0);
		dup2(output[1], 1);
		close(input[1]);
		close(output[0]);
		if (tunables)
			setenv("GLIBC_TUNABLES", tunables, 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(input[0]);
	close(output[1]);
	program->input = input[1];
	read_line(program, output[0]);
	close(output[0]);
}

void heap_program_end(struct heap_program *program)
{
	int status;

	close(program->input);
	assert_int_equal(waitpid(program->pid, &status, 0), program->pid);
	assert_int_equal(status, 0);
	free(program->blocks);
}
