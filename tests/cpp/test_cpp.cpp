// taskpool.hpp on a database: it makes the calls that C makes and no other; what closes, rolls back and is
// empty; what a handler throws is a failure of its task. on_database.sh ENTRY test_cpp
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>

#include "taskpool.hpp"

namespace {

int failed = 0, passed = 0;

void expect(const char *what, bool is) {
    if (is)
        passed++;
    else
        failed++, std::printf("not ok - %s\n", what);
}

std::string pool_of_its_own() {
    const char *dsn = std::getenv("TASKPOOL_TEST_DSN");
    return std::string(dsn ? dsn : "") + ";Prefix=x" + std::to_string(std::random_device()() % 100000000) +
           "_";
}

// ---- The cost --------------------------------------------------------------------------------------------

bool in_c(tp_conn *conn, const std::string &key) {
    const char *handler = "cost";
    tp_new_task task = TP_NEW_TASK_INIT;
    tp_claim_request request = TP_CLAIM_INIT;
    tp_batch *batch = nullptr;
    task.handler = handler;
    task.params = "1";
    task.biz_key = "key";
    request.handlers = &handler;
    request.handler_count = 1;
    bool good = tp_begin(conn) == TP_OK && tp_once(conn, key.c_str(), nullptr) == TP_OK &&
                tp_enqueue(conn, &task) == TP_OK && tp_commit(conn) == TP_OK &&
                tp_claim(conn, &request, &batch) == TP_OK &&
                tp_extend(conn, tp_batch_task(batch, 0), 90000) == TP_OK &&
                tp_fail(conn, tp_batch_task(batch, 0), "once more", nullptr) == TP_OK;
    tp_batch_free(batch);
    batch = nullptr;
    good = good && tp_show(conn, task.id, &batch) == TP_OK;
    tp_batch_free(batch);
    return good;
}

bool in_cpp(taskpool::conn &conn, const std::string &key) {
    taskpool::new_task task("cost", "1");
    task.biz_key = "key";
    taskpool::claim_request request({"cost"});
    taskpool::transaction work(conn);
    bool good = conn.once(key) && conn.enqueue(task);
    work.commit();
    taskpool::batch batch = conn.claim(request);
    conn.extend(batch[0], std::chrono::seconds(90));
    good = good && conn.fail(batch[0], "once more");
    return good && conn.show(task.id()).size() == 1;
}

bool costs_the_same(const taskpool::conn &one, const taskpool::conn &other) {
    const tp_counters &a = one.counters(), &b = other.counters();
    return a.odbc_calls == b.odbc_calls && a.statements == b.statements && a.round_trips == b.round_trips &&
           a.commits == b.commits && a.rollbacks == b.rollbacks;
}

// Each on a connection of its own. What takes a second on a busy machine is followed by one question more.
void costs_what_c_costs(const taskpool::env &env) {
    bool same = false;
    for (int i = 0; i < 10 && !same; i++) {
        taskpool::conn c(env), cpp(env);
        expect("the same in C", in_c(c.get(), "in c " + std::to_string(i)));
        expect("the same in C++", in_cpp(cpp, "in c++ " + std::to_string(i)));
        same = costs_the_same(c, cpp);
        if (!same)
            std::printf("    C %llu, C++ %llu\n", static_cast<unsigned long long>(c.counters().odbc_calls),
                        static_cast<unsigned long long>(cpp.counters().odbc_calls));
    }
    expect("calls of ODBC, statements, round trips, commits and rollbacks", same);
}

// ---- Tasks -----------------------------------------------------------------------------------------------

void leaves_out_what_is_null(taskpool::conn &conn) {
    taskpool::new_task bare("null"), full("null", "p");
    full.biz_key = "key";
    full.max_failures = 2;
    conn.enqueue(bare);
    expect("an id", std::string(bare.id()).size() == 36);
    conn.enqueue(full);
    taskpool::batch one = conn.show(bare.id()), two = conn.show(full.id());
    expect("no key, no reason, not settled",
           !one[0].biz_key() && !one[0].reason() && !one[0].settled_at() && !one[0].max_failures());
    expect("params that are empty", one[0].params() == std::string_view(""));
    expect("a key", two[0].biz_key() == std::string_view("key") && two[0].max_failures() == 2);
    expect("no such task", conn.show("00000000-0000-7000-8000-000000000000").empty());
    taskpool::claim_request request({"null"});
    std::size_t seen = 0;
    taskpool::batch claimed = conn.claim(request);
    for (taskpool::task task : claimed)
        conn.complete(task), seen++;
    expect("claimed one after the other", seen == 2);
    expect("nothing is left", conn.claim(request).empty());
}

void keeps_the_id(taskpool::conn &conn) {
    taskpool::new_task task("again", "1");
    {
        taskpool::transaction work(conn);
        expect("put in", conn.enqueue(task));
    }
    std::string id = task.id();
    expect("its transaction was rolled back at its end", conn.show(id).empty());
    expect("put in again", conn.enqueue(task) && id == task.id());
    expect("and once more", !conn.enqueue(task) && task.existing_id() == std::string_view(id));
    taskpool::new_task first("again", "3"), second("again", "4");
    first.dedup_key = second.dedup_key = "one of a kind";
    second.on_duplicate = TP_DUPLICATE_REPLACE;
    expect("what waits is replaced", conn.enqueue(first) && conn.enqueue(second) &&
                                         second.existing_id() == std::string_view(first.id()) &&
                                         conn.show(first.id())[0].params() == "4");
    task.params = "2";
    expect("with other params", conn.enqueue(task, std::nothrow) == TP_MISUSE);
}

// C would take what stands before the NUL for the whole.
void refuses_a_nul(taskpool::conn &conn) {
    taskpool::new_task task("nul", std::string("a\0b", 3)), good("nul", "good");
    taskpool::transaction work(conn);
    conn.enqueue(good);
    expect("params with a NUL", conn.enqueue(task, std::nothrow) == TP_MISUSE);
    expect("and the commit that ignores it", work.commit(std::nothrow) == TP_CONFLICT);
    expect("nothing was stored", conn.show(good.id()).empty());
    taskpool::new_task gives("nul", "good");
    conn.enqueue(gives);
    taskpool::claim_request request({"nul"});
    taskpool::batch claimed = conn.claim(request);
    expect("a task to complete", !claimed.empty());
    expect("a result with a NUL",
           conn.complete(claimed[0], std::string("a\0b", 3), std::nothrow) == TP_MISUSE);
    conn.complete(claimed[0]);
}

void throws_or_answers(const taskpool::env &env, taskpool::conn &conn) {
    tp_status status = TP_OK;
    bool right = false;
    taskpool::new_task nobody;
    try {
        conn.enqueue(nobody);
    } catch (const taskpool::error &thrown) {
        status = thrown.status();
        right = std::string(thrown.what()).find("handler") != std::string::npos && !thrown.may_retry();
    }
    expect("a task without a handler throws", status == TP_MISUSE && right);
    expect("or answers", conn.enqueue(nobody, std::nothrow) == TP_MISUSE);
    taskpool::env none;
    expect("a connection string that cannot be read",
           none.open("Prefix=1", std::nothrow) == TP_MISUSE && !none.get());
    taskpool::conn moved(env), to(std::move(moved));
    expect("a connection that was moved", !moved.get() && to.get()); // NOLINT(bugprone-use-after-move)
}

// ---- Workers ---------------------------------------------------------------------------------------------

std::string reason_of(taskpool::conn &conn, const taskpool::new_task &task) {
    taskpool::batch shown = conn.show(task.id());
    return std::string(shown.empty() ? "" : shown[0].reason().value_or(""));
}

void hands_on_what_is_thrown(const taskpool::env &env, taskpool::conn &conn) {
    taskpool::new_task first("throws", "std"), second("throws", "int"), third("throws", "done");
    conn.enqueue(first), conn.enqueue(second), conn.enqueue(third);
    int called = 0, events = 0;
    taskpool::worker worker(env, TP_WORKER_INIT, [&](tp_event, const tp_task *, std::string_view) {
        events++;
        throw std::runtime_error("an event");
    });
    worker.handle("throws", [&called](taskpool::run &run) -> tp_verdict {
        called++;
        if (run.params() == "std") throw std::runtime_error("the bank said no");
        if (run.params() == "int") throw 7;
        return run.connection() ? TP_RUN_DONE : TP_RUN_FAILED;
    });
    expect("three handled", worker.step() == 3 && called == 3 && events > 0);
    expect("what a std::exception says", reason_of(conn, first) == "the bank said no");
    expect("what says nothing", reason_of(conn, second) == "the handler threw what is no std::exception");
    expect("the third is done", conn.show(third.id())[0].state() == "done");
    expect("nothing more is due", worker.step(std::nothrow) == TP_NONE);
}

// What was due for longer than its handler wants is not begun.
void keeps_deadlines(const taskpool::env &env) {
    taskpool::conn conn(env);
    tp_worker_options options = TP_WORKER_INIT;
    tp_handler_options limits = TP_HANDLER_INIT;
    int called = 0;
    options.plan = conn.about().leased_plan;
    limits.deadline_ms = 60000;
    taskpool::new_task task("stale");
    task.due_at = taskpool::time_point(taskpool::milliseconds(1));
    conn.enqueue(task);
    taskpool::worker worker(env, options);
    auto count = [&](taskpool::run &) -> tp_verdict {
        called++;
        return TP_RUN_DONE;
    };
    worker.handle_by("stale", count, limits);
    worker.step();
    expect("past its handler's deadline", called == 0 && conn.show(task.id())[0].state() == "skipped");
}

// A step that threw is not recorded; one that is done is not called again, and its result comes back.
void does_steps(const taskpool::env &env) {
    taskpool::conn conn(env);
    tp_worker_options options = TP_WORKER_INIT;
    int called = 0, thrown = 0;
    options.plan = conn.about().leased_plan;
    taskpool::new_task task("steps");
    conn.enqueue(task);
    taskpool::worker worker(env, options);
    worker.handle("steps", [&](taskpool::run &run) -> tp_verdict {
        auto charge = [&](tp_conn *) -> std::string {
            if (++called == 1) throw std::runtime_error("no money");
            return "receipt " + std::to_string(called);
        };
        try {
            run.step("charge", charge);
        } catch (const std::runtime_error &why) {
            thrown += std::string(why.what()) == "no money";
        }
        std::string_view again;
        tp_status status = run.step(
            "charge", [](tp_conn *, std::string &) { return TP_DB; }, again, std::nothrow);
        expect("a step that threw is not done", status == TP_DB);
        expect("its result", run.step("charge", charge) == "receipt 2");
        status = run.step(
            "charge", [](tp_conn *, std::string &) { return TP_DB; }, again, std::nothrow);
        expect("a step that is done is not called again", status == TP_OK && again == "receipt 2");
        return TP_RUN_DONE;
    });
    expect("handled, called and thrown", worker.step() == 1 && called == 2 && thrown == 1);
}

// What a handler gives back comes to who waits for it; of one that failed there is the reason.
void gives_back(const taskpool::env &env) {
    taskpool::conn conn(env);
    tp_worker_options options = TP_WORKER_INIT;
    options.plan = conn.about().leased_plan;
    taskpool::new_task task("back"), own("own");
    conn.enqueue(task);
    conn.enqueue(own);
    taskpool::batch ended;
    expect("it has not ended",
           conn.await(task.id(), taskpool::milliseconds(0), ended, std::nothrow) == TP_TIMEOUT);
    taskpool::worker worker(env, options);
    worker.handle("back", [](taskpool::run &run) -> tp_verdict {
        run.progress(50, "half");
        run.result("four");
        return TP_RUN_DONE;
    });
    expect("handled", worker.step() == 1);
    expect("its result", conn.await(task.id(), taskpool::milliseconds(0))[0].result() == "four");
    taskpool::claim_request request({"own"});
    taskpool::batch claimed = conn.claim(request);
    conn.complete(claimed[0], "five");
    expect("the result of one's own loop",
           conn.await(own.id(), taskpool::milliseconds(0))[0].result() == "five");
}

// The fields of new_task that order and hold up reach the pool, and are followed there.
void follows_order(taskpool::conn &conn) {
    taskpool::claim_request request({"order"});
    tp_gate_options narrow = TP_GATE_INIT;
    narrow.width = 1;
    expect("a gate", conn.gate_set("cpp-gate", narrow, "ann") && !conn.gate_set("cpp-gate", narrow));
    const char *const fields[] = {"cpp-gate", "=account-7"};
    for (const char *field : fields) {
        taskpool::new_task first("order", "1"), second("order", "2");
        if (*field == '=')
            first.order_key = second.order_key = field + 1;
        else
            first.gate = second.gate = field;
        conn.enqueue(first), conn.enqueue(second);
        std::int64_t through = 0, waiting = 0;
        expect("its gate", conn.show(first.id())[0].gate() == std::string_view(field) &&
                               conn.gate(field, [&](const tp_gate &gate) noexcept {
                                   through = gate.through, waiting = gate.waiting;
                               }));
        expect("one is let through", through == 1 && waiting == 1);
        for (const char *params : {"1", "2"}) {
            taskpool::batch batch = conn.claim(request);
            expect("one at a time, in order", batch.size() == 1 && batch[0].params() == params);
            conn.complete(batch[0]);
        }
    }
    expect("it is removed", conn.gate_remove("cpp-gate") && !conn.gate_remove("cpp-gate"));
    narrow.tokens = 5;
    expect("tokens of no period", conn.gate_set("cpp-gate", narrow, "", std::nothrow) == TP_MISUSE);
}

void follows_groups(taskpool::conn &conn) {
    taskpool::claim_request tasks({"grouped"}), last({"last"});
    taskpool::new_task after("last"), inside("grouped");
    after.after = inside.group = "cpp-group";
    {
        taskpool::transaction work(conn);
        expect("a group", conn.group_open("cpp-group") && !conn.group_open("cpp-group"));
        conn.enqueue(after), conn.enqueue(inside);
        expect("is closed", conn.group_close("cpp-group"));
        work.commit();
    }
    expect("what is after it waits", conn.claim(last).empty() && conn.groups_end() == 0);
    conn.complete(conn.claim(tasks)[0]);
    std::int64_t done = 0, waits = 0;
    expect("it is shown", conn.group("cpp-group", [&](const tp_group &group) noexcept {
        done = group.done, waits = group.after;
    }));
    expect("its task is done, one waits", done == 1 && waits == 1);
    expect("it ends", conn.groups_end() == 1);
    conn.complete(conn.claim(last)[0]);
    expect("it is removed",
           conn.group_remove("cpp-group") && !conn.group("cpp-group", [](const tp_group &) noexcept {}));
    taskpool::new_task unwanted("grouped");
    unwanted.group = "cpp-unwanted";
    conn.group_open("cpp-unwanted", TP_GROUP_ALL_ENDED);
    conn.enqueue(unwanted);
    expect("a group is cancelled", conn.group_cancel("cpp-unwanted", "ann", "not wanted") == 1 &&
                                       conn.show(unwanted.id())[0].state() == "skipped");
}

void cancels(taskpool::conn &conn) {
    taskpool::new_task task("cancel");
    conn.enqueue(task);
    tp_cancelled became = conn.cancel(task.id(), "ann", "not wanted");
    expect("what waits is skipped",
           became.answer == TP_CANCEL_SKIPPED && conn.show(task.id())[0].state() == "skipped");
    expect("cancelled by nobody", conn.cancel(task.id(), "", "", became, std::nothrow) == TP_MISUSE);
}

void asks_whether_to_stop(taskpool::conn &conn) {
    taskpool::new_task task("stop");
    conn.enqueue(task);
    taskpool::claim_request request({"stop"});
    taskpool::batch claimed = conn.claim(request);
    std::string words = "x";
    expect("nothing to stop for", conn.stop_cause(claimed[0], &words) == TP_STOP_NONE && words.empty());
    (void)conn.cancel(task.id(), "ann", "late");
    expect("a cause",
           conn.stop_cause(claimed[0], &words) == TP_STOP_CANCELLED && words == "cancelled by ann: late");
    conn.complete(claimed[0]);
    expect("it is not held", conn.stop_cause(claimed[0]) == TP_STOP_LOST);
}

void moves(taskpool::conn &conn) {
    taskpool::new_task task("move"), paid("pay");
    task.delay = std::chrono::hours(24);
    conn.enqueue(task);
    tp_edit_request edit = TP_EDIT_INIT;
    edit.fields = TP_EDIT_PRIORITY | TP_EDIT_DUE_AT | TP_EDIT_DEADLINE_AT;
    edit.priority = -3;
    edit.due_at = 1;
    edit.deadline_at = 4102444800000;
    expect("no deadline", !conn.show(task.id())[0].deadline_at());
    expect("edited, and asked again", conn.edit(task.id(), edit, "ann") && conn.edit(task.id(), edit, "ann"));
    expect("its priority", conn.show(task.id())[0].priority() == -3);
    expect("its deadline",
           conn.show(task.id())[0].deadline_at()->time_since_epoch().count() == edit.deadline_at);
    tp_edit_request other = TP_EDIT_INIT;
    other.fields = TP_EDIT_PRIORITY;
    expect("no such task", !conn.edit("00000000-0000-7000-8000-000000000000", other, "ann"));
    tp_calendar bank = TP_CALENDAR_INIT;
    bank.name = "cpp-bank";
    bank.cut_off = "18:00";
    bank.last_date = "2099-12-31";
    taskpool::check(tp_calendar_set(conn.get(), &bank, "ann"));
    expect("Saturday is closed", !conn.business_day("cpp-bank", "2026-11-28", 0));
    expect("the business day after it",
           conn.business_day("cpp-bank", "2026-11-28", 1)->date == std::string("2026-11-30"));
    paid.cut_off_calendar = "cpp-bank";
    paid.cut_off_lead = std::chrono::minutes(30);
    conn.enqueue(paid);
    taskpool::batch shown = conn.show(paid.id());
    expect("due half an hour before a cut-off",
           shown[0].due_at() == shown[0].created_at() ||
               shown[0].due_at().time_since_epoch() % std::chrono::hours(24) ==
                   std::chrono::hours(17) + std::chrono::minutes(30));
}

// Without a worker.
void does_own_steps(const taskpool::env &env, taskpool::conn &conn) {
    taskpool::new_task task("own-steps");
    conn.enqueue(task);
    taskpool::claim_request request({"own-steps"});
    taskpool::batch batch = conn.claim(request);
    taskpool::conn other(env);
    other.progress(batch[0], 40, "half");
    expect("a step that is not done", !conn.step_find(batch[0], "charge"));
    {
        taskpool::transaction work(conn);
        conn.step_add(batch[0], "charge", "undone");
    }
    expect("it was rolled back", !conn.step_find(batch[0], "charge"));
    taskpool::transaction work(conn);
    conn.step_add(batch[0], "charge", "receipt");
    work.commit();
    expect("it is done", conn.step_find(batch[0], "charge") == std::string("receipt"));
    expect("a name with blanks",
           conn.step_add(batch[0], "a b", "", taskpool::milliseconds(0), std::nothrow) == TP_MISUSE);
    conn.complete(batch[0]);
}

// The old worker is closed before what its threads call is gone.
void replaces_a_running_worker(const taskpool::env &env) {
    auto kept = std::make_shared<int>(7);
    auto make = [&] {
        taskpool::worker worker(env);
        worker.handle("replaced",
                      [kept](taskpool::run &) { return *kept == 7 ? TP_RUN_DONE : TP_RUN_FAILED; });
        worker.start();
        return worker;
    };
    taskpool::worker worker = make();
    worker = make();
    worker.stop();
    worker.join();
    expect("one function is left", kept.use_count() == 2);
    worker = taskpool::worker();
    expect("none is left", kept.use_count() == 1);
}

} // namespace

int main() try {
    taskpool::env env(pool_of_its_own());
    taskpool::conn conn(env);
    conn.install();
    costs_what_c_costs(env);
    leaves_out_what_is_null(conn);
    keeps_the_id(conn);
    refuses_a_nul(conn);
    throws_or_answers(env, conn);
    hands_on_what_is_thrown(env, conn);
    does_steps(env);
    gives_back(env);
    follows_order(conn);
    follows_groups(conn);
    cancels(conn);
    asks_whether_to_stop(conn);
    keeps_deadlines(env);
    moves(conn);
    does_own_steps(env, conn);
    replaces_a_running_worker(env);
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
} catch (const std::exception &error) {
    std::printf("FAILED: %s\n", error.what());
    return EXIT_FAILURE;
}
