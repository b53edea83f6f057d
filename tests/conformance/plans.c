/* Which claim plans (row, batch, skip, hold, cas) this database has: those promised are possible, the others
 * are refused in words and leave the connection usable. What a plan needs: dialect/dialect.h. The database's
 * own plans of statements: tests/plans/test_plans.c. */
#include "suite.h"

THEME(plans, ONCE);

TEST(test_plans__those_promised_are_possible_and_the_others_refused_in_words) {
    for (int i = 0; i < PLANS; i++) {
        tp_batch *batch = NULL;
        tp_claim_request request = request_with(.limit = 1, .plan = pool_plans[i]);
        if (pool_plan_holds(pool_plans[i])) must(tp_begin(pool.a));
        tp_status status = claim_into(pool.a, &request, &batch);
        assert_null(batch);
        if (pool_plan_holds(pool_plans[i])) must(tp_rollback(pool.a));
        if (pool_plan_possible(pool_plans[i])) {
            expect(TP_NONE, status);
            continue;
        }
        expect(TP_UNSUPPORTED, status);
        expect_text(pool_plans[i]);
        expect_text(tp_conn_about(pool.a)->dialect);
        print_message("plan %s is not possible on %s: %s\n", pool_plans[i], pool.entry,
                      tp_last_error()->text);
    }
}

TEST(test_plans__one_that_does_not_exist_is_misuse) {
    expect(TP_MISUSE, try_claim_with(pool.a, .limit = 1, .plan = "quick"));
    expect_text("quick");
}

TEST(test_plans__the_connection_string_chooses) {
    for (int i = 0; i < PLANS; i++) {
        char dsn[DSN_MAX + 20];
        tp_env *env = NULL;
        tp_conn *conn = NULL;
        snprintf(dsn, sizeof dsn, "%sPlan=%s;", pool.dsn, pool_plans[i]);
        must(tp_env_open(dsn, &env));
        if (pool_plan_possible(pool_plans[i])) {
            must(tp_conn_open(env, &conn));
            assert_string_equal(tp_conn_about(conn)->plan, pool_plans[i]);
        } else {
            expect(TP_UNSUPPORTED, tp_conn_open(env, &conn));
            expect_text(pool_plans[i]);
            assert_null(conn);
        }
        tp_conn_close(conn);
        tp_env_close(env);
    }
}

TEST(test_plans__a_refused_plan_leaves_the_connection_usable) {
    put_one();
    for (int i = 0; i < PLANS; i++) {
        if (!pool_plan_possible(pool_plans[i]))
            expect(TP_UNSUPPORTED, try_claim_with(pool.a, .limit = 1, .plan = pool_plans[i]));
    }
    claim(pool.a, 1);
}
