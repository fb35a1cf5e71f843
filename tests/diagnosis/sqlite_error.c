// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: the error messages of failing statements; one statement in four fails.
// expect: store_visit through sqlite3_exec
// library: sqlite3 (libsqlite3-dev)
#include <sqlite3.h>

#include "server.h"

static sqlite3 *db;

void start_up(void)
{
	must(!sqlite3_open(":memory:", &db), "open a database");
	sqlite3_exec(db, "CREATE TABLE visits (page INTEGER PRIMARY KEY)", NULL, NULL, NULL);
}

static bool store_visit(unsigned int page)
{
	char *sql = sqlite3_mprintf("INSERT INTO visits VALUES (%u)", page);
	char *message = NULL;
	int code = sqlite3_exec(db, sql, NULL, NULL, &message); // LEAK

	sqlite3_free(sql);
	return code == SQLITE_OK;
}

void handle_request(unsigned int number)
{
	store_visit(number % 4 == 3 ? number - 1 : number);
	if (number % 50 == 49)
		sqlite3_exec(db, "DELETE FROM visits", NULL, NULL, NULL);
}
