// C++17: an order that is taken once however often it is sent, and a small worker.
//
//   export TASKPOOL_DSN='Driver=SQLite3;Database=/tmp/shop.db'
//   taskpool schema install
//   ./once 7 8 7          order 7 comes twice, and is taken once
#include <cstdio>
#include <cstdlib>
#include <string>

#include <taskpool.hpp>

namespace {

// The ledger's key and the task are stored together: what is sent twice is taken once.
bool take_order(taskpool::conn &conn, const std::string &order) {
    taskpool::transaction work(conn); // rolled back unless it is committed
    if (!conn.once("order " + order)) return false;
    taskpool::new_task task("ship");
    task.biz_key = order;
    conn.enqueue(task);
    work.commit();
    return true;
}

// Ends by itself when nothing is left to do.
int ship_all(const taskpool::env &env) {
    int shipped = 0; // one thread
    tp_worker_options options = TP_WORKER_INIT;
    options.threads = 1;
    options.when_full = TP_FULL_ABORT;
    options.poll_ms = 100;
    options.drain = 1;
    taskpool::worker worker(env, options);
    worker.handle("ship", [&](taskpool::run &run) {
        std::string order(run.task().biz_key().value_or("an order without a number"));
        std::printf("shipping %s\n", order.c_str());
        shipped++;
        return TP_RUN_DONE;
    });
    worker.start();
    worker.join();
    return shipped;
}

} // namespace

int main(int argc, char **argv) try {
    const char *dsn = std::getenv("TASKPOOL_DSN");
    taskpool::env env(dsn ? dsn : "");
    taskpool::conn conn(env);
    for (int i = 1; i < argc; i++)
        std::printf("order %s %s\n", argv[i], take_order(conn, argv[i]) ? "taken" : "was taken before");
    std::printf("%d shipped\n", ship_all(env));
} catch (const std::exception &error) {
    std::fprintf(stderr, "once: %s\n", error.what());
    return EXIT_FAILURE;
}
