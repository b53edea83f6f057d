/* SQLite tells of the work of a statement only in the process that runs it. The driver calls the library by
 * name, so the program's own sqlite3_step comes first: it passes on, and adds up what the statement did. */
#include <dlfcn.h>
#include <sqlite3.h>

#include "bench/measure/counts.h"

struct counts counts_of_sqlite;
bool counts_open_of_sqlite;

typedef int step_fn(sqlite3_stmt *stmt);

static int64_t pages(sqlite3 *db, int which) {
    int now = 0, most = 0;
    sqlite3_db_status(db, which, &now, &most, 1);
    return now;
}

__attribute__((visibility("default"))) int sqlite3_step(sqlite3_stmt *stmt) {
    static step_fn *real;
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "sqlite3_step");
    if (!counts_open_of_sqlite) return real(stmt);
    sqlite3 *db = sqlite3_db_handle(stmt);
    int answer = real(stmt);
    counts_of_sqlite.rows += sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 1);
    counts_of_sqlite.buffers += pages(db, SQLITE_DBSTATUS_CACHE_HIT) + pages(db, SQLITE_DBSTATUS_CACHE_MISS);
    return answer;
}
