// SPDX-License-Identifier: GPL-2.0-or-later
/* A library with places for pointers, loaded late. */
static __thread void *slots[1000];
void *global;

void **slot(void)
{
	return &slots[500];
}
