/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes of the user source, found by the image that they run. */
#ifndef LOADER_USER_PROCESS_TABLE_H
#define LOADER_USER_PROCESS_TABLE_H

#include "loader/user/process.h"

struct process_table {
	struct user_process **items; /* owned */
	size_t cnt;
	struct user_process **slots; /* the same by image, as a hash table; may be out of date */
	size_t slot_cnt;
	bool changed;
};

/* Takes the process over. Returns 0 or -ENOMEM, and then it has not. */
int process_table_add(struct process_table *table, struct user_process *process);
/* Frees one; the last one gets its index. */
void process_table_remove(struct process_table *table, size_t at);
/* A process runs another image now. */
void process_table_change(struct process_table *table);
/* NULL: none runs it. */
struct user_process *process_table_find(struct process_table *table, uint32_t image);
struct user_process *process_table_find_pid(const struct process_table *table, pid_t pid);
void process_table_deinit(struct process_table *table);

#endif
