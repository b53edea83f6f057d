/* The blocks that COBOL programs and this layer share: what lies where. The copybooks of include/cobol are
 * written from this file and taskpool.h by tools/cobol/copybooks.py, comments too. No block has padding, so a
 * copybook's fields follow each other as these do. A field for text that a program fills has room for more
 * than its limit: what a MOVE has cut fills it to the last byte, and is refused. */
#ifndef COBOL_BLOCKS_H
#define COBOL_BLOCKS_H

#include <stdint.h>

#include "taskpool.h"

#define ID_FIELD       36
#define HANDLER_FIELD  (TP_HANDLER_MAX + 8)
#define KEY_FIELD      (TP_KEY_MAX + 8)
#define NAME_FIELD     (TP_STEP_NAME_MAX + 8)
#define REASON_FIELD   (TP_REASON_MAX + 8)
#define DSN_FIELD      2048
#define MESSAGE_FIELD  1024
#define SQL_FIELD      4000
#define VALUE_FIELD    256
#define BLOCK_VALUES   16
#define BLOCK_HANDLERS 16
#define BLOCK_DELAYS   16

#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"
#endif

/* TPAREA: the answer of a call. Every call has it as its first argument, and overwrites it. */
struct area {
    int32_t size;
    /* What the call answered: 0 done, positive an answer, negative a failure. */
    int32_t status;
    /* 1: the same call may succeed later. */
    int32_t may_retry;
    int32_t native;
    /* Bytes of TEXT before blanks. */
    int32_t text_length;
    char name[16];
    char sqlstate[5];
    /* The statement of taskpool that was running. */
    char statement[39];
    /* One line for a person; never a password. */
    char text[MESSAGE_FIELD];
};

/* TPENV: for TP_OPEN. */
struct env_block {
    int32_t size;
    /* An ODBC connection string, and Dialect=, Prefix=, Plan=. */
    char dsn[DSN_FIELD];
};

/* TPNEW: a new task, for TP_ENQUEUE. One block, one task: for another task INITIALIZE it first. To ask again
 * call again with the block as it is. */
struct new_block {
    int32_t size;
    /* LENGTH OF the field for the params, which is an argument. */
    int32_t params_size;
    /* 0: without trailing blanks; else exactly so many bytes. */
    int32_t params_length;
    int32_t shard;
    int32_t sharding;
    int32_t shards;
    int32_t priority;
    int32_t max_failures;
    int64_t delay_ms;
    int64_t due_at;
    /* Set by the library with ID. */
    int64_t content;
    /* Spaces: the library makes one. */
    char id[ID_FIELD];
    /* The task that is there, or was changed; else spaces. */
    char existing_id[ID_FIELD];
    char handler[HANDLER_FIELD];
    char biz_key[KEY_FIELD];
    char dedup_key[KEY_FIELD];
    /* What becomes of an open task with the same DEDUP-KEY. */
    int32_t on_duplicate;
    int32_t reserved;
    /* One at a time for each, in the order of their commits. */
    char order_key[KEY_FIELD];
    /* Or behind this gate. */
    char gate[HANDLER_FIELD];
    /* Of no use from then on, or so long after it is due: it is not begun. */
    int64_t deadline_at;
    int64_t deadline_ms;
    /* In this group, which is open. */
    char group[KEY_FIELD];
    /* Due when this group has ended. */
    char after[KEY_FIELD];
    /* Due by the next cut-off of this calendar, so long before. */
    char cut_off_calendar[HANDLER_FIELD];
    int64_t cut_off_lead_ms;
};

/* TPCLAIM: what to claim, for TP_CLAIM and TP_STEP; and when what failed is tried again, for TP_FAIL and
 * TP_SETTLE. Keep it as it is between calls: after a failure it says what the call had asked for. */
struct claim_block {
    int32_t size;
    int32_t handler_count;
    /* 1: handlers in the order given, each before the next. */
    int32_t in_order;
    /* What a claim means whose program died. */
    int32_t on_lapse;
    /* 0: 1, 5 and 20 minutes; -1: no retry. */
    int32_t delay_count;
    int32_t reserved;
    /* 0: a minute. Longer than the work takes. */
    int64_t lease_ms;
    /* TP_STEP: how long it waits for a task at most. */
    int64_t wait_ms;
    /* TP_STEP: pause between two looks; 0: 500. */
    int64_t poll_ms;
    int64_t delay_ms[BLOCK_DELAYS];
    /* The library's own. */
    char token[ID_FIELD];
    char filler[4];
    char handler[BLOCK_HANDLERS][HANDLER_FIELD];
};

/* TPTASK: a task as it was read. After TP_STEP and TP_CLAIM it stands for the claim. */
struct task_block {
    int32_t size;
    /* LENGTH OF the field for the params, which is an argument. */
    int32_t params_size;
    /* Bytes of the params before blanks. */
    int32_t params_length;
    /* The claim; 0: none. */
    int32_t number;
    /* For TP_SETTLE: how the work ended. -1 until it is set. */
    int32_t verdict;
    /* For TP_SETTLE: 1: a failure that no retry can mend. */
    int32_t no_retry;
    int32_t shard;
    int32_t priority;
    int32_t failures;
    int32_t max_failures;
    /* For TP_RELEASE, and TP_SETTLE with TPT-RUN-LATER. */
    int64_t delay_ms;
    /* For TP_EXTEND. */
    int64_t lease_ms;
    int64_t due_at;
    int64_t created_at;
    int64_t modified_at;
    int64_t settled_at;
    char id[ID_FIELD];
    char owner[ID_FIELD];
    char state[8];
    char pool[8];
    char handler[HANDLER_FIELD];
    char biz_key[KEY_FIELD];
    char dedup_key[KEY_FIELD];
    /* The last failure; and what TP_FAIL, TP_GIVE_UP, TP_SKIP and TP_SETTLE write. */
    char reason[REASON_FIELD];
};

/* TPLIST: for TP_LIST, which gives the next task after AFTER-ID. Spaces mean any. */
struct list_block {
    int32_t size;
    char after_id[ID_FIELD];
    char pool[8];
    char state[8];
    char handler[HANDLER_FIELD];
    char biz_key[KEY_FIELD];
};

/* TPONCE: for TP_ONCE. */
struct once_block {
    int32_t size;
    char key[KEY_FIELD];
};

/* TPSTEP: a step of the work on a task, for TP_STEP_FIND and TP_STEP_DONE. */
struct step_block {
    int32_t size;
    /* LENGTH OF the field for the result, which is an argument. */
    int32_t result_size;
    /* TP_STEP_DONE: 0: without trailing blanks; else exactly. */
    int32_t result_length;
    /* TP_STEP_FIND: bytes of the result before blanks. */
    int32_t found_length;
    char name[NAME_FIELD];
};

/* TPRESULT: what a task gives back, for TP_RESULT and TP_AWAIT. */
struct result_block {
    int32_t size;
    /* LENGTH OF the field for the result, which is an argument. */
    int32_t result_size;
    /* TP_RESULT: 0: without trailing blanks; else exactly. */
    int32_t result_length;
    /* TP_AWAIT: bytes of the result before blanks. */
    int32_t found_length;
    /* TP_AWAIT: how long it waits at most. */
    int64_t wait_ms;
};

/* TPPROG: how far the work on a task is, for TP_PROGRESS. */
struct progress_block {
    int32_t size;
    /* 0 to 100; -1: not said. */
    int32_t percent;
    /* A line for people; spaces: none. */
    char message[REASON_FIELD];
};

/* TPCANCEL: for TP_CANCEL. */
struct cancel_block {
    int32_t size;
    /* What became of the task. */
    int32_t answer;
    /* Its state, where it has ended. */
    char state[16];
    char id[ID_FIELD];
    /* Of TP-REQUESTED: what a second person approves. */
    char request_id[ID_FIELD];
    /* Who asks, and why; both are kept. */
    char who[KEY_FIELD];
    char why[REASON_FIELD];
};

/* TPSTOP: whether the work on a task should end, for TP_STOP_CAUSE. */
struct stop_block {
    int32_t size;
    int32_t cause;
    /* In words for people. */
    char text[REASON_FIELD];
};

/* TPEDIT: for TP_EDIT. To ask again call again with the block as it is. */
struct edit_block {
    int32_t size;
    /* 1 in each of these: that value is written. */
    int32_t set_params;
    int32_t set_biz_key;
    int32_t set_dedup_key;
    int32_t set_priority;
    int32_t set_due_at;
    int32_t set_max_failures;
    int32_t set_shard;
    /* 1: pending again, without failures. */
    int32_t retry;
    int32_t priority;
    int32_t max_failures;
    int32_t shard;
    /* LENGTH OF the field for the params, which is an argument. */
    int32_t params_size;
    /* 0: without trailing blanks; else exactly so many bytes. */
    int32_t params_length;
    int64_t due_at;
    char id[ID_FIELD];
    /* Spaces: the library makes one. */
    char edit_id[ID_FIELD];
    char biz_key[KEY_FIELD];
    char dedup_key[KEY_FIELD];
    /* Who edits, and why; both are kept. */
    char who[KEY_FIELD];
    char why[REASON_FIELD];
    /* 1: DEADLINE-AT is written, 0: none. */
    int32_t set_deadline;
    int32_t reserved;
    int64_t deadline_at;
};

/* TPDAY: for TP_BUSINESS_DAY. */
struct day_block {
    int32_t size;
    /* 0: DATE itself; n: the n-th business day after it, or before. */
    int32_t number;
    int32_t kind;
    int32_t reserved;
    /* In ms since 1970 UTC, like all times. */
    int64_t begins_at;
    int64_t cut_off_at;
    char calendar[HANDLER_FIELD];
    /* As 2026-12-24; spaces: today. The day that was found. */
    char date[16];
};

/* TPGATE: for TP_GATE_SET, TP_GATE_SHOW and TP_GATE_REMOVE. */
struct gate_block {
    int32_t size;
    /* At a time; 0: 1, or as many as tokens; -1: closed. */
    int32_t width;
    /* At most so many in any PERIOD-MS; 0: any. */
    int32_t tokens;
    /* When a task of it goes to the failed pool. */
    int32_t on_failure;
    int64_t period_ms;
    /* TP_GATE_SHOW: let through and not ended. */
    int64_t through;
    int64_t waiting;
    char name[HANDLER_FIELD];
    char who[KEY_FIELD];
};

/* TPGROUP: for the calls TP_GROUP_... */
struct group_block {
    int32_t size;
    /* When it has ended. */
    int32_t rule;
    char name[KEY_FIELD];
    /* The group within which it is; spaces: none. */
    char parent[KEY_FIELD];
    char who[KEY_FIELD];
    char why[REASON_FIELD];
    /* TP_GROUP_SHOW: open, closed, ended; and its tasks. */
    char state[8];
    int64_t tasks;
    int64_t waiting;
    int64_t handling;
    int64_t done;
    /* Also of TP_GROUP_CANCEL: how many it skipped. */
    int64_t skipped;
    int64_t failed;
    /* Tasks that wait for its end. */
    int64_t waiting_after;
};

/* TPSTMT: a statement of the program's own, for TP_EXECUTE. Its ? are the values, in their order. */
struct sql_block {
    int32_t size;
    /* How many values. */
    int32_t count;
    /* Rows changed, -1: not known; of a query 1 or 0. */
    int32_t rows;
    /* Columns of a query's row, in RESULT. */
    int32_t columns;
    char text[SQL_FIELD];
    int32_t kind[BLOCK_VALUES];
    char value[BLOCK_VALUES][VALUE_FIELD];
    /* 1: the column is NULL. */
    int32_t is_null[BLOCK_VALUES];
    char result[BLOCK_VALUES][VALUE_FIELD];
};

/* What a value of TPSTMT is. */
enum sql_kind {
    SQL_KIND_TEXT = 0,
    SQL_KIND_NUMBER = 1, /* as 12 or -12.50, blanks around it */
    SQL_KIND_NULL = 2
};

#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif

#endif
