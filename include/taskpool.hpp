// taskpool.hpp: taskpool.h for C++17. Handles that close themselves, std::optional where the database has NULL, handlers that are
// lambdas. Each function is one call of taskpool.h and makes no other call to the database; taskpool.h says what it does. docs/cpp.md
// is the guide.
//
// Failures: by default a function throws taskpool::error. With std::nothrow as its last argument it gives back a tp_status instead, which
// must be looked at; what it would have returned comes by reference. Without exceptions (-fno-exceptions) there are only these.
//
// Threads, ownership and limits are those of taskpool.h. An object that was moved from holds nothing.
#ifndef TASKPOOL_HPP
#define TASKPOOL_HPP

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "taskpool.h"

#if defined(__cpp_exceptions)
#define TASKPOOL_EXCEPTIONS 1
#else
#define TASKPOOL_EXCEPTIONS 0
#endif

namespace taskpool {

using milliseconds = std::chrono::milliseconds;
using time_point = std::chrono::time_point<std::chrono::system_clock, milliseconds>; // by the database's clock

// ---- Failures --------------------------------------------------------------------------------------------

// A copy of tp_last_error().
class error : public std::runtime_error {
  public:
    error(tp_status status, const tp_error &from)
        : std::runtime_error(from.text), status_(status), native_(from.native), sqlstate_(from.sqlstate) {
    }
    tp_status status() const noexcept {
        return status_;
    }
    std::int32_t native() const noexcept {
        return native_;
    }
    const std::string &sqlstate() const noexcept {
        return sqlstate_;
    }
    bool may_retry() const noexcept {
        return tp_status_may_retry(status_) != 0;
    }

  private:
    tp_status status_;
    std::int32_t native_;
    std::string sqlstate_;
};

#if TASKPOOL_EXCEPTIONS
// Throws what is negative; other answers are given back.
inline tp_status check(tp_status status) {
    if (status < TP_OK) throw error(status, *tp_last_error());
    return status;
}
#endif

namespace detail {

// C's text ends at a NUL. What has one in it is handed on as text that the library refuses, so that it is never cut, and an open
// transaction learns of the failure.
inline const char *text(const std::string &value) noexcept {
    return value.find('\0') == std::string::npos ? value.c_str() : "a NUL in it\xFF";
}
inline const char *text(const std::optional<std::string> &value) noexcept {
    return value ? text(*value) : nullptr;
}
inline std::optional<std::string_view> given(const char *text) noexcept {
    if (text && *text) return std::string_view(text);
    return std::nullopt;
}
inline time_point at(std::int64_t ms) noexcept {
    return time_point(milliseconds(ms));
}

// The C function behind one that is shown something; nothing is thrown across C.
template <class T, class F> void show(const T *shown, void *function) noexcept {
    (*static_cast<F *>(function))(*shown);
}
template <class F> void *address(F &function) noexcept {
    return const_cast<void *>(static_cast<const void *>(std::addressof(function)));
}

template <auto close> struct closer {
    template <class T> void operator()(T *handle) const noexcept {
        close(handle);
    }
};
template <class T, auto close> using handle = std::unique_ptr<T, closer<close>>;

} // namespace detail

// ---- Tasks -----------------------------------------------------------------------------------------------

// A look at a task of a batch or of a run, and valid as long as that. What is NULL in the database is empty.
class task {
  public:
    explicit task(const tp_task *from) noexcept : task_(from) {
    }
    std::string_view id() const noexcept {
        return task_->id;
    }
    std::string_view handler() const noexcept {
        return task_->handler;
    }
    std::optional<std::string_view> biz_key() const noexcept {
        return detail::given(task_->biz_key);
    }
    std::optional<std::string_view> dedup_key() const noexcept {
        return detail::given(task_->dedup_key);
    }
    // Empty: too long to be read with the claim (conn::params, run::params).
    std::optional<std::string_view> params() const noexcept {
        if (!task_->params) return std::nullopt;
        return std::string_view(task_->params);
    }
    std::optional<std::string_view> reason() const noexcept {
        return detail::given(task_->reason);
    }
    // Only of show and await.
    std::optional<std::string_view> result() const noexcept {
        return detail::given(task_->result);
    }
    // Behind which it is, an order key's with = before it. Only of show and its like.
    std::optional<std::string_view> gate() const noexcept {
        return detail::given(task_->gate);
    }
    std::string_view state() const noexcept {
        return task_->state;
    }
    std::string_view pool() const noexcept {
        return task_->pool;
    }
    std::int32_t shard() const noexcept {
        return task_->shard;
    }
    std::int32_t priority() const noexcept {
        return task_->priority;
    }
    std::int32_t failures() const noexcept {
        return task_->failures;
    }
    std::optional<std::int32_t> max_failures() const noexcept {
        if (task_->max_failures == 0) return std::nullopt;
        return task_->max_failures;
    }
    time_point due_at() const noexcept {
        return detail::at(task_->due_at);
    }
    // Only of show; empty where it has none, has ended, or its end was asked for.
    std::optional<time_point> deadline_at() const noexcept {
        if (task_->deadline_at == 0) return std::nullopt;
        return detail::at(task_->deadline_at);
    }
    time_point created_at() const noexcept {
        return detail::at(task_->created_at);
    }
    std::optional<time_point> settled_at() const noexcept {
        if (task_->settled_at == 0) return std::nullopt;
        return detail::at(task_->settled_at);
    }
    const tp_task *get() const noexcept {
        return task_;
    }

  private:
    const tp_task *task_;
};

class batch {
  public:
    class iterator {
      public:
        iterator(const tp_batch *from, std::size_t at) noexcept : batch_(from), at_(at) {
        }
        task operator*() const noexcept {
            return task(tp_batch_task(batch_, at_));
        }
        iterator &operator++() noexcept {
            at_++;
            return *this;
        }
        bool operator!=(const iterator &other) const noexcept {
            return at_ != other.at_;
        }

      private:
        const tp_batch *batch_;
        std::size_t at_;
    };

    batch() = default;
    explicit batch(tp_batch *from) noexcept : batch_(from) {
    }
    std::size_t size() const noexcept {
        return batch_ ? tp_batch_count(batch_.get()) : 0;
    }
    bool empty() const noexcept {
        return size() == 0;
    }
    task operator[](std::size_t i) const noexcept {
        return task(tp_batch_task(batch_.get(), i));
    }
    iterator begin() const noexcept {
        return {batch_.get(), 0};
    }
    iterator end() const noexcept {
        return {batch_.get(), size()};
    }

  private:
    detail::handle<tp_batch, tp_batch_free> batch_;
};

// A task that is to be put in. One object, one task: it gets its id when it is first enqueued, and stands for that task from then on, as
// do its copies. For another task make another object.
class new_task {
  public:
    new_task() = default;
    explicit new_task(std::string for_handler, std::string with = {})
        : handler(std::move(for_handler)), params(std::move(with)) {
    }
    std::string handler;
    std::string params;
    std::optional<std::string> biz_key;
    std::optional<std::string> dedup_key;
    std::int32_t shard = 0;
    tp_sharding sharding = TP_SHARDING_NONE;
    std::int32_t shards = 0;
    std::int32_t priority = 0;
    std::optional<std::int32_t> max_failures;
    milliseconds delay{0};
    std::optional<time_point> due_at;
    tp_on_duplicate on_duplicate = TP_DUPLICATE_KEEP;
    std::optional<std::string> order_key;
    std::optional<std::string> gate;
    std::optional<std::string> group;
    std::optional<std::string> after;
    std::optional<std::string> cut_off_calendar;
    milliseconds cut_off_lead{0};
    std::optional<time_point> deadline_at;
    milliseconds deadline{0};

    // "" until it is enqueued.
    const char *id() const noexcept {
        return raw_.id;
    }
    // The task that is there instead, or was changed, after enqueue said so.
    std::optional<std::string_view> existing_id() const noexcept {
        return detail::given(raw_.existing_id);
    }
    // For tp_enqueue and its like; valid until the object is changed.
    tp_new_task *raw() noexcept {
        raw_.handler = detail::text(handler);
        raw_.params = detail::text(params);
        raw_.biz_key = detail::text(biz_key);
        raw_.dedup_key = detail::text(dedup_key);
        raw_.shard = shard;
        raw_.sharding = sharding;
        raw_.shards = shards;
        raw_.priority = priority;
        raw_.max_failures = max_failures.value_or(0);
        raw_.delay_ms = delay.count();
        raw_.due_at = due_at ? due_at->time_since_epoch().count() : 0;
        raw_.on_duplicate = on_duplicate;
        raw_.order_key = detail::text(order_key);
        raw_.gate = detail::text(gate);
        raw_.group = detail::text(group);
        raw_.after = detail::text(after);
        raw_.cut_off_calendar = detail::text(cut_off_calendar);
        raw_.cut_off_lead_ms = cut_off_lead.count();
        raw_.deadline_at = deadline_at ? deadline_at->time_since_epoch().count() : 0;
        raw_.deadline_ms = deadline.count();
        return &raw_;
    }

  private:
    tp_new_task raw_ = TP_NEW_TASK_INIT;
};

// What to claim. After a failure claim again with the same object: it knows what the first try asked for.
class claim_request {
  public:
    explicit claim_request(std::vector<std::string> of) : handlers(std::move(of)) {
    }
    std::vector<std::string> handlers;
    std::size_t limit = 0;
    milliseconds lease{0};
    std::vector<std::int32_t> shards;
    bool in_order = false;
    const tp_retry *retry = nullptr;

    tp_claim_request *raw() {
        names_.clear();
        for (const std::string &name : handlers)
            names_.push_back(detail::text(name));
        raw_.handlers = names_.data();
        raw_.handler_count = names_.size();
        raw_.limit = limit;
        raw_.lease_ms = lease.count();
        raw_.shards = shards.empty() ? nullptr : shards.data();
        raw_.shard_count = shards.size();
        raw_.in_order = in_order;
        raw_.retry = retry;
        return &raw_;
    }

  private:
    tp_claim_request raw_ = TP_CLAIM_INIT;
    std::vector<const char *> names_;
};

// ---- Connections -----------------------------------------------------------------------------------------

class env {
  public:
    env() = default;
    [[nodiscard]] tp_status open(const std::string &connection_string, std::nothrow_t) noexcept {
        tp_env *opened = nullptr;
        tp_status status = tp_env_open(detail::text(connection_string), &opened);
        if (status == TP_OK) env_.reset(opened);
        return status;
    }
#if TASKPOOL_EXCEPTIONS
    explicit env(const std::string &connection_string) {
        check(open(connection_string, std::nothrow));
    }
#endif
    tp_env *get() const noexcept {
        return env_.get();
    }

  private:
    detail::handle<tp_env, tp_env_close> env_;
};

class conn {
  public:
    conn() = default;
    // Takes over a connection, such as tp_conn_borrow gives.
    explicit conn(tp_conn *from) noexcept : conn_(from) {
    }
    [[nodiscard]] tp_status open(const env &in, std::nothrow_t) noexcept {
        tp_conn *opened = nullptr;
        tp_status status = tp_conn_open(in.get(), &opened);
        if (status == TP_OK) conn_.reset(opened);
        return status;
    }
    [[nodiscard]] tp_status reopen(std::nothrow_t) noexcept {
        return tp_conn_reopen(conn_.get());
    }
    [[nodiscard]] tp_status install(std::nothrow_t) noexcept {
        return tp_schema_install(conn_.get());
    }
    // TP_EXISTS: it is there, or in hand what was to be changed; new_task::existing_id() says which.
    [[nodiscard]] tp_status enqueue(new_task &task, std::nothrow_t) noexcept {
        return tp_enqueue(conn_.get(), task.raw());
    }
    [[nodiscard]] tp_status once(const std::string &key, std::nothrow_t) noexcept {
        return tp_once(conn_.get(), detail::text(key), nullptr);
    }
    [[nodiscard]] tp_status claim(claim_request &request, batch &claimed, std::nothrow_t) {
        tp_batch *out = nullptr;
        tp_status status = tp_claim(conn_.get(), request.raw(), &out);
        if (status == TP_OK) claimed = batch(out);
        return status;
    }
    [[nodiscard]] tp_status params(task of, std::string_view &whole, std::nothrow_t) noexcept {
        const char *text = nullptr;
        std::size_t length = 0;
        tp_status status = tp_task_params(conn_.get(), of.get(), &text, &length);
        if (status == TP_OK) whole = {text, length};
        return status;
    }
    [[nodiscard]] tp_status complete(task done, std::nothrow_t) noexcept {
        return tp_complete(conn_.get(), done.get());
    }
    // With what its work gave back.
    [[nodiscard]] tp_status complete(task done, const std::string &result, std::nothrow_t) noexcept {
        return tp_complete_with(conn_.get(), done.get(), detail::text(result));
    }
    // Waits until it has ended, at most so long: its state, reason() and result(). TP_TIMEOUT: it has not.
    [[nodiscard]] tp_status await(const std::string &id, milliseconds most, batch &ended, std::nothrow_t) noexcept {
        tp_batch *found = nullptr;
        tp_status status = tp_await(conn_.get(), detail::text(id), most.count(), &found);
        if (status == TP_OK) ended = batch(found);
        return status;
    }
    [[nodiscard]] tp_status skip(task skipped, const std::string &reason, std::nothrow_t) noexcept {
        return tp_skip(conn_.get(), skipped.get(), reason.c_str());
    }
    [[nodiscard]] tp_status fail(task failed, const std::string &reason, const tp_retry *retry, std::nothrow_t) noexcept {
        return tp_fail(conn_.get(), failed.get(), reason.c_str(), retry);
    }
    [[nodiscard]] tp_status give_up(task failed, const std::string &reason, std::nothrow_t) noexcept {
        return tp_give_up(conn_.get(), failed.get(), reason.c_str());
    }
    [[nodiscard]] tp_status release(task held, milliseconds delay, std::nothrow_t) noexcept {
        return tp_release(conn_.get(), held.get(), delay.count());
    }
    [[nodiscard]] tp_status extend(task held, milliseconds lease, std::nothrow_t) noexcept {
        return tp_extend(conn_.get(), held.get(), lease.count());
    }
    [[nodiscard]] tp_status settled(task of, std::nothrow_t) noexcept {
        return tp_settled(conn_.get(), of.get());
    }
    [[nodiscard]] tp_status show(const std::string &id, batch &found, std::nothrow_t) noexcept {
        tp_batch *out = nullptr;
        tp_status status = tp_show(conn_.get(), detail::text(id), &out);
        if (status == TP_OK) found = batch(out);
        return status;
    }
    // Steps of work on a task that was claimed without a worker: is it done, with what result? TP_NONE: it is not.
    [[nodiscard]] tp_status step_find(task of, const std::string &name, std::string &result, std::nothrow_t) {
        return tp_step_find(
            conn_.get(), of.get(), detail::text(name),
            [](const tp_step_row *row, void *arg) { *static_cast<std::string *>(arg) = row->result; }, &result);
    }
    // The last call of the transaction in which it was done.
    [[nodiscard]] tp_status step_add(task of, const std::string &name, const std::string &result, milliseconds lease,
                                     std::nothrow_t) noexcept {
        return tp_step_add(conn_.get(), of.get(), detail::text(name), detail::text(result), lease.count());
    }
    // How far the work on a claimed task is, 0 to 100; over a connection without a transaction.
    [[nodiscard]] tp_status progress(task of, int percent, const std::string &message, std::nothrow_t) noexcept {
        return tp_progress_set(conn_.get(), of.get(), percent, message.c_str());
    }
    // Why the work on a task that was claimed without a worker should end soon; text, if not NULL, gets words for people.
    [[nodiscard]] tp_status stop_cause(task of, tp_stop &cause, std::string *text, std::nothrow_t) {
        char words[TP_REASON_MAX + 1] = "";
        tp_status status = tp_stop_cause(conn_.get(), of.get(), &cause, words);
        if (status == TP_OK && text) *text = words;
        return status;
    }
    [[nodiscard]] tp_status cancel(const std::string &id, const std::string &who, const std::string &why, tp_cancelled &became,
                                   std::nothrow_t) noexcept {
        return tp_cancel(conn_.get(), detail::text(id), detail::text(who), detail::text(why), &became);
    }
    // Start from TP_EDIT_INIT, and call again with it. TP_NONE: no such task. TP_EXISTS: another open one has its dedup_key.
    [[nodiscard]] tp_status edit(const std::string &id, tp_edit_request &edit, const std::string &who, const std::string &why,
                                 std::nothrow_t) noexcept {
        return tp_edit(conn_.get(), detail::text(id), &edit, detail::text(who), detail::text(why));
    }
    // The n-th business day after date; "": today. TP_NONE: n is 0, and it is closed.
    [[nodiscard]] tp_status business_day(const std::string &calendar, const std::string &date, std::int32_t n,
                                         tp_business_day_info &day, std::nothrow_t) noexcept {
        return tp_business_day(conn_.get(), detail::text(calendar), date.empty() ? nullptr : detail::text(date), n, &day);
    }
    // Start from TP_GATE_INIT. TP_EXISTS: it is so already.
    [[nodiscard]] tp_status gate_set(const std::string &name, const tp_gate_options &options, const std::string &who,
                                     std::nothrow_t) noexcept {
        return tp_gate_set_with(conn_.get(), detail::text(name), &options, detail::text(who));
    }
    [[nodiscard]] tp_status gate_remove(const std::string &name, const std::string &who, std::nothrow_t) noexcept {
        return tp_gate_remove(conn_.get(), detail::text(name), detail::text(who));
    }
    // see: void (const tp_gate &), noexcept, which must not use the connection. TP_NONE: there is none.
    template <class F> [[nodiscard]] tp_status gate(const std::string &name, F &&see, std::nothrow_t) {
        return tp_gate_each(conn_.get(), detail::text(name), detail::show<tp_gate, std::remove_reference_t<F>>, detail::address(see));
    }
    // Tasks come into it by new_task::group, and after it by new_task::after. parent "": none.
    [[nodiscard]] tp_status group_open(const std::string &name, tp_group_rule rule, const std::string &parent,
                                       std::nothrow_t) noexcept {
        return tp_group_open(conn_.get(), detail::text(name), rule, detail::text(parent));
    }
    [[nodiscard]] tp_status group_close(const std::string &name, std::nothrow_t) noexcept {
        return tp_group_close(conn_.get(), detail::text(name));
    }
    // Workers do it by themselves.
    [[nodiscard]] tp_status groups_end(std::size_t &ended, std::nothrow_t) noexcept {
        return tp_groups_end(conn_.get(), &ended);
    }
    template <class F> [[nodiscard]] tp_status group(const std::string &name, F &&see, std::nothrow_t) {
        return tp_group_each(conn_.get(), detail::text(name), detail::show<tp_group, std::remove_reference_t<F>>,
                             detail::address(see));
    }
    [[nodiscard]] tp_status group_cancel(const std::string &name, const std::string &who, const std::string &why,
                                         std::size_t &skipped, std::nothrow_t) noexcept {
        return tp_group_cancel(conn_.get(), detail::text(name), detail::text(who), detail::text(why), &skipped);
    }
    [[nodiscard]] tp_status group_remove(const std::string &name, const std::string &who, std::nothrow_t) noexcept {
        return tp_group_remove(conn_.get(), detail::text(name), detail::text(who));
    }

#if TASKPOOL_EXCEPTIONS
    explicit conn(const env &in) {
        check(open(in, std::nothrow));
    }
    void reopen() {
        check(reopen(std::nothrow));
    }
    void install() {
        check(install(std::nothrow));
    }
    // Was it put in by this call, or what waits with its key changed? Else it is there.
    bool enqueue(new_task &task) {
        return check(enqueue(task, std::nothrow)) == TP_OK;
    }
    // Is it the first time?
    [[nodiscard]] bool once(const std::string &key) {
        return check(once(key, std::nothrow)) == TP_OK;
    }
    // Empty when nothing is due.
    [[nodiscard]] batch claim(claim_request &request) {
        batch claimed;
        check(claim(request, claimed, std::nothrow));
        return claimed;
    }
    [[nodiscard]] std::string_view params(task of) {
        std::string_view whole;
        check(params(of, whole, std::nothrow));
        return whole;
    }
    void complete(task done) {
        check(complete(done, std::nothrow));
    }
    void complete(task done, const std::string &result) {
        check(complete(done, result, std::nothrow));
    }
    // Empty when there is no such task.
    [[nodiscard]] batch await(const std::string &id, milliseconds most) {
        batch ended;
        check(await(id, most, ended, std::nothrow));
        return ended;
    }
    void skip(task skipped, const std::string &reason) {
        check(skip(skipped, reason, std::nothrow));
    }
    // Will it be tried again? Else it is in the failed pool.
    bool fail(task failed, const std::string &reason, const tp_retry *retry = nullptr) {
        return check(fail(failed, reason, retry, std::nothrow)) == TP_OK;
    }
    void give_up(task failed, const std::string &reason) {
        check(give_up(failed, reason, std::nothrow));
    }
    void release(task held, milliseconds delay = milliseconds(0)) {
        check(release(held, delay, std::nothrow));
    }
    void extend(task held, milliseconds lease) {
        check(extend(held, lease, std::nothrow));
    }
    // Why the work on it should end soon; text, if not NULL, gets words for people.
    tp_stop stop_cause(task of, std::string *text = nullptr) {
        tp_stop cause = TP_STOP_NONE;
        check(stop_cause(of, cause, text, std::nothrow));
        return cause;
    }
    // Its result; empty: it is not done.
    [[nodiscard]] std::optional<std::string> step_find(task of, const std::string &name) {
        std::string result;
        if (check(step_find(of, name, result, std::nothrow)) == TP_NONE) return std::nullopt;
        return result;
    }
    void step_add(task of, const std::string &name, const std::string &result = "", milliseconds lease = std::chrono::minutes(1)) {
        check(step_add(of, name, result, lease, std::nothrow));
    }
    void progress(task of, int percent, const std::string &message = "") {
        check(progress(of, percent, message, std::nothrow));
    }
    [[nodiscard]] tp_cancelled cancel(const std::string &id, const std::string &who, const std::string &why = "") {
        tp_cancelled became = TP_CANCELLED_INIT;
        check(cancel(id, who, why, became, std::nothrow));
        return became;
    }
    // Was it there, and is edited? Four eyes: see the function above.
    bool edit(const std::string &id, tp_edit_request &edit, const std::string &who, const std::string &why = "") {
        return check(this->edit(id, edit, who, why, std::nothrow)) == TP_OK;
    }
    [[nodiscard]] std::optional<tp_business_day_info> business_day(const std::string &calendar, const std::string &date,
                                                                   std::int32_t n) {
        tp_business_day_info day = TP_BUSINESS_DAY_INIT;
        if (check(business_day(calendar, date, n, day, std::nothrow)) == TP_NONE) return std::nullopt;
        return day;
    }
    // Was it not so already?
    bool gate_set(const std::string &name, const tp_gate_options &options, const std::string &who = "") {
        return check(gate_set(name, options, who, std::nothrow)) == TP_OK;
    }
    // Was it there?
    bool gate_remove(const std::string &name, const std::string &who = "") {
        return check(gate_remove(name, who, std::nothrow)) == TP_OK;
    }
    template <class F> bool gate(const std::string &name, F &&see) {
        return check(gate(name, std::forward<F>(see), std::nothrow)) == TP_OK;
    }
    bool group_open(const std::string &name, tp_group_rule rule = TP_GROUP_ALL_DONE, const std::string &parent = "") {
        return check(group_open(name, rule, parent, std::nothrow)) == TP_OK;
    }
    bool group_close(const std::string &name) {
        return check(group_close(name, std::nothrow)) == TP_OK;
    }
    // How many have ended by it.
    std::size_t groups_end() {
        std::size_t ended = 0;
        check(groups_end(ended, std::nothrow));
        return ended;
    }
    template <class F> bool group(const std::string &name, F &&see) {
        return check(group(name, std::forward<F>(see), std::nothrow)) == TP_OK;
    }
    // How many of its tasks were skipped.
    std::size_t group_cancel(const std::string &name, const std::string &who, const std::string &why = "") {
        std::size_t skipped = 0;
        check(group_cancel(name, who, why, skipped, std::nothrow));
        return skipped;
    }
    bool group_remove(const std::string &name, const std::string &who = "") {
        return check(group_remove(name, who, std::nothrow)) == TP_OK;
    }
    // Empty when no task has that id; else one.
    [[nodiscard]] batch show(const std::string &id) {
        batch found;
        check(show(id, found, std::nothrow));
        return found;
    }
#endif
    const tp_conn_info &about() const noexcept {
        return *tp_conn_about(conn_.get());
    }
    const tp_counters &counters() const noexcept {
        return *tp_conn_counters(conn_.get());
    }
    tp_conn *get() const noexcept {
        return conn_.get();
    }

  private:
    detail::handle<tp_conn, tp_conn_close> conn_;
};

// Rolled back at its end unless it was committed. When that cannot be told to the database, its session is lost, and the database rolls
// back by itself.
class transaction {
  public:
    transaction() = default;
    transaction(transaction &&other) noexcept : conn_(std::exchange(other.conn_, nullptr)) {
    }
    transaction &operator=(transaction &&other) noexcept {
        if (this != &other) {
            end();
            conn_ = std::exchange(other.conn_, nullptr);
        }
        return *this;
    }
    ~transaction() {
        end();
    }
    [[nodiscard]] tp_status begin(conn &on, std::nothrow_t) noexcept {
        if (conn_) return tp_begin(conn_); // which says that one is open
        tp_status status = tp_begin(on.get());
        if (status == TP_OK) conn_ = on.get();
        return status;
    }
    // Whatever it answers, the transaction is over.
    [[nodiscard]] tp_status commit(std::nothrow_t) noexcept {
        return tp_commit(std::exchange(conn_, nullptr));
    }
    [[nodiscard]] tp_status rollback(std::nothrow_t) noexcept {
        return tp_rollback(std::exchange(conn_, nullptr));
    }
#if TASKPOOL_EXCEPTIONS
    explicit transaction(conn &on) {
        check(begin(on, std::nothrow));
    }
    void commit() {
        check(commit(std::nothrow));
    }
    void rollback() {
        check(rollback(std::nothrow));
    }
#endif

  private:
    void end() noexcept {
        if (!conn_) return;
        tp_status ignored = tp_rollback(std::exchange(conn_, nullptr));
        static_cast<void>(ignored);
    }
    tp_conn *conn_ = nullptr;
};

// ---- Workers ---------------------------------------------------------------------------------------------

// One call of a handler.
class run {
  public:
    explicit run(tp_run *from) noexcept : run_(from) {
    }
    taskpool::task task() const noexcept {
        return taskpool::task(tp_run_task(run_));
    }
    [[nodiscard]] tp_status params(std::string_view &whole, std::nothrow_t) noexcept {
        const char *text = nullptr;
        std::size_t length = 0;
        tp_status status = tp_run_params(run_, &text, &length);
        if (status == TP_OK) whole = {text, length};
        return status;
    }
    // The task's own connection, which belongs to the worker; its transaction ends with the handler.
    [[nodiscard]] tp_status connection(tp_conn *&own, std::nothrow_t) noexcept {
        return tp_run_conn(run_, &own);
    }
    // function: tp_status (tp_conn *, std::string &), which sets the step's result. result lives until the handler returns.
    template <class F>
    [[nodiscard]] tp_status step(const std::string &name, F &&function, std::string_view &result, std::nothrow_t) {
        struct called {
            std::remove_reference_t<F> *function;
            static tp_status call(tp_run *from, tp_conn *own, void *arg) noexcept {
                std::string result_text;
                tp_status status = (*static_cast<called *>(arg)->function)(own, result_text);
                return status == TP_OK ? tp_run_step_result(from, detail::text(result_text)) : status;
            }
        } arg{&function};
        const char *text = nullptr;
        tp_status status = tp_run_step(run_, detail::text(name), called::call, &arg, &text);
        if (status == TP_OK) result = text;
        return status;
    }
#if TASKPOOL_EXCEPTIONS
    // function: std::string (tp_conn *), the step's result. What it throws is thrown here when the step has been rolled back.
    template <class F> std::string_view step(const std::string &name, F &&function) {
        std::exception_ptr thrown;
        std::string_view result;
        tp_status status = step(
            name,
            [&](tp_conn *own, std::string &text) noexcept {
                thrown = nullptr;
                try {
                    text = function(own);
                    return TP_OK;
                } catch (const error &failure) {
                    thrown = std::current_exception();
                    return failure.status();
                } catch (...) {
                    thrown = std::current_exception();
                    return TP_DB;
                }
            },
            result, std::nothrow);
        if (status != TP_OK && thrown) std::rethrow_exception(thrown);
        check(status);
        return result;
    }
    std::string_view params() {
        std::string_view whole;
        check(params(whole, std::nothrow));
        return whole;
    }
    tp_conn *connection() {
        tp_conn *own = nullptr;
        check(connection(own, std::nothrow));
        return own;
    }
#endif
    void reason(const std::string &why) noexcept {
        tp_run_reason(run_, why.c_str());
    }
    // How far it is, 0 to 100; negative: not said.
    void progress(int percent, const std::string &message = "") noexcept {
        tp_run_progress(run_, percent, message.c_str());
    }
    // What the task gives back when it is done.
    [[nodiscard]] tp_status result(const std::string &text, std::nothrow_t) noexcept {
        return tp_run_result(run_, detail::text(text));
    }
#if TASKPOOL_EXCEPTIONS
    void result(const std::string &text) {
        check(result(text, std::nothrow));
    }
#endif
    void delay(milliseconds until) noexcept {
        tp_run_delay(run_, until.count());
    }
    void no_retry() noexcept {
        tp_run_no_retry(run_);
    }
    bool should_stop() const noexcept {
        return tp_run_should_stop(run_) != 0;
    }
    // Why it should end soon; text (may be nullptr) gets words for people.
    tp_stop stop_cause(const char **text = nullptr) const noexcept {
        return tp_run_stop_cause(run_, text);
    }
    bool lost() const noexcept {
        return tp_run_lost(run_) != 0;
    }
    tp_run *get() const noexcept {
        return run_;
    }

  private:
    tp_run *run_;
};

namespace detail {

// The C function behind a handler of type F. What it throws becomes a failure of the task, and never crosses C.
template <class F> tp_verdict call(tp_run *from, void *arg) noexcept {
    run one(from);
#if TASKPOOL_EXCEPTIONS
    try {
        return (*static_cast<F *>(arg))(one);
    } catch (const std::exception &thrown) {
        tp_run_reason(from, thrown.what());
    } catch (...) {
        tp_run_reason(from, "the handler threw what is no std::exception");
    }
    return TP_RUN_FAILED;
#else
    return (*static_cast<F *>(arg))(one);
#endif
}

template <class F> void destroy(void *function) noexcept {
    delete static_cast<F *>(function);
}

struct owner {
    std::function<void(tp_event, const tp_task *, std::string_view)> on_event;
    std::function<bool(taskpool::task, std::string_view)> on_alert;
    std::deque<std::unique_ptr<void, void (*)(void *)>> handlers;
};

inline void call_event(tp_event event, const tp_task *about, const char *text, void *arg) noexcept {
#if TASKPOOL_EXCEPTIONS
    try {
        static_cast<owner *>(arg)->on_event(event, about, text);
    } catch (...) { // an event is for people to read, and nobody is left to tell
        return;
    }
#else
    static_cast<owner *>(arg)->on_event(event, about, text);
#endif
}

inline int call_alert(const tp_task *about, const char *text, void *arg) noexcept {
#if TASKPOOL_EXCEPTIONS
    try {
        return static_cast<owner *>(arg)->on_alert(taskpool::task(about), text) ? 0 : 1;
    } catch (...) { // called again a minute later
        return 1;
    }
#else
    return static_cast<owner *>(arg)->on_alert(taskpool::task(about), text) ? 0 : 1;
#endif
}

} // namespace detail

// Stopped, joined and closed at its end, however long handlers take.
class worker {
  public:
    // Called as tp_event_fn (task: nullptr where the event is not about one), and as tp_alert_fn: true when the alert was given.
    using event_function = std::function<void(tp_event, const tp_task *, std::string_view)>;
    using alert_function = std::function<bool(task, std::string_view)>;

    worker() = default;
    worker(worker &&) noexcept = default;
    worker &operator=(worker &&other) noexcept {
        worker_ = std::move(other.worker_); // first: its threads call what the owner has
        owner_ = std::move(other.owner_);
        return *this;
    }
    [[nodiscard]] tp_status open(const env &in, tp_worker_options options, event_function on_event, alert_function on_alert,
                                 std::nothrow_t) {
        auto owner = std::make_unique<detail::owner>();
        owner->on_event = std::move(on_event);
        owner->on_alert = std::move(on_alert);
        if (owner->on_event) options.on_event = detail::call_event, options.event_arg = owner.get();
        if (owner->on_alert) options.on_alert = detail::call_alert, options.alert_arg = owner.get();
        tp_worker *opened = nullptr;
        tp_status status = tp_worker_open(in.get(), &options, &opened);
        if (status != TP_OK) return status;
        worker_.reset(opened);
        owner_ = std::move(owner);
        return status;
    }
    // function: tp_verdict (run &). Called by several threads at a time.
    template <class F> [[nodiscard]] tp_status handle(const std::string &handler, F &&function, std::nothrow_t) {
        return handle_with(handler, std::forward<F>(function), nullptr, std::nothrow);
    }
    template <class F>
    [[nodiscard]] tp_status handle_with(const std::string &handler, F &&function, const tp_retry *retry, std::nothrow_t) {
        tp_handler_options options = TP_HANDLER_INIT;
        options.retry = retry;
        return handle_by(handler, std::forward<F>(function), options, std::nothrow);
    }
    // Start from TP_HANDLER_INIT: a deadline, a limit of a call's time.
    template <class F>
    [[nodiscard]] tp_status handle_by(const std::string &handler, F &&function, const tp_handler_options &options, std::nothrow_t) {
        using function_type = std::decay_t<F>;
        static_assert(std::is_invocable_r_v<tp_verdict, function_type &, run &>, "a handler is tp_verdict (taskpool::run &)");
        std::unique_ptr<void, void (*)(void *)> kept(new function_type(std::forward<F>(function)), detail::destroy<function_type>);
        if (!owner_) owner_ = std::make_unique<detail::owner>();
        owner_->handlers.push_back(std::move(kept));
        void *arg = owner_->handlers.back().get();
        return tp_worker_handle_by(worker_.get(), detail::text(handler), detail::call<function_type>, arg, &options);
    }
    [[nodiscard]] tp_status start(std::nothrow_t) noexcept {
        return tp_worker_start(worker_.get());
    }
    [[nodiscard]] tp_status join(std::nothrow_t) noexcept {
        return tp_worker_join(worker_.get());
    }
    // TP_NONE: nothing was due.
    [[nodiscard]] tp_status step(std::nothrow_t, std::size_t *handled = nullptr) noexcept {
        return tp_worker_step(worker_.get(), handled);
    }
    // Safe in a signal handler.
    void stop() noexcept {
        tp_worker_stop(worker_.get());
    }
#if TASKPOOL_EXCEPTIONS
    explicit worker(const env &in, const tp_worker_options &options = TP_WORKER_INIT, event_function on_event = {},
                    alert_function on_alert = {}) {
        check(open(in, options, std::move(on_event), std::move(on_alert), std::nothrow));
    }
    template <class F> void handle(const std::string &handler, F &&function) {
        check(handle(handler, std::forward<F>(function), std::nothrow));
    }
    template <class F> void handle_with(const std::string &handler, F &&function, const tp_retry &retry) {
        check(handle_with(handler, std::forward<F>(function), &retry, std::nothrow));
    }
    template <class F> void handle_by(const std::string &handler, F &&function, const tp_handler_options &options) {
        check(handle_by(handler, std::forward<F>(function), options, std::nothrow));
    }
    void start() {
        check(start(std::nothrow));
    }
    void join() {
        check(join(std::nothrow));
    }
    // How many tasks were handled.
    std::size_t step() {
        std::size_t handled = 0;
        check(step(std::nothrow, &handled));
        return handled;
    }
#endif
    tp_worker *get() const noexcept {
        return worker_.get();
    }

  private:
    // The worker is closed before what its threads call is gone.
    std::unique_ptr<detail::owner> owner_;
    detail::handle<tp_worker, tp_worker_close> worker_;
};

} // namespace taskpool

#endif
