// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Leaks in two phases. leak_early() leaks in the first phase only, and half of its blocks are freed
 * in the second. leak_late() leaks in the second phase only. leak_both() leaks in both phases: in
 * the second, most of its blocks are replaced, so their number stays the same.
 */
#include "truth.h"

#define SIZE 1000
#define CNT 4

static void *early[CNT], *late[CNT], *both[CNT];

OWN_FRAME static void *leak_early(void)
{
	return keep(malloc(SIZE)); /* LEAK */
}

OWN_FRAME static void *leak_late(void)
{
	return keep(malloc(2 * SIZE)); /* LEAK */
}

OWN_FRAME static void *leak_both(void)
{
	return keep(malloc(3 * SIZE)); /* LEAK */
}

int main(void)
{
	ready();

	for (size_t i = 0; i < CNT; i++)
		early[i] = leak_early();
	/* A loop, so that leak_both() has the same stack in both phases. */
	for (volatile int phase = 0; phase < 2; phase++) {
		for (size_t i = 0; i < CNT - (size_t)phase; i++) {
			free(both[i]);
			both[i] = leak_both();
		}
		leaks("leak_both", CNT, CNT * 3 * SIZE);
		if (!phase) {
			leaks("leak_early", CNT, CNT * SIZE);
			ready();
		}
	}
	for (size_t i = 0; i < CNT; i++)
		late[i] = leak_late();
	free(early[0]);
	free(early[1]);
	leaks("leak_early", CNT - 2, (CNT - 2) * SIZE);
	leaks("leak_late", CNT, CNT * 2 * SIZE);
	ready();
	return 0;
}
