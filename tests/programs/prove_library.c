// SPDX-License-Identifier: GPL-2.0-or-later
/* A library that is loaded late, with places for pointers. */
static __thread void *slots[1000];
void *global;

void **slot(void)
{
	return &slots[500];
}
