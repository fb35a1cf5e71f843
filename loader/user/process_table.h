/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes of the user source, with a hash table by image. */
#ifndef LOADER_USER_PROCESS_TABLE_H
#define LOADER_USER_PROCESS_TABLE_H

#include "loader/user/process.h"

struct process_table {
	struct user_process **items; /* the processes, which the table owns */
	size_t cnt;
	/* hash table: finds an item by its image; outdated if `changed` is set */
	struct user_process **slots;
	size_t slot_cnt;
	bool changed;
};

/* Takes ownership of the process. If -ENOMEM is returned, the caller still owns it. */
int process_table_add(struct process_table *table, struct user_process *process);
/* Frees the process at an index; the last process moves to this index. */
void process_table_remove(struct process_table *table, size_t at);
/* Must be called after the image of a process has changed. */
void process_table_change(struct process_table *table);
/* Returns the process that runs the image, or NULL. */
struct user_process *process_table_find(struct process_table *table, uint32_t image);
struct user_process *process_table_find_pid(const struct process_table *table, pid_t pid);
void process_table_deinit(struct process_table *table);

#endif
