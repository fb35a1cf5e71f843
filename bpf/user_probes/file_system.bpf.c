// SPDX-License-Identifier: GPL-2.0-or-later
/* The program that checks a file's file system, for proofs without traced processes. */
#include "bpf/user_probes/file_system.bpf.h"

char LICENSE[] SEC("license") = "GPL";
