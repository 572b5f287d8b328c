/*
 * sql DATABASE STATEMENT: runs a statement, for tests that take something away
 * from a store. Prints how many rows it changed.
 */

#include <sqlite3.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	sqlite3 *db = NULL;
	int status = 1;

	if (argc != 3) {
		fprintf(stderr, "usage: sql DATABASE STATEMENT\n");
		return 2;
	}
	if (sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
	    sqlite3_exec(db, argv[2], NULL, NULL, NULL) == SQLITE_OK) {
		printf("%d\n", sqlite3_changes(db));
		status = 0;
	} else {
		fprintf(stderr, "%s\n", sqlite3_errmsg(db));
	}
	sqlite3_close(db);
	return status;
}
