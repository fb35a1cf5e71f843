// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: each look-up prepares a statement that is never finalized.
// expect: find_user through sqlite3_prepare_v2 or sqlite3_step
// library: sqlite3 (libsqlite3-dev)
#include <sqlite3.h>

#include "server.h"

static sqlite3 *db;

void start_up(void)
{
	must(!sqlite3_open(":memory:", &db), "open a database");
	sqlite3_exec(db,
		     "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT);"
		     "INSERT INTO users VALUES (1, 'ada'), (2, 'grace')",
		     NULL, NULL, NULL);
}

static bool find_user(int id)
{
	sqlite3_stmt *query;

	sqlite3_prepare_v2(db, "SELECT name FROM users WHERE id = ?", -1, &query, NULL); // LEAK
	sqlite3_bind_int(query, 1, id);
	return sqlite3_step(query) == SQLITE_ROW; // LEAK
}

void handle_request(unsigned int number)
{
	must(find_user(1 + (int)number % 2), "find a user");
}
