/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Skips tests that need rights which this process lacks, and prints the missing right. */
#ifndef TESTS_UNIT_LIB_RIGHTS_H
#define TESTS_UNIT_LIB_RIGHTS_H

#include <linux/capability.h>

/* Skips the test unless root runs it and has the capability. */
#define NEED_ROOT(cap) need_root(cap, #cap)
void need_root(unsigned int cap, const char *name);

/* Skips the test unless root runs it and may load BPF programs that use kernel types. */
void need_bpf(void);

#endif
