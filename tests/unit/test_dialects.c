/* Every dialect against what the library asks of one: statements, parameters, plans, versions of databases.
 * The names in their SQL: test_sql_text.c. */
#include "dialect/dialect.h"
#include "support/test.h"

typedef void see_fn(const struct tpi_dialect *dialect, enum tpi_statement statement,
                    const struct tpi_sql *sql);

/* Calls see for every statement that the dialect has. */
static void for_all(see_fn *see) {
    const struct tpi_dialect *dialect;
    int seen = 0;
    for (size_t i = 0; (dialect = tpi_dialect_at(i)); i++)
        for (int s = 0; s < TPI_STATEMENT_COUNT; s++) {
            if (!dialect->sql[s].text) continue;
            see(dialect, (enum tpi_statement)s, &dialect->sql[s]);
            seen++;
        }
    assert_true(seen > 100);
}

static void fail_statement(const struct tpi_dialect *dialect, enum tpi_statement statement,
                           const char *what) {
    fail_msg("%s, %s: %s", dialect->name, tpi_statement_name(statement), what);
}

TEST(test_dialects__are_found_by_name_in_any_case) {
    static const char *const names[] = {"oracle", "mysql", "postgres", "sqlite", "generic"};
    char all[100];
    for (size_t i = 0; i < 5; i++) {
        assert_non_null(tpi_dialect_by_name(names[i]));
        assert_string_equal(tpi_dialect_by_name(names[i])->name, names[i]);
    }
    assert_ptr_equal(tpi_dialect_by_name("PostGres"), tpi_dialect_by_name("postgres"));
    assert_null(tpi_dialect_by_name("db2"));
    assert_null(tpi_dialect_by_name(""));
    assert_non_null(tpi_dialect_at(4));
    assert_null(tpi_dialect_at(5));
    assert_null(tpi_dialect_at(SIZE_MAX));
    tpi_dialect_names(all, sizeof all);
    assert_string_equal(all, "oracle, mysql, postgres, sqlite, generic");
}

TEST(test_dialects__are_found_by_the_name_of_the_database) {
    static const char *const found[][2] = {
        {"PostgreSQL", "postgres"}, {"MariaDB", "mysql"},    {"MySQL", "mysql"},
        {"SQLite", "sqlite"},       {"Oracle", "oracle"},    {"mariadb", "mysql"},
        {"DB2/LINUX", "generic"},   {"Postgres", "generic"}, {"", "generic"}};
    for (size_t i = 0; i < COUNT(found); i++)
        assert_string_equal(tpi_dialect_for_dbms(found[i][0])->name, found[i][1]);
}

TEST(test_dialects__names_are_not_cut_beyond_the_room) {
    char small[12];
    memset(small, 'x', sizeof small);
    tpi_dialect_names(small, 10);
    assert_true(strlen(small) < 10);
    assert_int_equal(small[10], 'x');
}

TEST(test_dialects__have_every_statement_that_their_capabilities_need) {
    const struct tpi_dialect *dialect;
    for (size_t i = 0; (dialect = tpi_dialect_at(i)); i++)
        for (int s = 0; s < TPI_STATEMENT_COUNT; s++) {
            unsigned caps = tpi_statement_caps((enum tpi_statement)s);
            bool needed = caps == 0 || (caps & dialect->caps) != 0;
            if (needed && !dialect->sql[s].text) fail_statement(dialect, (enum tpi_statement)s, "is missing");
        }
}

static void knows_its_parameters(const struct tpi_dialect *dialect, enum tpi_statement statement,
                                 const struct tpi_sql *sql) {
    size_t places = 0;
    int lists[2] = {-1, -1}; /* of texts, of numbers */
    for (const char *at = sql->text; *at; at++)
        places += *at == TPI_SQL_PARAM;
    if (places != sql->param_count) fail_statement(dialect, statement, "places and parameters differ");
    for (size_t i = 0; i < sql->param_count; i++) {
        if (sql->params[i] >= TPI_PARAM_COUNT) fail_statement(dialect, statement, "unknown parameter");
        enum tpi_param_kind kind = tpi_param_kind((enum tpi_param)sql->params[i]);
        if (kind != TPI_TEXT_LIST && kind != TPI_NUMBER_LIST) continue;
        int *list = &lists[kind == TPI_NUMBER_LIST];
        if (*list >= 0 && *list != sql->params[i]) fail_statement(dialect, statement, "two different lists");
        *list = sql->params[i];
    }
}

TEST(test_dialects__know_every_parameter) {
    for_all(knows_its_parameters);
}

/* Gives the parameters before at. */
static size_t params_before(const char *text, const char *at) {
    size_t count = 0;
    for (; text < at; text++)
        count += *text == TPI_SQL_PARAM;
    return count;
}

static bool uses(const struct tpi_sql *sql, enum tpi_param param) {
    for (size_t i = 0; i < sql->param_count; i++)
        if (sql->params[i] == param) return true;
    return false;
}

/* It holds one list of numbers, or no parameter. */
static void holds_shards(const struct tpi_dialect *dialect, enum tpi_statement statement,
                         const struct tpi_sql *sql, const char *begin, const char *end) {
    size_t first = params_before(sql->text, begin), count = params_before(sql->text, end) - first;
    if (count > 1 || (count && tpi_param_kind((enum tpi_param)sql->params[first]) != TPI_NUMBER_LIST))
        fail_statement(dialect, statement, "an optional part holds one list of numbers and nothing else");
}

static void makes_shards_optional(const struct tpi_dialect *dialect, enum tpi_statement statement,
                                  const struct tpi_sql *sql) {
    bool by_handler = uses(sql, TPI_P_handlers) || uses(sql, TPI_P_priority);
    bool picks = statement == TPI_S_claim_lanes || (by_handler && strstr(sql->text, "due_at <= "));
    const char *end = sql->text;
    if (picks && !strchr(sql->text, TPI_SQL_IF))
        fail_statement(dialect, statement, "picks tasks, but not by shard");
    for (const char *begin; (begin = strchr(end, TPI_SQL_IF)) != NULL;) {
        end = strchr(begin, TPI_SQL_IF_END);
        if (!end) fail_statement(dialect, statement, "the marks of an optional part do not pair");
        if (!end) return;
        holds_shards(dialect, statement, sql, begin, end);
        const char *but_0 = strchr(begin, TPI_SQL_BUT_0);
        if (but_0 && but_0 < end && params_before(sql->text, but_0) != params_before(sql->text, end))
            fail_statement(dialect, statement, "what is not for shard 0 has a parameter");
    }
}

TEST(test_dialects__pick_by_shard_only_when_shards_are_given) {
    for_all(makes_shards_optional);
}

static void repeats_rows_properly(const struct tpi_dialect *dialect, enum tpi_statement statement,
                                  const struct tpi_sql *sql) {
    const char *begin = strchr(sql->text, TPI_SQL_ROWS), *end = strchr(sql->text, TPI_SQL_ROWS_END);
    if (!begin != !end || (begin && end < begin)) fail_statement(dialect, statement, "row marks do not pair");
    if (begin && (strchr(begin + 1, TPI_SQL_ROWS) || strchr(end + 1, TPI_SQL_ROWS_END)))
        fail_statement(dialect, statement, "more than one pair of row marks");
    bool lanes = statement == TPI_S_claim_lanes || statement == TPI_S_claim_pick ||
                 statement == TPI_S_claim_candidates ||
                 (statement == TPI_S_claim_batch && (dialect->caps & TPI_CAP_ONE_WRITER));
    bool many = (statement == TPI_S_enqueue_many && !(dialect->caps & TPI_CAP_DOCUMENT)) ||
                statement == TPI_S_operate_note || lanes;
    if (many != (begin != NULL)) fail_statement(dialect, statement, "row marks and capability disagree");
}

TEST(test_dialects__repeat_rows_only_where_documents_do_not_do_or_lanes_are_asked_for) {
    for_all(repeats_rows_properly);
}

static void takes_documents(const struct tpi_dialect *dialect, enum tpi_statement statement,
                            const struct tpi_sql *sql) {
    bool many = statement == TPI_S_enqueue_many || statement == TPI_S_enqueue_new;
    bool wanted = many && (dialect->caps & TPI_CAP_DOCUMENT);
    if (uses(sql, TPI_P_document) != wanted)
        fail_statement(dialect, statement, "document and capability disagree");
}

TEST(test_dialects__take_documents_as_their_capability_says) {
    for_all(takes_documents);
}

/* Law 1: a client's clock gets in only where the database has no usable one. */
static void trusts_its_own_clock(const struct tpi_dialect *dialect, enum tpi_statement statement,
                                 const struct tpi_sql *sql) {
    bool from_outside =
        uses(sql, TPI_P_now) || uses(sql, TPI_P_now_plus_delay) || uses(sql, TPI_P_now_plus_lease);
    if (from_outside && !(dialect->caps & TPI_CAP_CLIENT_CLOCK))
        fail_statement(dialect, statement, "takes the time from outside");
}

TEST(test_dialects__take_the_time_from_outside_only_without_a_clock) {
    for_all(trusts_its_own_clock);
}

static bool names_ids(const struct tpi_sql *sql) {
    return uses(sql, TPI_P_ids) != uses(sql, TPI_P_ids_document);
}

/* Law 2: every write that ends or extends a claim names id, state and token. */
TEST(test_dialects__guard_every_settling_write_by_id_state_and_token) {
    const struct tpi_dialect *dialect;
    static const enum tpi_statement settling[] = {TPI_S_move_finished, TPI_S_move_failed,
                                                  TPI_S_settle_retry,  TPI_S_settle_release,
                                                  TPI_S_settle_extend, TPI_S_task_params};
    static const enum tpi_statement many[] = {TPI_S_move_finished_many, TPI_S_settle_extend_many};
    for (size_t i = 0; (dialect = tpi_dialect_at(i)); i++)
        for (size_t s = 0; s < COUNT(settling); s++) {
            const struct tpi_sql *sql = &dialect->sql[settling[s]];
            if (!uses(sql, TPI_P_id)) fail_statement(dialect, settling[s], "does not name the id");
            if (!uses(sql, TPI_P_token)) fail_statement(dialect, settling[s], "does not name the token");
            if (!strstr(sql->text, "state = 'handling'"))
                fail_statement(dialect, settling[s], "does not name the state");
        }
    for (size_t i = 0; (dialect = tpi_dialect_at(i)); i++)
        for (size_t s = 0; s < COUNT(many); s++) {
            const struct tpi_sql *sql = &dialect->sql[many[s]];
            if (!names_ids(sql) || !uses(sql, TPI_P_token) || !strstr(sql->text, "state = 'handling'"))
                fail_statement(dialect, many[s], "does not name ids, state and token");
        }
}

TEST(test_dialects__guard_the_second_half_of_a_move) {
    const struct tpi_dialect *dialect;
    for (size_t i = 0; (dialect = tpi_dialect_at(i)); i++) {
        const struct tpi_sql *one = &dialect->sql[TPI_S_move_delete];
        const struct tpi_sql *many = &dialect->sql[TPI_S_move_delete_many];
        if (!(dialect->caps & TPI_CAP_MOVE_IN_TWO)) continue;
        assert_true(uses(one, TPI_P_id) && uses(one, TPI_P_token));
        assert_true(names_ids(many) && uses(many, TPI_P_token));
        assert_non_null(strstr(one->text, "state = 'handling'"));
        assert_non_null(strstr(many->text, "state = 'handling'"));
    }
}

/* A task of plan hold carries no mark: what its row looked like under the lock stands for the token. */
TEST(test_dialects__guard_the_completion_of_a_held_task_by_what_its_row_was) {
    const struct tpi_dialect *dialect;
    static const enum tpi_statement guarded[] = {TPI_S_hold_finish, TPI_S_hold_delete, TPI_S_hold_params};
    for (size_t i = 0; (dialect = tpi_dialect_at(i)); i++) {
        if (!tpi_plan_possible(TPI_PLAN_HOLD, dialect->caps)) continue;
        for (size_t s = 0; s < COUNT(guarded); s++) {
            const struct tpi_sql *sql = &dialect->sql[guarded[s]];
            if (!uses(sql, TPI_P_id) || !uses(sql, TPI_P_state) || !uses(sql, TPI_P_due_at) ||
                !uses(sql, TPI_P_modified_at))
                fail_statement(dialect, guarded[s], "does not name id, state, due_at and modified_at");
        }
        assert_true(uses(&dialect->sql[TPI_S_hold_finish], TPI_P_token));
        assert_true(uses(&dialect->sql[TPI_S_hold_finish_many], TPI_P_token));
    }
}

TEST(test_dialects__can_run_their_default_plan) {
    const struct tpi_dialect *dialect;
    for (size_t i = 0; (dialect = tpi_dialect_at(i)); i++) {
        if (!tpi_plan_possible(dialect->plan, dialect->caps))
            fail_msg("%s cannot run its own plan", dialect->name);
        assert_int_equal(tpi_plan_default(dialect, dialect->caps), dialect->plan);
        if (!tpi_plan_possible(TPI_PLAN_CAS, dialect->caps)) fail_msg("%s has no last resort", dialect->name);
    }
}

TEST(test_plans__parse_back_and_others_do_not) {
    enum tpi_plan plan;
    for (int i = 0; i < TPI_PLAN_COUNT; i++) {
        assert_true(tpi_plan_parse(tpi_plan_name((enum tpi_plan)i), &plan));
        assert_int_equal(plan, i);
    }
    assert_true(tpi_plan_parse("SKIP", &plan));
    assert_int_equal(plan, TPI_PLAN_SKIP);
    assert_false(tpi_plan_parse("", &plan));
    assert_false(tpi_plan_parse("skipped", &plan));
    assert_int_equal(plan, TPI_PLAN_SKIP);
}

static const struct version {
    const char *dialect, *dbms, *version;
    bool skip;
    enum tpi_plan plan;
} versions[] = {
    {"mysql", "MariaDB", "10.11.000019", true, TPI_PLAN_SKIP},
    {"mysql", "MariaDB", "10.06.000000", true, TPI_PLAN_SKIP},
    {"mysql", "MariaDB", "10.05.000027", false, TPI_PLAN_BATCH},
    {"mysql", "MariaDB", "10.5.8", false, TPI_PLAN_BATCH},
    {"mysql", "mariadb", "5.5.68", false, TPI_PLAN_BATCH},
    {"mysql", "MariaDB", "11.04.000002", true, TPI_PLAN_SKIP},
    {"mysql", "MySQL", "5.7.44", false, TPI_PLAN_BATCH},
    {"mysql", "MySQL", "8.0.36", true, TPI_PLAN_SKIP},
    {"mysql", "MySQL", "9.1", true, TPI_PLAN_SKIP},
    {"mysql", "MySQL", "8", true, TPI_PLAN_SKIP},
    {"mysql", "MySQL", "", false, TPI_PLAN_BATCH},
    {"postgres", "PostgreSQL", "15.0.20", true, TPI_PLAN_SKIP},
    {"postgres", "PostgreSQL", "12.0.0", true, TPI_PLAN_SKIP},
    {"postgres", "PostgreSQL", "9.6.24", false, TPI_PLAN_BATCH},
    {"oracle", "Oracle", "19.00.0000", true, TPI_PLAN_SKIP},
    {"oracle", "MariaDB", "10.05.000000", true, TPI_PLAN_SKIP},
    {"sqlite", "SQLite", "3.39.3", false, TPI_PLAN_BATCH},
    {"generic", "DB2", "11.5", false, TPI_PLAN_CAS},
};

TEST(test_versions__take_away_what_an_old_database_cannot_do) {
    for (size_t i = 0; i < COUNT(versions); i++) {
        const struct version *v = &versions[i];
        const struct tpi_dialect *dialect = tpi_dialect_by_name(v->dialect);
        unsigned caps = tpi_dialect_caps(dialect, v->dbms, v->version);
        if (tpi_plan_possible(TPI_PLAN_SKIP, caps) != v->skip) fail_msg("%s %s: skip", v->dbms, v->version);
        if (tpi_plan_default(dialect, caps) != v->plan) fail_msg("%s %s: default plan", v->dbms, v->version);
        if (caps & ~dialect->caps) fail_msg("%s %s: a capability came from nowhere", v->dbms, v->version);
    }
}

TEST(test_plans__the_default_falls_back_in_a_fixed_order) {
    const struct tpi_dialect *dialect = tpi_dialect_by_name("mysql");
    assert_int_equal(tpi_plan_default(dialect, TPI_CAP_ROW | TPI_CAP_BATCH | TPI_CAP_CAS), TPI_PLAN_BATCH);
    assert_int_equal(tpi_plan_default(dialect, TPI_CAP_ROW | TPI_CAP_CAS), TPI_PLAN_ROW);
    assert_int_equal(tpi_plan_default(dialect, TPI_CAP_CAS), TPI_PLAN_CAS);
    assert_int_equal(tpi_plan_default(dialect, 0), TPI_PLAN_CAS);
    assert_int_equal(tpi_plan_default(tpi_dialect_by_name("sqlite"), TPI_CAP_SKIP_LOCK), TPI_PLAN_SKIP);
}
