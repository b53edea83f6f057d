/* The protocol of a task: enqueue, claim, lease, lapse, settle, crash, lost answers, late commits. It says what
 * src/ops and sql/ do, small enough that spin can go through every order of events. README.md beside it maps
 * each part to its C function and statement and tells what is left out. tools/model.sh runs it, and runs it
 * broken (-DNO_...) to see that each part of the protocol is needed. */

/* ---- How large ----------------------------------------------------------------------------------------- */

#ifndef WORKERS
#define WORKERS 3
#endif
#ifndef TASKS
#define TASKS 2
#endif
#ifndef TROUBLES /* crashes, and connections lost while a request was under way; a poison task's come on top */
#define TROUBLES 2
#endif
#ifndef LATES /* sessions that the server still works for though their client is gone, at a time */
#define LATES 1
#endif
#ifndef EXTRAS /* releases and extensions of a lease */
#define EXTRAS 1
#endif
#ifndef MAX_FAILURES
#define MAX_FAILURES 2
#endif
#ifndef CAS_FROM /* workers from this one on claim by plan cas, those before by plan row */
#define CAS_FROM (WORKERS + 1)
#endif

/* ---- The database -------------------------------------------------------------------------------------- */

/* Where a row is and in which state: pool and state of src/core/fsm.h in one. */
#define ABSENT     0
#define P_PENDING  1
#define P_FAILED   2
#define P_HANDLING 3
#define F_FAILED   4
#define D_SKIPPED  5
#define D_DONE     6
#define OVER       7 /* any of the last three, when nobody is left who could ask */

#define is_open(t)  (at[t] >= P_PENDING && at[t] <= P_HANDLING)
#define is_moved(t) (at[t] >= F_FAILED)

/* Sessions: workers 1..WORKERS, late ones behind them, the producer's last. Tokens go by the same numbers: that
 * of a worker's claim, that which only a late session still has; 0 is any that nobody has any more. So a token
 * that a new claim gets is one that nobody has. */
#define LATE(g)  (WORKERS + 1 + (g))
#define PRODUCER (WORKERS + LATES + 1)
#define SESSIONS (WORKERS + LATES + 2)

byte at[TASKS];
byte owner[TASKS];
byte failures[TASKS];
bit due[TASKS];      /* due_at has come; while handling: the lease lapsed */
byte lock[TASKS];    /* the session whose open transaction has the row; 0: none */
byte effects[TASKS]; /* committed in transactions of the task */

/* What settles did under each token. What it says of FAIL is in tp_history; the rest is only there to judge
 * answers. */
byte stored[SESSIONS];

#define NOTHING 0
#define DONE    1 /* complete, by itself */
#define PAID    2 /* complete, in one transaction with the effect */
#define SKIP    3
#define FAIL    4
#define RELEASE 5
#define LAPSE   6 /* a last lapse goes to the failed pool */
#define CLAIM   7
#define ENQUEUE 8
#define UNDO    9 /* an open transaction whose COMMIT was never sent */

/* Plan cas: the task (+ 1) whose row is as this session saw it. */
byte seen[SESSIONS];

/* ---- What is wanted ------------------------------------------------------------------------------------ */

byte troubles, extras;
bit busy[SESSIONS];
bit produced; /* the producer has its answers, or is gone */

/* Sessions whose client is gone while a request was under way. */
byte late_op[LATES];
byte late_task[LATES];
byte late_token[LATES];
bit late_denied[LATES]; /* its client was told that this very settle was lost */

hidden byte i, j;

#define ended(t) (at[t] == ABSENT || is_moved(t))
#define all_ended (produced && ended(0) && ended(TASKS - 1) && late_op[0] == NOTHING && late_op[LATES - 1] == NOTHING)

/* Searched by itself: with a formula spin looks no further once it came true, and whoever asks after that must be
 * told the truth, too. */
#ifdef ENDS
ltl every_task_ends { <> all_ended }
#endif

/* ---- Statements ---------------------------------------------------------------------------------------- */

/* The condition of every settling write. */
#if defined(NO_TOKEN)
#define holds(t, k) (at[t] == P_HANDLING)
#elif defined(NO_STATE)
#define holds(t, k) (is_open(t) && owner[t] == k)
#else
#define holds(t, k) (at[t] == P_HANDLING && owner[t] == k)
#endif

#ifdef NO_RECHECK
#define claimable(t) is_open(t)
#else
#define claimable(t) (is_open(t) && due[t])
#endif

#ifdef NO_GUARD
#define unchanged(s, t) is_open(t)
#else
#define unchanged(s, t) (seen[s] == t + 1)
#endif

inline written(t) {
#if CAS_FROM <= WORKERS
	for (i : 1 .. PRODUCER) {
		if
		:: seen[i] == t + 1 -> seen[i] = 0
		:: else
		fi
	};
	i = 0
#else
	skip
#endif
}

inline apply_claim(t, k) {
	assert(at[t] != P_HANDLING || due[t]); /* the lease of whoever had it lapsed */
#ifndef NO_COUNT_CRASH
	failures[t] = failures[t] + (at[t] == P_HANDLING);
#endif
	at[t] = P_HANDLING;
	owner[t] = k;
	due[t] = 0;
	written(t)
}

inline apply_settle(t, k, op) {
	assert(stored[k] == NOTHING); /* a claim is settled once */
	assert(!is_moved(t));         /* so is a task, for good */
	stored[k] = op;
	due[t] = 1; /* a delay is over at once: whoever looks later is as good */
	written(t);
	if
	:: op == DONE -> at[t] = D_DONE
	:: op == PAID ->
		at[t] = D_DONE;
#ifndef NO_MIGRATE_ATOMIC
		effects[t]++;
#endif
		assert(effects[t] <= 1) /* no effect twice */
	:: op == SKIP -> at[t] = D_SKIPPED
	:: op == RELEASE -> at[t] = P_PENDING
	:: op == LAPSE -> at[t] = F_FAILED
	:: op == FAIL ->
		failures[t]++;
		at[t] = (failures[t] >= MAX_FAILURES -> F_FAILED : P_FAILED)
	fi
}

inline apply_enqueue(t) {
	assert(at[t] == ABSENT); /* no second row, in this pool or another */
	at[t] = P_PENDING;
	due[t] = 1
}

/* What became of the settle op of token k, as settled.sql and history_failed.sql say. */
#define found_done(t, k)     (at[t] == D_DONE && owner[t] == k)
#define found_skipped(t, k)  (at[t] == D_SKIPPED && owner[t] == k)
#define found_failed(t, k)   ((at[t] == P_FAILED || at[t] == F_FAILED) && owner[t] == k || stored[k] == FAIL)
#define found_released(t, k) (at[t] == P_PENDING && owner[t] == k)
#define found(t, k, op) \
	((op == DONE || op == PAID) && found_done(t, k) || op == SKIP && found_skipped(t, k) \
	|| op == FAIL && found_failed(t, k) || op == RELEASE && found_released(t, k))

/* ---- Tokens and late sessions --------------------------------------------------------------------------- */

inline rename(old, new) {
	for (i : 0 .. TASKS - 1) {
		if
		:: owner[i] == old && new == 0 && is_moved(i) ->
			owner[i] = 0;
			at[i] = OVER;
			failures[i] = 0;
			due[i] = 0;
			effects[i] = 1 /* none may come any more */
		:: owner[i] == old && (new != 0 || !is_moved(i)) -> owner[i] = new
		:: else
		fi
	}
	for (i : 0 .. LATES - 1) {
		if
		:: late_op[i] != NOTHING && late_token[i] == old -> late_token[i] = new
		:: else
		fi
	}
	if
	:: new != 0 -> stored[new] = stored[old]
	:: else
	fi;
	stored[old] = NOTHING
}

/* Its client has no more use for token k. */
inline drop_token(k) {
	j = 0;
	for (i : 0 .. LATES - 1) {
		if
		:: late_op[i] != NOTHING && late_token[i] == k -> j = LATE(i)
		:: else
		fi
	}
	rename(k, j)
}

#define slot_free (late_op[0] == NOTHING || late_op[LATES - 1] == NOTHING)

/* The client of session s is gone, or gave the connection up, with a request under way: the server may still do
 * it, at any time, or never. */
inline leave_behind(s, t, k, op) {
	j = (late_op[0] == NOTHING -> 0 : LATES - 1);
	late_op[j] = op;
	late_task[j] = t;
	late_token[j] = k;
	late_denied[j] = 0;
	if
	:: lock[t] == s -> lock[t] = LATE(j)
	:: else
	fi;
#if CAS_FROM <= WORKERS
	seen[LATE(j)] = (op == CLAIM -> seen[s] : 0);
	seen[s] = 0
#endif
}

inline end_late(g) {
	late_op[g] = NOTHING;
	if
	:: lock[late_task[g]] == LATE(g) -> lock[late_task[g]] = 0
	:: else
	fi;
	late_task[g] = 0;
	late_denied[g] = 0;
	seen[LATE(g)] = 0;
	j = late_token[g];
	late_token[g] = 0;
	if
	:: j == LATE(g) -> drop_token(LATE(g))
	:: else
	fi
}

/* A statement by itself waits for locks; a COMMIT has its own. */
#define may_run(g) (lock[late_task[g]] == 0 || lock[late_task[g]] == LATE(g))

proctype late(byte g) {
end_none:
	do
	:: d_step {
		late_op[g] != NOTHING && may_run(g) && late_op[g] != UNDO ->
		if
		:: late_op[g] == CLAIM && (lock[late_task[g]] == LATE(g) || unchanged(LATE(g), late_task[g])) ->
			apply_claim(late_task[g], late_token[g])
		:: late_op[g] == ENQUEUE && (lock[late_task[g]] == LATE(g) || at[late_task[g]] == ABSENT || is_moved(late_task[g])) ->
			apply_enqueue(late_task[g])
		:: late_op[g] < CLAIM && holds(late_task[g], late_token[g]) ->
			assert(!late_denied[g]); /* who was told LOST was told the truth */
			apply_settle(late_task[g], late_token[g], late_op[g])
		:: else
		fi;
		end_late(g)
	}
	:: d_step { late_op[g] != NOTHING -> end_late(g) }
	od
}

/* ---- The clock ----------------------------------------------------------------------------------------- */

/* Any lease may lapse at any time, but not for ever that of a live worker which has nothing to do but to put a
 * exhausted task aside. */
#define lives(k)     (k >= 1 && k <= WORKERS)
#define may_lapse(t) (at[t] == P_HANDLING && !due[t] && (failures[t] <= MAX_FAILURES || !lives(owner[t])))

proctype clock() {
end_none:
	do
	:: d_step { may_lapse(0) -> due[0] = 1 }
#if TASKS > 1
	:: d_step { may_lapse(1) -> due[1] = 1 }
#endif
	od
}

/* ---- A worker ------------------------------------------------------------------------------------------ */

#ifdef NO_LOSSES
#define lost_answers false
#else
#define lost_answers true
#endif
#define may_crash (troubles < TROUBLES)
#define may_lose  (lost_answers && troubles < TROUBLES && slot_free)

/* To be told that it is done, or that it is not. A release is known only as long as nobody else has claimed. */
#define did(k, op) (stored[k] == op || op == DONE && stored[k] == PAID)

/* The guarded write found no row: settled, history_failed. */
inline answer(t, k, what) {
	if
#ifndef NO_LOOK
	:: found(t, k, what) -> assert(did(k, what)); assert(what != PAID || effects[t] == 1)
	:: !found(t, k, what) && (what == LAPSE || what == RELEASE)
#endif
	:: else -> /* LOST */
		assert(!did(k, what) || what == LAPSE);
		for (i : 0 .. LATES - 1) {
			if
			:: late_op[i] == what && late_token[i] == k -> late_denied[i] = 1
			:: else
			fi
		};
		i = 0
	fi
}

#define holds_still(t, k) (at[t] == P_HANDLING && owner[t] == k)
#ifdef POISON
#define kills(t) (t == 0) /* whoever handles it dies */
#else
#define kills(t) false
#endif

inline begin_paying(t) {
#ifdef NO_MIGRATE_ATOMIC
	effects[t]++;
	assert(effects[t] <= 1)
#else
	skip
#endif
}

inline refused(t) {
#ifdef COMMIT_OVER
	effects[t]++;
	assert(effects[t] <= 1)
#else
	skip
#endif
}

/* The claim is over for this worker, or the worker died and another starts in its place. */
inline over() {
	drop_token(me);
	t = 0;
	op = NOTHING;
	busy[me] = 0
}

/* Instead of an answer. The client dies, or asks again over a new connection. */
#define ASKED(what, again) \
	:: d_step { may_crash && slot_free -> troubles++; leave_behind(me, t, me, what); over() }; goto end_idle \
	:: d_step { may_lose -> troubles++; leave_behind(me, t, me, what) }; goto again
#define CRASH_BETWEEN \
	:: d_step { may_crash && slot_free -> troubles++; leave_behind(me, t, me, UNDO); over() }; goto end_idle

/* A settle: one statement, or one transaction of several, that the server does, or that gets no answer. */
#define OUTCOME(what, condition) \
	:: d_step { !kills(t) && condition && lock[t] == 0 && holds(t, me) -> count(what); apply_settle(t, me, what); over() }; goto end_idle \
	:: d_step { !kills(t) && condition && lock[t] == 0 && !holds(t, me) -> count(what); answer(t, me, what); over() }; goto end_idle \
	:: d_step { !kills(t) && condition && may_crash && slot_free -> count(what); troubles++; leave_behind(me, t, me, what); over() }; goto end_idle \
	:: d_step { !kills(t) && condition && may_lose -> count(what); troubles++; leave_behind(me, t, me, what); op = what }; goto again

#define may_release (extras < EXTRAS)
#define may_extend  (!kills(t) && extras < EXTRAS)

inline count(what) {
	extras = extras + (what == RELEASE)
}

#define last_lapse(t) (failures[t] + (at[t] == P_HANDLING) >= MAX_FAILURES)

#define visible(t) (is_open(t) && due[t])
/* Workers that do nothing are alike: that the first of them acts is enough. */
#define my_turn ((me < 2 || busy[1] || CAS_FROM == 2) && (me < 3 || busy[2] || CAS_FROM == 3))

proctype worker(byte me) {
	byte t, op;

end_idle: /* claim_pick; claim_candidates */
	if
	:: d_step { my_turn && me < CAS_FROM && visible(0) && lock[0] == 0 -> t = 0; busy[me] = 1 }
	:: d_step { my_turn && me >= CAS_FROM && visible(0) -> t = 0; seen[me] = 1; busy[me] = 1 }; goto swap
#if TASKS > 1
	:: d_step { my_turn && me < CAS_FROM && visible(1) && lock[1] == 0 -> t = 1; busy[me] = 1 }
	:: d_step { my_turn && me >= CAS_FROM && visible(1) -> t = 1; seen[me] = 2; busy[me] = 1 }; goto swap
#endif
	fi;

	/* claim_lock, which is refused at once when the row is locked, and the recheck under the lock; claim_mark */
	if
	:: d_step { lock[t] == 0 && claimable(t) -> lock[t] = me }
	:: d_step { lock[t] != 0 || !claimable(t) -> t = 0; busy[me] = 0 }; goto end_idle
	fi;
	if
	:: d_step { !last_lapse(t) -> apply_claim(t, me); lock[t] = 0 }; goto handle
	:: d_step { last_lapse(t) -> apply_claim(t, me); lock[t] = 0; op = LAPSE }; goto again
	ASKED(CLAIM, claim_again)
	CRASH_BETWEEN
	fi;

swap: /* claim_cas */
	if
	:: d_step { lock[t] == 0 && unchanged(me, t) && !last_lapse(t) -> apply_claim(t, me) }; goto handle
	:: d_step { lock[t] == 0 && unchanged(me, t) && last_lapse(t) -> apply_claim(t, me); op = LAPSE }; goto again
	:: d_step { lock[t] == 0 && !unchanged(me, t) -> seen[me] = 0; t = 0; busy[me] = 0 }; goto end_idle
	ASKED(CLAIM, claim_again)
	fi;

claim_again: /* claim_read */
	if
	:: d_step { holds_still(t, me) && failures[t] < MAX_FAILURES -> skip }; goto handle
	:: d_step { holds_still(t, me) && failures[t] >= MAX_FAILURES -> op = LAPSE }; goto again
	:: d_step { !holds_still(t, me) -> over() }; goto end_idle
	fi;

handle: /* one of the outcomes of a handler, settled at once; or another extension of the lease */
	if
	:: d_step { kills(t) -> over() }; goto end_idle
	:: d_step { !kills(t) && may_crash -> troubles++; over() }; goto end_idle
#ifndef FEW_OUTCOMES
	OUTCOME(DONE, true)
#endif
#ifdef WITH_SKIP
	OUTCOME(SKIP, true)
#endif
	OUTCOME(FAIL, true)
	OUTCOME(RELEASE, may_release)
	:: d_step { !kills(t) && lock[t] == 0 && holds(t, me) -> lock[t] = me; begin_paying(t) }; goto pay
	:: d_step { !kills(t) && lock[t] == 0 && !holds(t, me) -> begin_paying(t); refused(t) }; goto find_out
	:: d_step { may_extend && lock[t] == 0 && holds(t, me) -> extras++; due[t] = 0; written(t) }; goto handle
	:: d_step { may_extend && lock[t] == 0 && !holds(t, me) -> over() }; goto end_idle
	fi;

again: /* the same settle once more */
	if
	:: d_step { lock[t] == 0 && holds(t, me) -> apply_settle(t, me, op); over() }; goto end_idle
	:: d_step { lock[t] == 0 && !holds(t, me) -> answer(t, me, op); over() }; goto end_idle
	ASKED(op, again)
	fi;

pay: /* the effect and the settle are written, the row is locked; commit */
	if
	:: d_step { true -> apply_settle(t, me, PAID); lock[t] = 0; assert(effects[t] == 1); over() }; goto end_idle
	ASKED(PAID, find_out)
	CRASH_BETWEEN
	fi;

find_out: /* the transaction is over; settled; while the claim is held the handler is called again */
	if
	:: d_step { !found(t, me, PAID) && holds_still(t, me) -> skip }; goto handle
	:: d_step { found(t, me, PAID) || !holds_still(t, me) -> answer(t, me, PAID); over() }; goto end_idle
	fi
}

/* ---- The producer -------------------------------------------------------------------------------------- */

#define PRODUCER_ASKED(op, again) \
	:: d_step { may_crash && slot_free -> troubles++; leave_behind(PRODUCER, t, 0, op) }; goto gone \
	:: d_step { may_lose -> troubles++; leave_behind(PRODUCER, t, 0, op) }; goto again

proctype producer() {
	byte t;

first: /* enqueue */
#ifdef ENQUEUE_ALONE
	if
	:: d_step { true -> apply_enqueue(t) }; goto told
	PRODUCER_ASKED(ENQUEUE, again)
	fi;
#else
	lock[t] = PRODUCER;
	goto commit;
#endif

again: /* find_moved; enqueue, which waits for who inserts or moves this row; find_moved; enqueue_undo */
#ifndef NO_MOVED_LOOK
	if
	:: is_moved(t) -> goto told
	:: else
	fi;
#endif
	if
	:: d_step { lock[t] == 0 && is_open(t) -> skip }; goto told
	:: d_step { lock[t] == 0 && !is_open(t) -> lock[t] = PRODUCER }
	fi;
#if !defined(NO_MOVED_LOOK) && !defined(NO_SECOND_LOOK)
	if
	:: d_step { is_moved(t) -> lock[t] = 0 }; goto told
	:: else
	fi;
#endif
commit:
	if
	:: d_step { true -> apply_enqueue(t); lock[t] = 0 }; goto told
	PRODUCER_ASKED(ENQUEUE, again)
	PRODUCER_ASKED(UNDO, again) /* the insert, or its answer, was lost */
	fi;

told:
	assert(at[t] != ABSENT); /* stored, as it is told */
	t++;
	if
	:: t < TASKS -> goto first
	:: else
	fi;
gone:
	t = 0;
	produced = 1
}

init {
	atomic {
		run producer();
		run clock();
		run late(0);
#if LATES > 1
		run late(1);
#endif
		run worker(1);
		run worker(2);
#if WORKERS > 2
		run worker(3)
#endif
	}
}
