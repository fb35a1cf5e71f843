// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * calls heap DEPTH ROUNDS | calls messages ROUNDS
 *
 * For each line on stdin, runs ROUNDS rounds and prints the mean CPU time of a round, in
 * nanoseconds. With "heap", a round is a call of malloc, DEPTH functions below main; its free is
 * not measured. With "messages", a round is a call of msgsnd and a call of msgrcv.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_MAX 4096

static int queue;
static double heap_ns;

static double now_ns(void)
{
	struct timespec now;

	/* Use the thread's CPU time: it excludes time spent waiting for a CPU. */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Returns the CPU time of one malloc, without its free, in nanoseconds. */
static __attribute__((noinline)) double blocks(long rounds)
{
	static void *held[ROUNDS_MAX];
	double t0 = now_ns(), ns;

	for (long i = 0; i < rounds; i++)
		held[i] = malloc(32);
	ns = (now_ns() - t0) / (double)rounds;
	for (long i = 0; i < rounds; i++)
		free(held[i]);
	return ns;
}

/*
 * Calls itself until it is `depth` functions deep, then runs all rounds there, so that the time of
 * the recursion is not measured.
 */
static __attribute__((noinline)) void heap(long depth, long rounds)
{
	if (depth > 1)
		heap(depth - 1, rounds);
	else
		heap_ns = blocks(rounds);
	__asm__ volatile("" : : : "memory");
}

static double messages(long rounds)
{
	struct {
		long type;
		char text[64];
	} message = {1, ""};
	double t0 = now_ns();

	for (long i = 0; i < rounds; i++) {
		if (msgsnd(queue, &message, sizeof(message.text), 0) ||
		    msgrcv(queue, &message, sizeof(message.text), 0, 0) < 0)
			exit(1);
	}
	return (now_ns() - t0) / (double)rounds;
}

int main(int argc, char **argv)
{
	char byte;

	if (argc == 3 && !strcmp(argv[1], "messages")) {
		queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
		if (queue < 0)
			return 1;
	} else if (argc != 4 || strcmp(argv[1], "heap")) {
		return 2;
	}
	if (argc == 4 && atol(argv[3]) > ROUNDS_MAX)
		return 2;
	while (read(STDIN_FILENO, &byte, 1) == 1) {
		if (byte != '\n')
			continue;
		if (argc == 4)
			heap(atol(argv[2]), atol(argv[3]));
		printf("%.1f\n", argc == 4 ? heap_ns : messages(atol(argv[2])));
		fflush(stdout);
	}
	if (argc == 3)
		msgctl(queue, IPC_RMID, NULL);
	return 0;
}
