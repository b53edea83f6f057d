/* The SQL blocks of docs/origins.md, run as they stand there: the tables are given this pool's prefix, the
 * old ones (old_...) too. */
#include "base/buf.h"
#include "origins/origins.h"

enum { PAGE_MAX = 100000 };

static const char *read_page(void) {
    static char page[PAGE_MAX];
    FILE *file = fopen(TASKPOOL_SOURCE_DIR "/docs/origins.md", "r");
    sure(file, "docs/origins.md cannot be opened");
    size_t length = fread(page, 1, sizeof page - 1, file);
    page[length] = '\0';
    fclose(file);
    sure(length < sizeof page - 1, "docs/origins.md is too long for this test");
    return page;
}

/* What the page calls the database; the stand-in for Oracle has MariaDB's time functions. */
static const char *database(void) {
    if (pool_on_sqlite()) return "sqlite";
    if (pool_on_postgres()) return "postgres";
    return pool_on_oracle() && !prepared() ? "oracle" : "mysql";
}

static const char *find_block(const char *page, const char *name) {
    char fence[100];
    snprintf(fence, sizeof fence, "\n```sql %s\n", name);
    const char *found = strstr(page, fence);
    if (found) return found + strlen(fence);
    snprintf(fence, sizeof fence, "\n```sql %s %s\n", name, database());
    found = strstr(page, fence);
    return found ? found + strlen(fence) : NULL;
}

/* One line less of a block: comments go, old_ gets the prefix that sql.h puts in place of tp_. */
static void add_line(struct tpi_buf *sql, const char *line, size_t length) {
    if (strncmp(line, "--", 2) == 0) return;
    for (const char *at = line; at < line + length; at++) {
        bool begins = at == line || at[-1] == ' ';
        if (begins && strncmp(at, "old_", 4) == 0) tpi_buf_text(sql, "tp_");
        tpi_buf_char(sql, *at);
    }
    tpi_buf_char(sql, '\n');
}

const char *fresh_id(void) {
    if (strcmp(pool.entry, "postgres") == 0) return "gen_random_uuid()";
    if (pool_on_postgres()) return "CAST(gen_random_uuid() AS CHAR(36))";
    if (pool_on_oracle()) return "tp_new_id()";
    if (pool_on_mariadb()) return "UUID()";
    return "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-' || hex(randomblob(2)) || '-' || "
           "hex(randomblob(2)) || '-' || hex(randomblob(6)))";
}

/* INSERT INTO tp_pending (a, b) SELECT x, y, where a database has no defaults for ids (the stand-in for
 * Oracle, whose triggers come too late for INSERT ... SELECT) or for times (generic). */
static void run_with_columns(const char *sql) {
    const char *columns = strchr(sql, '(') + 1, *values = strstr(columns, "SELECT ") + 7;
    bool times = pool_on_generic() && !strstr(sql, "due_at"), id = strncmp(columns, "id,", 3) != 0;
    sql_run(pool.eye, "%.*s%s%s%.*s%s%s%s%s", (int)(columns - sql), sql, id ? "id, " : "",
            times               ? "due_at, created_at, modified_at, "
            : pool_on_generic() ? "created_at, modified_at, "
                                : "",
            (int)(values - columns), columns, id ? fresh_id() : "", id ? ", " : "",
            times               ? "1000000000000, 1, 1, "
            : pool_on_generic() ? "1, 1, "
                                : "",
            values);
}

/* Runs what was gathered when it is a whole statement. */
static void run_whole(struct tpi_buf *sql) {
    size_t length = sql->length;
    if (length < 2 || strcmp(tpi_buf_str(sql) + length - 2, ";\n") != 0) return;
    sql->data[length - 2] = '\0';
    bool bare = pool_on_generic() || prepared();
    if (bare && strncmp(sql->data, "INSERT INTO tp_pending (", 24) == 0 && strstr(sql->data, "SELECT "))
        run_with_columns(sql->data);
    else
        sql_run(pool.eye, "%s", sql->data);
    tpi_buf_clear(sql);
}

void run_block(const char *name) {
    struct tpi_buf sql = {0};
    const char *at = find_block(read_page(), name);
    sure(at, "docs/origins.md has no block %s for %s", name, pool.entry);
    must(tp_begin(pool.eye));
    while (strncmp(at, "```", 3) != 0) {
        const char *end = strchr(at, '\n');
        add_line(&sql, at, (size_t)(end - at));
        run_whole(&sql);
        at = end + 1;
    }
    must(tp_commit(pool.eye));
    sure(sql.length == 0, "block %s does not end with a semicolon", name);
    tpi_buf_free(&sql);
}
