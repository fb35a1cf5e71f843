// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library that scenes load by dlopen(). They store pointers in its global variable and in its
 * thread-local array.
 */
static __thread void *slots[1000];
void *global;

void **slot(void)
{
	return &slots[500];
}
