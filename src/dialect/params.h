/* The named parameters (:name) that statements under sql/ may use. The kind says how a value is bound. A LIST
 * is written IN (:name), with a ? for each of its values; a statement has at most one list of texts and one
 * of numbers, which is in an optional part. A LIST_DOCUMENT is the list of texts as one value, a JSON array.
 * Read next: statements.h. */
#ifndef TPI_DIALECT_PARAMS_H
#define TPI_DIALECT_PARAMS_H

/* X(name, kind) */
#define TPI_PARAM_LIST(X)                                                                                    \
    X(id, TEXT)                                                                                              \
    X(ids, TEXT_LIST)                                                                                        \
    X(ids_document, LIST_DOCUMENT)                                                                           \
    X(handler, TEXT)                                                                                         \
    X(handlers, TEXT_LIST)                                                                                   \
    X(biz_key, TEXT)                                                                                         \
    X(dedup_key, TEXT)                                                                                       \
    X(dedup_keys, TEXT_LIST)                                                                                 \
    X(params, LONG_TEXT)                                                                                     \
    X(document, LONG_TEXT)                                                                                   \
    X(reason, TEXT)                                                                                          \
    X(state, TEXT)                                                                                           \
    X(token, TEXT)                                                                                           \
    X(after_id, TEXT)                                                                                        \
    X(last_id, TEXT)                                                                                         \
    X(history_id, TEXT)                                                                                      \
    X(event, TEXT)                                                                                           \
    X(who, TEXT)                                                                                             \
    X(once_key, TEXT)                                                                                        \
    X(step, TEXT)                                                                                            \
    X(result, LONG_TEXT)                                                                                     \
    X(message, TEXT)                                                                                         \
    X(percent, NUMBER)                                                                                       \
    X(host, TEXT)                                                                                            \
    X(handler_names, TEXT)                                                                                   \
    X(plan, TEXT)                                                                                            \
    X(tag, TEXT)                                                                                             \
    X(act, TEXT)                                                                                             \
    X(action, TEXT)                                                                                          \
    X(subject, TEXT)                                                                                         \
    X(detail, TEXT)                                                                                          \
    X(ids_hash, TEXT)                                                                                        \
    X(request_id, TEXT)                                                                                      \
    X(prev_hash, TEXT)                                                                                       \
    X(row_hash, TEXT)                                                                                        \
    X(seq, NUMBER)                                                                                           \
    X(changed, NUMBER)                                                                                       \
    X(pid, NUMBER)                                                                                           \
    X(threads, NUMBER)                                                                                       \
    X(running, NUMBER)                                                                                       \
    X(claimed, NUMBER)                                                                                       \
    X(done, NUMBER)                                                                                          \
    X(failed, NUMBER)                                                                                        \
    X(gave_up, NUMBER)                                                                                       \
    X(skipped, NUMBER)                                                                                       \
    X(released, NUMBER)                                                                                      \
    X(lost, NUMBER)                                                                                          \
    X(wait_sum, NUMBER)                                                                                      \
    X(wait_max, NUMBER)                                                                                      \
    X(wait_0, NUMBER)                                                                                        \
    X(wait_1, NUMBER)                                                                                        \
    X(wait_2, NUMBER)                                                                                        \
    X(wait_3, NUMBER)                                                                                        \
    X(wait_4, NUMBER)                                                                                        \
    X(wait_5, NUMBER)                                                                                        \
    X(wait_6, NUMBER)                                                                                        \
    X(wait_7, NUMBER)                                                                                        \
    X(wait_8, NUMBER)                                                                                        \
    X(wait_9, NUMBER)                                                                                        \
    X(run_sum, NUMBER)                                                                                       \
    X(run_max, NUMBER)                                                                                       \
    X(run_0, NUMBER)                                                                                         \
    X(run_1, NUMBER)                                                                                         \
    X(run_2, NUMBER)                                                                                         \
    X(run_3, NUMBER)                                                                                         \
    X(run_4, NUMBER)                                                                                         \
    X(run_5, NUMBER)                                                                                         \
    X(run_6, NUMBER)                                                                                         \
    X(run_7, NUMBER)                                                                                         \
    X(run_8, NUMBER)                                                                                         \
    X(run_9, NUMBER)                                                                                         \
    X(bucket_ms, NUMBER)                                                                                     \
    X(attempt, NUMBER)                                                                                       \
    X(alert_ms, NUMBER)                                                                                      \
    X(to_state, TEXT)                                                                                        \
    X(part, TEXT)                                                                                            \
    X(owner_part, TEXT)                                                                                      \
    X(pool, TEXT)                                                                                            \
    X(until_id, TEXT)                                                                                        \
    X(name, TEXT)                                                                                            \
    X(value, TEXT)                                                                                           \
    X(shards, NUMBER_LIST)                                                                                   \
    X(rule, TEXT)                                                                                            \
    X(time_zone, TEXT)                                                                                       \
    X(missed, TEXT)                                                                                          \
    X(last_task, TEXT)                                                                                       \
    X(calendar, TEXT)                                                                                        \
    X(closed, TEXT)                                                                                          \
    X(weekdays, TEXT)                                                                                        \
    X(cut_off, TEXT)                                                                                         \
    X(first_date, TEXT)                                                                                      \
    X(last_date, TEXT)                                                                                       \
    X(version, TEXT)                                                                                         \
    X(old_version, TEXT)                                                                                     \
    X(business_date, TEXT)                                                                                   \
    X(kind, TEXT)                                                                                            \
    X(gate, TEXT)                                                                                            \
    X(held, TEXT)                                                                                            \
    X(pattern, TEXT)                                                                                         \
    X(tokens, NUMBER)                                                                                        \
    X(period_ms, NUMBER)                                                                                     \
    X(token_at, NUMBER)                                                                                      \
    X(on_failure, TEXT)                                                                                      \
    X(parent, TEXT)                                                                                          \
    X(waits, NUMBER)                                                                                         \
    X(width, NUMBER)                                                                                         \
    X(place, NUMBER)                                                                                         \
    X(rule_at, NUMBER)                                                                                       \
    X(fire_at, NUMBER)                                                                                       \
    X(dealt_at, NUMBER)                                                                                      \
    X(missed_max, NUMBER)                                                                                    \
    X(alone, NUMBER)                                                                                         \
    X(paused, NUMBER)                                                                                        \
    X(next_at, NUMBER)                                                                                       \
    X(last_at, NUMBER)                                                                                       \
    X(created_at, NUMBER)                                                                                    \
    X(shard, NUMBER)                                                                                         \
    X(priority, NUMBER)                                                                                      \
    X(since, NUMBER)                                                                                         \
    X(settled_since, NUMBER)                                                                                 \
    X(until, NUMBER)                                                                                         \
    X(after_at, NUMBER)                                                                                      \
    X(ahead, NUMBER)                                                                                         \
    X(failures, NUMBER)                                                                                      \
    X(seen_failures, NUMBER)                                                                                 \
    X(max_failures, NUMBER)                                                                                  \
    X(due_at, NUMBER)                                                                                        \
    X(modified_at, NUMBER)                                                                                   \
    X(at, NUMBER)                                                                                            \
    X(before, NUMBER)                                                                                        \
    X(delay_ms, NUMBER)                                                                                      \
    X(lease_ms, NUMBER)                                                                                      \
    X(limit, NUMBER)                                                                                         \
    X(window, NUMBER)                                                                                        \
    X(now, NUMBER)                                                                                           \
    X(now_plus_delay, NUMBER)                                                                                \
    X(now_plus_lease, NUMBER)                                                                                \
    X(fields, NUMBER)                                                                                        \
    X(retried, NUMBER)

enum tpi_param_kind {
    TPI_TEXT,
    TPI_TEXT_LIST,
    TPI_LONG_TEXT,
    TPI_NUMBER,
    TPI_NUMBER_LIST,
    TPI_LIST_DOCUMENT
};

enum tpi_param {
#define TPI_PARAM_ENUM(name, kind) TPI_P_##name,
    TPI_PARAM_LIST(TPI_PARAM_ENUM)
#undef TPI_PARAM_ENUM
        TPI_PARAM_COUNT
};

#endif
