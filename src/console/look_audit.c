/* What people did, page by page. See looks.h. */
#include <json-c/json.h>
#include <stdio.h>

#include "common/messages.h"
#include "common/pool_columns.h"
#include "looks.h"

enum { LIMIT = 100, LIMIT_MAX = 200 };

struct page {
    json_object *acts;
    int64_t limit, last;
    bool more;
};

static void add_act(const tp_audit *row, void *arg) {
    struct page *page = arg;

    page->more = (int64_t)json_object_array_length(page->acts) == page->limit;
    if (page->more) return;
    page->last = row->seq;
    json_object_array_add(page->acts, record_object(audit_columns, row));
}

void look_audit(tp_conn *conn, const struct request *request, struct answer *answer) {
    tp_audit_request wanted = TP_AUDIT_INIT;
    struct page page = {.limit = LIMIT};
    char next[24] = "";
    tp_status status;

    wanted.who = request_text(request, "who");
    wanted.action = request_text(request, "what");
    if (!request_number(request, "limit", 1, LIMIT_MAX, &page.limit, answer) ||
        !request_number(request, "after", 1, INT64_MAX, &wanted.seq, answer))
        return;
    page.acts = cli_must(json_object_new_array());
    wanted.limit = (size_t)page.limit + 1;
    status = tp_audit_each(conn, &wanted, add_act, &page);
    if (page.more) snprintf(next, sizeof next, "%lld", (long long)page.last);
    if (status >= 0) {
        answer_members(answer, MEMBERS(MEMBER_JSON("acts", page.acts), MEMBER_TEXT("next", next)));
        return;
    }
    answer_tp(answer, status);
    json_object_put(page.acts);
}
