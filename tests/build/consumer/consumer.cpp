// An application in C++: a handler in C++ under a worker of an installed taskpool.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <taskpool.h>
#include <taskpool_odbc.h>

namespace {

void must(tp_status status, const char *what) {
    if (status != TP_OK) throw std::runtime_error(std::string(what) + ": " + tp_last_error()->text);
}

class Env {
  public:
    explicit Env(const char *dsn) : env(NULL) {
        must(tp_env_open(dsn, &env), "tp_env_open");
    }
    ~Env() {
        tp_env_close(env);
    }
    tp_env *env;

  private:
    Env(const Env &);
    Env &operator=(const Env &);
};

class Conn {
  public:
    explicit Conn(Env &env) : conn(NULL) {
        must(tp_conn_open(env.env, &conn), "tp_conn_open");
    }
    ~Conn() {
        tp_conn_close(conn);
    }
    tp_conn *conn;

  private:
    Conn(const Conn &);
    Conn &operator=(const Conn &);
};

extern "C" tp_verdict handle(tp_run *run, void *arg) {
    tp_conn *conn = NULL;

    if (tp_run_conn(run, &conn) != TP_OK || tp_conn_dbc(conn) == NULL) return TP_RUN_FAILED;
    ++*static_cast<int *>(arg);
    return TP_RUN_DONE;
}

void work(Env &env, int *handled) {
    tp_worker_options options = TP_WORKER_INIT;
    tp_worker *worker = NULL;

    options.threads = 1;
    options.poll_ms = 10;
    options.drain = 1;
    must(tp_worker_open(env.env, &options, &worker), "tp_worker_open");
    must(tp_worker_handle(worker, "hello", handle, handled), "tp_worker_handle");
    must(tp_worker_start(worker), "tp_worker_start");
    must(tp_worker_join(worker), "tp_worker_join");
    tp_worker_close(worker);
}

} // namespace

int main() {
    try {
        Env env(std::getenv("TASKPOOL_DSN"));
        tp_new_task task = TP_NEW_TASK_INIT;
        int handled = 0;

        task.handler = "hello";
        {
            Conn conn(env);
            must(tp_schema_install(conn.conn), "tp_schema_install");
            must(tp_enqueue(conn.conn, &task), "tp_enqueue");
        }
        work(env, &handled);
        if (std::string(tp_version()) != TP_VERSION || handled != 1)
            throw std::runtime_error("not handled once");
        return EXIT_SUCCESS;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return EXIT_FAILURE;
    }
}
