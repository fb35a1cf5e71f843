// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: statements are finalized; the database has only the last 200 rows.
// expect: nothing
// library: sqlite3 (libsqlite3-dev)
#include <sqlite3.h>

#include "server.h"

static sqlite3 *db;

void start_up(void)
{
	must(!sqlite3_open(":memory:", &db), "open a database");
	sqlite3_exec(db, "CREATE TABLE log (number INTEGER PRIMARY KEY, text TEXT)", NULL, NULL,
		     NULL);
}

static void run(const char *sql, unsigned int number)
{
	sqlite3_stmt *statement;

	must(!sqlite3_prepare_v2(db, sql, -1, &statement, NULL), "prepare");
	sqlite3_bind_int(statement, 1, (int)number);
	sqlite3_step(statement);
	sqlite3_finalize(statement);
}

void handle_request(unsigned int number)
{
	run("INSERT INTO log VALUES (?1, 'request ' || ?1)", number);
	if (number >= 200)
		run("DELETE FROM log WHERE number = ?", number - 200);
}
