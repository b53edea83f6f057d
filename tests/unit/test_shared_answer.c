/* Who gets the answer to another's question, and who has his own asked. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "common/clocks.h"
#include "console/shared_answer.h"
#include "support/test.h"

enum { LONG_MS = 3600000, WAITING = 3, MANY = 200, TRIES = 1000, LARGE = 1024 * 1024 };

static struct shared_answers *all;

static int set_up(void **state) {
    (void)state;
    all = shared_answers_open(LONG_MS);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    shared_answers_close(all);
    return 0;
}

#define SHARED_TEST(name) TEST_BETWEEN(name, set_up, tear_down)

/* A database that answers with how often it was asked. */
struct database {
    int asked;
    unsigned status;
    size_t size; /* of the answer, at least */
};

static void ask(void *arg, struct answer *answer) {
    struct database *database = arg;

    answer->status = database->status ? database->status : ANSWER_OK;
    answer->text = calloc(1, database->size + 24);
    if (database->size) memset(answer->text, ' ', database->size);
    snprintf(answer->text + database->size, 24, "%d", ++database->asked);
}

static void let_pass(int64_t ms) {
    int64_t until = clock_ms() + ms;

    while (clock_ms() < until)
        ;
}

static int look(struct database *database, const char *what, const struct request *request) {
    struct answer answer = {0};
    int number;

    shared_answer(all, what, request, ask, database, &answer);
    number = (int)strtol(answer.text, NULL, 10);
    assert_true(number == database->asked || answer.age_ms > 0);
    answer_free(&answer);
    return number;
}

SHARED_TEST(test_shared_answer__who_asks_the_same_gets_the_same) {
    struct database database = {0};
    struct request vera = {.who = "vera"}, otto = {.who = "otto"};

    assert_int_equal(look(&database, "failures", &vera), 1);
    assert_int_equal(look(&database, "failures", &otto), 1);
    assert_int_equal(look(&database, "workers", &otto), 2);
    assert_int_equal(look(&database, "failures", &vera), 1);
}

SHARED_TEST(test_shared_answer__other_parameters_are_another_question) {
    struct database database = {0};
    struct request one = {.who = "vera"}, id = {.who = "vera", .id = "x"}, other = {.who = "vera"},
                   more = {.who = "vera"};
    struct request joined = {.who = "vera"}, other_id = {.who = "vera", .id = "y"};

    assert_null(request_add(&one, "handler", "pay"));
    assert_null(request_add(&other, "handler", "mail"));
    assert_null(request_add(&more, "handler", "pay"));
    assert_null(request_add(&more, "limit", "5"));
    assert_null(request_add(&joined, "handler", "pay limit=5"));
    assert_int_equal(look(&database, "tasks", &one), 1);
    assert_int_equal(look(&database, "tasks", &other), 2);
    assert_int_equal(look(&database, "tasks", &more), 3);
    assert_int_equal(look(&database, "tasks", &joined), 4);
    assert_int_equal(look(&database, "tasks", &id), 5);
    assert_int_equal(look(&database, "tasks", &other_id), 6);
    assert_int_equal(look(&database, "tasks", &one), 1);
    request_free(&one);
    request_free(&other);
    request_free(&more);
    request_free(&joined);
}

SHARED_TEST(test_shared_answer__other_rights_are_another_question) {
    struct database database = {0};
    struct request plain = {.who = "vera"}, params = {.who = "paul", .params = true};
    struct request approver = {.who = "anna", .approves = true};

    assert_int_equal(look(&database, "tasks", &params), 1);
    assert_int_equal(look(&database, "tasks", &plain), 2);
    assert_int_equal(look(&database, "tasks", &approver), 3);
    assert_int_equal(look(&database, "tasks", &params), 1);
}

SHARED_TEST(test_shared_answer__who_changed_something_has_it_asked_anew) {
    struct database database = {0};
    struct request otto = {.who = "otto"}, vera = {.who = "vera"};

    assert_int_equal(look(&database, "failures", &otto), 1);
    shared_answers_changed(all, "otto");
    assert_int_equal(look(&database, "failures", &vera), 1);
    let_pass(2); /* what he asks for now is asked for after the change */
    assert_int_equal(look(&database, "failures", &otto), 2);
    assert_int_equal(look(&database, "failures", &otto), 2);
    assert_int_equal(look(&database, "failures", &vera), 2);
}

SHARED_TEST(test_shared_answer__no_change_is_forgotten_where_many_people_make_one) {
    struct database database = {0};
    struct request otto = {.who = "otto"};
    char name[24];

    assert_int_equal(look(&database, "failures", &otto), 1);
    shared_answers_changed(all, "otto");
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "person %d", i);
        shared_answers_changed(all, name);
    }
    assert_int_equal(look(&database, "failures", &otto), 2);
}

SHARED_TEST(test_shared_answer__what_went_wrong_is_asked_anew) {
    struct database database = {.status = ANSWER_AWAY};
    struct request vera = {.who = "vera"};

    assert_int_equal(look(&database, "failures", &vera), 1);
    database.status = ANSWER_OK;
    assert_int_equal(look(&database, "failures", &vera), 2);
    assert_int_equal(look(&database, "failures", &vera), 2);
}

SHARED_TEST(test_shared_answer__only_so_many_and_so_much_is_kept) {
    struct database database = {0};
    struct request vera = {.who = "vera"};
    struct shared_answers_state now;
    char what[24];

    for (int i = 0; i < MANY; i++) {
        snprintf(what, sizeof what, "small %d", i);
        look(&database, what, &vera);
    }
    now = shared_answers_state(all);
    assert_in_range(now.kept, 1, 64);
    database.size = LARGE;
    for (int i = 0; i < MANY; i++) {
        snprintf(what, sizeof what, "large %d", i);
        look(&database, what, &vera);
    }
    now = shared_answers_state(all);
    assert_in_range(now.bytes, LARGE, 8 * LARGE);
    assert_int_equal(look(&database, what, &vera), 2 * MANY); /* the newest is */
}

SHARED_TEST(test_shared_answer__an_answer_is_not_good_for_ever) {
    struct database database = {0};
    struct request vera = {.who = "vera"};
    struct shared_answers *brief = shared_answers_open(1), *kept = all;
    bool anew = false;
    char what[24];

    all = brief;
    for (int i = 0; i < TRIES && !anew; i++) { /* one that took a millisecond is good for longer */
        int before;

        snprintf(what, sizeof what, "question %d", i);
        before = look(&database, what, &vera);
        let_pass(2);
        anew = look(&database, what, &vera) != before;
    }
    all = kept;
    shared_answers_close(brief);
    assert_true(anew);
}

/* ---- At the same time ---------------------------------------------------------------------------------- */

/* Answers when the others wait. */
static void ask_slowly(void *arg, struct answer *answer) {
    while (shared_answers_state(all).waiting < WAITING)
        clock_sleep(1);
    ask(arg, answer);
}

static void *look_slowly(void *arg) {
    static const struct request vera = {.who = "vera"};
    struct answer answer = {0};
    int64_t number;

    shared_answer(all, "failures", &vera, ask_slowly, arg, &answer);
    number = strtol(answer.text, NULL, 10);
    answer_free(&answer);
    return (void *)(intptr_t)number;
}

SHARED_TEST(test_shared_answer__who_comes_meanwhile_waits_for_the_one_who_asks) {
    struct database database = {0};
    pthread_t threads[WAITING + 1];

    for (size_t i = 0; i <= WAITING; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look_slowly, &database), 0);
    for (size_t i = 0; i <= WAITING; i++) {
        void *number = NULL;

        assert_int_equal(pthread_join(threads[i], &number), 0);
        assert_int_equal((intptr_t)number, 1);
    }
    assert_int_equal(database.asked, 1);
}
