// C++17: handles that close themselves, an order that is taken once however often it is sent, and a small
// worker.
//
//   export TASKPOOL_DSN='Driver=SQLite3;Database=/tmp/shop.db'
//   taskpool schema install
//   ./once 7 8 7          order 7 comes twice, and is taken once
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include <taskpool.h>

namespace {

template <auto close> struct closer {
    template <class T> void operator()(T *handle) const {
        close(handle);
    }
};
using env_ptr = std::unique_ptr<tp_env, closer<tp_env_close>>;
using conn_ptr = std::unique_ptr<tp_conn, closer<tp_conn_close>>;
using worker_ptr = std::unique_ptr<tp_worker, closer<tp_worker_close>>;

// Failures become exceptions; answers that are no failure are given back.
tp_status check(tp_status status) {
    if (status < TP_OK) throw std::runtime_error(tp_last_error()->text);
    return status;
}

template <class Pointer, class Open> Pointer opened(Open open) {
    typename Pointer::pointer handle = nullptr;
    check(open(&handle));
    return Pointer(handle);
}

// Rolled back unless it was committed.
class transaction {
  public:
    explicit transaction(tp_conn *conn) : conn_(conn) {
        check(tp_begin(conn));
    }
    ~transaction() {
        if (conn_ && tp_rollback(conn_) != TP_OK) std::fprintf(stderr, "%s\n", tp_last_error()->text);
    }
    transaction(const transaction &) = delete;
    transaction &operator=(const transaction &) = delete;
    void commit() {
        tp_conn *conn = conn_;
        conn_ = nullptr;
        check(tp_commit(conn));
    }

  private:
    tp_conn *conn_;
};

// The ledger's key and the task are stored together: what is sent twice is taken once.
bool take_order(tp_conn *conn, const std::string &order) {
    transaction work(conn);
    if (check(tp_once(conn, ("order " + order).c_str(), nullptr)) == TP_EXISTS) return false;
    tp_new_task task = TP_NEW_TASK_INIT;
    task.handler = "ship";
    task.biz_key = order.c_str();
    check(tp_enqueue(conn, &task));
    work.commit();
    return true;
}

tp_verdict ship(tp_run *run, void *arg) {
    ++*static_cast<int *>(arg); // one thread, see below
    std::printf("shipping %s\n", tp_run_task(run)->biz_key);
    return TP_RUN_DONE;
}

// Ends by itself when nothing is left to do.
int ship_all(tp_env *env) {
    int shipped = 0;
    tp_worker_options options = TP_WORKER_INIT;
    options.threads = 1;
    options.when_full = TP_FULL_ABORT;
    options.poll_ms = 100;
    options.drain = 1;
    auto worker = opened<worker_ptr>([&](tp_worker **out) { return tp_worker_open(env, &options, out); });
    check(tp_worker_handle(worker.get(), "ship", ship, &shipped));
    check(tp_worker_start(worker.get()));
    check(tp_worker_join(worker.get()));
    return shipped;
}

} // namespace

int main(int argc, char **argv) try {
    const char *dsn = std::getenv("TASKPOOL_DSN");
    auto env = opened<env_ptr>([&](tp_env **out) { return tp_env_open(dsn, out); });
    auto conn = opened<conn_ptr>([&](tp_conn **out) { return tp_conn_open(env.get(), out); });
    for (int i = 1; i < argc; i++)
        std::printf("order %s %s\n", argv[i], take_order(conn.get(), argv[i]) ? "taken" : "was taken before");
    std::printf("%d shipped\n", ship_all(env.get()));
} catch (const std::exception &error) {
    std::fprintf(stderr, "once: %s\n", error.what());
    return EXIT_FAILURE;
}
