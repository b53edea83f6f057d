/* Asks each database for the plan of a statement. See explain.h. */
#include "plans/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/conn.h"
#include "support/check.h"
#include "support/pool.h"
#include "support/sql.h"

/* A sort of more rows than this is no sort of few. */
enum { FEW = 800, COLUMNS = 12 };

/* What is not large: a handful of rows, whatever becomes of the pool, and rows made on the way. */
static const char CATALOGS[] = "cat"; /* of one row, in MySQL's dictionary */
static const char *const small[] = {"schedule", "calendar", "worker", "pause", "meta", "audit_head"};

static struct tpi_sql explained[TPI_STATEMENT_COUNT];
static struct tpi_dialect dialect;

void explain_open(void) {
    struct tpi_store *store = &pool.a->store;
    const char *word = pool_on_sqlite()  ? "EXPLAIN QUERY PLAN "
                       : pool_on_mysql() ? "EXPLAIN FORMAT = TRADITIONAL "
                                         : "EXPLAIN ";
    dialect = *store->dialect;
    for (size_t i = 0; i < TPI_STATEMENT_COUNT; i++) {
        struct tpi_buf text = {0};
        explained[i] = dialect.sql[i];
        if (!explained[i].text) continue;
        tpi_buf_text(&text, word);
        tpi_buf_text(&text, explained[i].text);
        explained[i].text = text.data; /* for the rest of the program */
    }
    dialect.sql = explained;
    store->dialect = &dialect;
}

/* ---- Judging lines ------------------------------------------------------------------------------------- */

/* One plan being read, line by line. */
struct reading {
    struct seen *seen;
    char index[SEEN_LINE]; /* an index that has not shown a condition yet */
    char sort[SEEN_LINE];  /* a sort of many that has not shown what is in order before */
    char made[SEEN_LINE];  /* names of what the statement makes on the way */
};

static void keep(char *out, const char *line) {
    if (!*out) snprintf(out, SEEN_LINE, "%s", line);
}

/* Does name begin with one of the small tables' names? */
static bool is_small(const char *name) {
    size_t prefix = strlen(pool.prefix);
    if (strncmp(name, pool.prefix, prefix) != 0) return false;
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++)
        if (strncmp(name + prefix, small[i], strlen(small[i])) == 0) return true;
    return false;
}

static const char *after(const char *line, const char *words) {
    const char *at = strstr(line, words);
    return at ? at + strlen(words) : NULL;
}

static void note_index(const char *line, struct seen *seen) {
    if (strstr(line, "pending_shd")) seen->by_shard = true;
    if (strstr(line, "pending_due")) seen->by_due = true;
}

/* The node before has shown all that it has. */
static void end_node(struct reading *reading) {
    if (*reading->index) keep(reading->seen->index, reading->index);
    if (*reading->sort) keep(reading->seen->sort, reading->sort);
    reading->index[0] = reading->sort[0] = '\0';
}

/* A condition that leads nowhere but through the primary key, because elsewhere ids stand last. */
static bool by_id_alone(const char *line) {
    return strstr(line, "Index Cond: (id ") || strstr(line, "Index Cond: ((id ");
}

/* One node is a line, what belongs to it are the lines below. Where rows come in the order of a time, only
 * those with the same are sorted. */
static void judge_postgres(const char *line, struct reading *reading) {
    static const char *const by_index[] = {"Index Scan using ", "Index Only Scan using ",
                                           "Index Only Scan Backward using ", "Index Scan Backward using ",
                                           "Bitmap Index Scan on "};
    const char *name = after(line, "Seq Scan on "), *rows = after(line, " rows=");
    note_index(line, reading->seen);
    if (rows) end_node(reading);
    if (by_id_alone(line) && !strstr(reading->index, "_pk")) keep(reading->seen->index, reading->index);
    if (strstr(line, "Index Cond:")) reading->index[0] = '\0';
    if (strstr(line, "Join Filter:")) keep(reading->seen->scan, line); /* each row beside each */
    if (strstr(line, "Presorted Key:") && strstr(line, "_at")) reading->sort[0] = '\0';
    if (name && !is_small(name)) keep(reading->seen->scan, line);
    for (size_t i = 0; i < sizeof by_index / sizeof by_index[0]; i++) {
        name = after(line, by_index[i]);
        if (name && !is_small(name)) keep(reading->index, line);
    }
    if (rows && strstr(line, "Sort  (") && strtol(rows, NULL, 10) > FEW) keep(reading->sort, line);
}

static bool is_made(const char *name, const struct reading *reading) {
    size_t length = strcspn(name, " ");
    const char *at = reading->made;
    while ((at = strchr(at, ' ')))
        if (strncmp(++at, name, length) == 0 && at[length] == ' ') return true;
    return strncmp(name, "json_each", 9) == 0 || *name == '(' || strncmp(name, "CONSTANT", 8) == 0;
}

static void judge_sqlite(const char *line, struct reading *reading) {
    const char *name = after(line, "SCAN "), *made = after(line, "CO-ROUTINE ");
    size_t used = strlen(reading->made);
    note_index(line, reading->seen);
    if (!made) made = after(line, "MATERIALIZE ");
    if (made) snprintf(reading->made + used, SEEN_LINE - used, " %s ", made);
    if (name && !is_made(name, reading) && !is_small(name))
        keep(strstr(name, "USING") ? reading->seen->index : reading->seen->scan, line);
    if (strstr(line, "USE TEMP B-TREE")) keep(reading->seen->sort, line);
}

/* Columns: id, select_type, table, type, possible_keys, key, key_len, ref, rows, Extra; MySQL has partitions
 * before type and filtered before Extra, too. */
static void judge_mariadb(char (*column)[SEEN_LINE], struct seen *seen) {
    char line[SEEN_LINE];
    int more = pool_on_mysql() ? 1 : 0;
    const char *table = column[2], *type = column[3 + more], *key = column[5 + more];
    const char *extra = column[9 + 2 * more];
    long rows = strtol(column[8 + more], NULL, 10);
    snprintf(line, sizeof line, "%.60s %.20s %.60s rows=%ld %.100s", table, type, key, rows, extra);
    note_index(key, seen);
    bool made = *table == '<' || strstr(extra, "Table function") || strcmp(table, CATALOGS) == 0;
    bool large = rows > 0 && !made && !is_small(table);
    if (large && strcmp(type, "ALL") == 0) keep(seen->scan, line);
    if (large && strcmp(type, "index") == 0) keep(seen->index, line);
    if (strstr(extra, "Using filesort") && rows > FEW) keep(seen->sort, line);
}

/* ---- Asking -------------------------------------------------------------------------------------------- */

static void read_row(struct tpi_stmt *rows, char (*column)[SEEN_LINE]) {
    int first = pool_on_sqlite() ? 4 : 1, last = pool_on_mysql()     ? COLUMNS
                                                 : pool_on_mariadb() ? COLUMNS - 2
                                                                     : first;
    for (int i = first; i <= last; i++) {
        struct tpi_buf text = {0};
        bool is_null = false;
        must(tpi_stmt_column(rows, (size_t)i, &text, &is_null));
        snprintf(column[i - first], SEEN_LINE, "%s", tpi_buf_str(&text));
        tpi_buf_free(&text);
    }
}

/* Does this database need the statement? */
static bool is_run(enum tpi_statement statement) {
    unsigned caps = tpi_statement_caps(statement);
    return explained[statement].text && (!caps || (caps & pool.a->store.caps));
}

bool explain(enum tpi_statement statement, struct tpi_args *args, struct seen *seen) {
    struct tpi_stmt *rows = NULL;
    char column[COLUMNS][SEEN_LINE];
    struct reading reading = {.seen = seen};
    *seen = (struct seen){0};
    if (!is_run(statement)) return false;
    must(tpi_store_query(&pool.a->store, statement, args, &rows));
    while (tpi_stmt_fetch(rows) == TP_OK) {
        read_row(rows, column);
        if (pool_on_postgres()) judge_postgres(column[0], &reading);
        if (pool_on_sqlite()) judge_sqlite(column[0], &reading);
        if (pool_on_mariadb()) judge_mariadb(column, seen);
    }
    end_node(&reading);
    return true;
}

/* ---- Any parameters ------------------------------------------------------------------------------------ */

/* PREPARE with numbers for the places, and as many NULLs to run it with. */
static void write_prepare(const char *sql, struct tpi_buf *prepare, struct tpi_buf *execute) {
    int places = 0;
    char place[16];
    tpi_buf_text(prepare, "PREPARE flat_any AS ");
    tpi_buf_text(execute, "EXPLAIN EXECUTE flat_any");
    for (const char *at = sql; *at; at++) {
        if (*at != '?') {
            tpi_buf_char(prepare, *at);
            continue;
        }
        snprintf(place, sizeof place, "$%d", ++places);
        tpi_buf_text(prepare, place);
        tpi_buf_text(execute, places == 1 ? "(NULL" : ", NULL");
    }
    if (places) tpi_buf_text(execute, ")");
}

static void judge_line(const struct sql_row *row, void *arg) {
    judge_postgres(row->cell[0], arg);
}

bool explain_any(enum tpi_statement statement, const struct tpi_args *args, struct seen *seen) {
    struct tpi_buf sql = {0}, prepare = {0}, execute = {0};
    struct reading reading = {.seen = seen};
    const struct tpi_sql *text = &pool.eye->store.dialect->sql[statement];
    *seen = (struct seen){0};
    if (!pool_on_postgres() || !is_run(statement)) return false;
    struct tpi_repeats places = {args->list_count, args->number_count, 1,
                                 args->number_count && strcmp(*args->numbers, "0") == 0};
    tpi_render(text, pool.prefix, places, &sql);
    write_prepare(sql.data, &prepare, &execute);
    sql_run(pool.eye, "SET plan_cache_mode = force_generic_plan");
    sql_run(pool.eye, "%s", prepare.data);
    sure(sql_raw_each(tp_conn_dbc(pool.eye), judge_line, &reading, "%s", execute.data), "%s", sql_reason());
    sql_run(pool.eye, "DEALLOCATE flat_any");
    end_node(&reading);
    tpi_buf_free(&sql);
    tpi_buf_free(&prepare);
    tpi_buf_free(&execute);
    return true;
}
