"""The library taskpool from Python, by ctypes: one file to copy, which needs nothing but Python 3.8, libtaskpool and unixODBC.
taskpool.h is the manual; payroll.py beside this file is a whole program.

  with taskpool.Environment(dsn) as env, env.connect() as conn:
      with conn.transaction():
          conn.execute("INSERT INTO orders (id) VALUES (?)", 7)
          conn.enqueue(taskpool.NewTask("points", "100", biz_key="order-7"))

A failure is an exception by its status (Lost, Conflict, ...), each an Error; may_retry says whether the same call may succeed
later. Keep a NewTask or a Claim, and call again with it: the library finds out what the first try did. A connection, and what
was claimed on it, is used by one thread at a time.

TASKPOOL_LIBRARY names the library where the linker does not find it.
"""
import contextlib
import ctypes as c
import ctypes.util
import os
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

STATUSES = {"ok": 0, "none": 1, "exists": 2, "exhausted": 3, "requested": 4, "stale": 5, "lost": -1, "conflict": -2, "timeout": -3,
            "disconnected": -4, "schema": -5, "unsupported": -6, "toobig": -7, "misuse": -8, "nomem": -9, "db": -10, "unwritable": -11}
OK, NONE, EXISTS, EXHAUSTED = 0, 1, 2, 3
RUN_DONE, RUN_FAILED, RUN_SKIPPED, RUN_LATER = range(4)
GROUP_ALL_DONE, GROUP_ALL_ENDED = range(2)
EDITS = {"params": 1, "biz_key": 2, "dedup_key": 4, "priority": 8, "due_at": 16, "max_failures": 32, "shard": 64, "deadline_at": 128}
CANCEL_ANSWERS = ("unknown", "skipped", "asked", "late")
ID = c.c_char * 37
REASON_SIZE = 513


# ---- The structs of taskpool.h, field by field; tests/python/structs.py compares them ----

class Struct(c.Structure):
    """One that begins with size says how long it is, so the library may be older or newer than this file."""

    def __init__(self, **values):
        unknown = set(values) - {name for name, _ in self._fields_}
        if unknown:
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}")
        super().__init__(**values)
        if self._fields_[0][0] == "size":
            self.size = c.sizeof(self)


class tp_error(Struct):
    _fields_ = [("status", c.c_int), ("native", c.c_int32), ("sqlstate", c.c_char * 6), ("statement", c.c_char_p), ("text", c.c_char_p)]


class tp_task(Struct):
    _fields_ = ([(name, c.c_char_p) for name in ("id", "handler", "biz_key", "dedup_key", "params", "reason", "state", "pool", "owner")] +
                [(name, c.c_int32) for name in ("shard", "priority", "failures", "max_failures")] +
                [(name, c.c_int64) for name in ("due_at", "created_at", "modified_at", "settled_at", "wanted_at")] +
                [("gate", c.c_char_p), ("result", c.c_char_p), ("deadline_at", c.c_int64)])


class tp_new_task(Struct):
    _fields_ = [("size", c.c_size_t), ("handler", c.c_char_p), ("params", c.c_char_p), ("biz_key", c.c_char_p), ("dedup_key", c.c_char_p),
                ("shard", c.c_int32), ("sharding", c.c_int), ("shards", c.c_int32), ("priority", c.c_int32), ("max_failures", c.c_int32),
                ("delay_ms", c.c_int64), ("due_at", c.c_int64), ("id", ID), ("existing_id", ID), ("content", c.c_uint64),
                ("cut_off_calendar", c.c_char_p), ("cut_off_lead_ms", c.c_int64), ("on_duplicate", c.c_int), ("reserved", c.c_int32),
                ("order_key", c.c_char_p), ("gate", c.c_char_p), ("group", c.c_char_p), ("after", c.c_char_p),
                ("deadline_at", c.c_int64), ("deadline_ms", c.c_int64)]


class tp_retry(Struct):
    _fields_ = [("size", c.c_size_t), ("delays_ms", c.POINTER(c.c_int64)), ("count", c.c_size_t), ("first_ms", c.c_int64),
                ("last_ms", c.c_int64), ("factor", c.c_int32), ("jitter", c.c_int32), ("on_lapse", c.c_int), ("delay", c.c_void_p),
                ("arg", c.c_void_p)]


class tp_claim_request(Struct):
    _fields_ = [("size", c.c_size_t), ("handlers", c.POINTER(c.c_char_p)), ("handler_count", c.c_size_t), ("limit", c.c_size_t),
                ("lease_ms", c.c_int64), ("retry", c.POINTER(tp_retry)), ("plan", c.c_char_p), ("shards", c.POINTER(c.c_int32)),
                ("shard_count", c.c_size_t), ("in_order", c.c_int), ("token", ID), ("retries", c.c_void_p)]


class tp_worker_options(Struct):
    _fields_ = [("size", c.c_size_t), ("threads", c.c_int), ("threads_max", c.c_int), ("keep_alive_ms", c.c_int64), ("queue", c.c_size_t),
                ("when_full", c.c_int), ("batch", c.c_size_t), ("lease_ms", c.c_int64), ("pace", c.c_int), ("poll_ms", c.c_int64),
                ("idle_ms", c.c_int64), ("initial_delay_ms", c.c_int64), ("shards", c.POINTER(c.c_int32)), ("shard_count", c.c_size_t),
                ("in_order", c.c_int), ("plan", c.c_char_p), ("settle_count", c.c_size_t), ("settle_ms", c.c_int64),
                ("retry", c.POINTER(tp_retry)), ("stop_ms", c.c_int64), ("schedules", c.c_int), ("drain", c.c_int), ("name", c.c_char_p),
                ("on_event", c.c_void_p), ("event_arg", c.c_void_p), ("on_alert", c.c_void_p), ("alert_arg", c.c_void_p),
                ("hot_ms", c.c_int64),
                ("on_alert_group", c.c_void_p), ("alert_group_max", c.c_size_t), ("alert_group_ms", c.c_int64),
                ("hooks", c.c_void_p), ("hook_count", c.c_size_t)]


class tp_worker_info(Struct):
    _fields_ = [("size", c.c_size_t), ("state", c.c_char_p), ("threads", c.c_int), ("connections", c.c_int), ("queued", c.c_size_t),
                ("running", c.c_size_t)] + [(name, c.c_uint64) for name in ("claimed", "done", "failed", "skipped", "released", "lost",
                                                                            "events_dropped")] + [
                                                                    ("waiting_ms", c.c_int64), ("unstored", c.c_uint64)]


class tp_gate_options(Struct):
    _fields_ = [("size", c.c_size_t), ("period_ms", c.c_int64), ("tokens", c.c_int32), ("width", c.c_int32), ("on_failure", c.c_int),
                ("keeps", c.c_int32)]


class tp_gate(Struct):
    _fields_ = [("name", c.c_char_p), ("through", c.c_int64), ("waiting", c.c_int64), ("changed_at", c.c_int64), ("changed_by", c.c_char_p),
                ("width", c.c_int32), ("on_failure", c.c_int), ("period_ms", c.c_int64), ("token_at", c.c_int64), ("tokens", c.c_int32),
                ("tokens_left", c.c_int32), ("pattern", c.c_char_p)]


class tp_group(Struct):
    _fields_ = ([("name", c.c_char_p), ("parent", c.c_char_p), ("state", c.c_char_p), ("rule", c.c_int), ("cancelled", c.c_int32)] +
                [(name, c.c_int64) for name in ("created_at", "closed_at", "ended_at", "tasks", "waiting", "handling", "done", "skipped",
                                                "failed", "after")])


class tp_handler_options(Struct):
    _fields_ = [("size", c.c_size_t), ("retry", c.POINTER(tp_retry)), ("deadline_ms", c.c_int64), ("run_limit_ms", c.c_int64)]


class tp_edit_request(Struct):
    _fields_ = [("size", c.c_size_t), ("params", c.c_char_p), ("biz_key", c.c_char_p), ("dedup_key", c.c_char_p), ("due_at", c.c_int64),
                ("fields", c.c_int32), ("priority", c.c_int32), ("max_failures", c.c_int32), ("retry", c.c_int32),
                ("edit_id", c.c_char * 40), ("shard", c.c_int32), ("reserved", c.c_int32), ("deadline_at", c.c_int64),
                ("modified_at", c.c_int64)]


class tp_business_day_info(Struct):
    _fields_ = [("size", c.c_size_t), ("date", c.c_char * 16), ("kind", c.c_int), ("reserved", c.c_int32), ("begins_at", c.c_int64),
                ("cut_off_at", c.c_int64)]


class tp_cancelled(Struct):
    _fields_ = [("size", c.c_size_t), ("answer", c.c_int), ("reserved", c.c_int32), ("state", c.c_char * 16), ("request_id", c.c_char * 40)]


class tp_step_row(Struct):
    _fields_ = [("name", c.c_char_p), ("result", c.c_char_p), ("at", c.c_int64)]


# ---- The functions ----

P, TEXT, TASK = c.c_void_p, c.c_char_p, c.POINTER(tp_task)
HANDLER = c.CFUNCTYPE(c.c_int, P, P)
STEP = c.CFUNCTYPE(c.c_int, P, P, P)
SEE_STEP, SEE_GATE, SEE_GROUP = (c.CFUNCTYPE(None, c.POINTER(struct), P) for struct in (tp_step_row, tp_gate, tp_group))
SIGNATURES = {
    "tp_env_open": [TEXT, c.POINTER(P)], "tp_env_close": [P], "tp_conn_open": [P, c.POINTER(P)], "tp_conn_reopen": [P],
    "tp_conn_close": [P], "tp_schema_install": [P], "tp_schema_check": [P], "tp_begin": [P], "tp_commit": [P], "tp_rollback": [P],
    "tp_enqueue": [P, c.POINTER(tp_new_task)], "tp_enqueue_many": [P, c.POINTER(tp_new_task), c.c_size_t, c.POINTER(c.c_size_t)],
    "tp_once": [P, TEXT, TASK], "tp_claim": [P, c.POINTER(tp_claim_request), c.POINTER(P)], "tp_batch_count": [P],
    "tp_batch_task": [P, c.c_size_t], "tp_batch_free": [P], "tp_task_params": [P, TASK, c.POINTER(P), c.POINTER(c.c_size_t)],
    "tp_complete": [P, TASK], "tp_complete_with": [P, TASK, TEXT], "tp_await": [P, TEXT, c.c_int64, c.POINTER(P)],
    "tp_skip": [P, TASK, TEXT], "tp_fail": [P, TASK, TEXT, c.POINTER(tp_retry)], "tp_give_up": [P, TASK, TEXT],
    "tp_release": [P, TASK, c.c_int64], "tp_extend": [P, TASK, c.c_int64], "tp_settled": [P, TASK], "tp_now": [P, c.POINTER(c.c_int64)],
    "tp_test_advance": [P, c.c_int64], "tp_complete_many": [P, c.POINTER(TASK), c.c_size_t, c.POINTER(c.c_int)],
    "tp_worker_open": [P, c.POINTER(tp_worker_options), c.POINTER(P)], "tp_worker_handle_by": [P, TEXT, HANDLER, P, c.POINTER(tp_handler_options)],
    "tp_worker_start": [P], "tp_worker_stop": [P], "tp_worker_join": [P], "tp_worker_close": [P],
    "tp_worker_step": [P, c.POINTER(c.c_size_t)], "tp_worker_about": [P, c.POINTER(tp_worker_info)],
    "tp_run_task": [P], "tp_run_params": [P, c.POINTER(P), c.POINTER(c.c_size_t)], "tp_run_conn": [P, c.POINTER(P)],
    "tp_run_reason": [P, TEXT], "tp_run_progress": [P, c.c_int, TEXT], "tp_run_result": [P, TEXT], "tp_run_delay": [P, c.c_int64],
    "tp_run_no_retry": [P], "tp_run_should_stop": [P], "tp_run_lost": [P],
    "tp_run_stop_cause": [P, c.POINTER(TEXT)], "tp_stop_name": [c.c_int], "tp_conn_dbc": [P],
    "tp_run_step": [P, TEXT, STEP, P, c.POINTER(TEXT)], "tp_run_step_result": [P, TEXT],
    "tp_step_find": [P, TASK, TEXT, SEE_STEP, P], "tp_step_add": [P, TASK, TEXT, TEXT, c.c_int64], "tp_progress_set": [P, TASK, c.c_int, TEXT],
    "tp_stop_cause": [P, TASK, c.POINTER(c.c_int), TEXT], "tp_cancel": [P, TEXT, TEXT, TEXT, c.POINTER(tp_cancelled)],
    "tp_edit": [P, TEXT, c.POINTER(tp_edit_request), TEXT, TEXT],
    "tp_business_day": [P, TEXT, TEXT, c.c_int32, c.POINTER(tp_business_day_info)],
    "tp_gate_set_with": [P, TEXT, c.POINTER(tp_gate_options), TEXT], "tp_gate_remove": [P, TEXT, TEXT], "tp_gate_each": [P, TEXT, SEE_GATE, P],
    "tp_group_open": [P, TEXT, c.c_int, TEXT], "tp_group_close": [P, TEXT], "tp_groups_end": [P, c.POINTER(c.c_size_t)],
    "tp_group_each": [P, TEXT, SEE_GROUP, P], "tp_group_cancel": [P, TEXT, TEXT, TEXT, c.POINTER(c.c_size_t)],
    "tp_group_remove": [P, TEXT, TEXT],
    "tp_status_may_retry": [c.c_int], "tp_status_name": [c.c_int], "tp_version": [], "tp_last_error": []}
RESULTS = {"tp_batch_count": c.c_size_t, "tp_batch_task": TASK, "tp_run_task": TASK, "tp_conn_dbc": P, "tp_status_name": TEXT, "tp_stop_name": TEXT,
           "tp_version": TEXT, "tp_last_error": c.POINTER(tp_error), **dict.fromkeys((
               "tp_env_close", "tp_conn_close", "tp_batch_free", "tp_worker_stop", "tp_worker_close", "tp_run_reason", "tp_run_delay",
               "tp_run_no_retry", "tp_run_progress"))}
lib = c.CDLL(os.environ.get("TASKPOOL_LIBRARY") or ctypes.util.find_library("taskpool") or "libtaskpool.so")
for _name, _arguments in SIGNATURES.items():
    getattr(lib, _name).argtypes, getattr(lib, _name).restype = _arguments, RESULTS.get(_name, c.c_int)


class Error(Exception):
    """A failure. status is its number, name its name; sqlstate and native say what the database said."""

    def __init__(self, text, status, sqlstate="", native=0, statement=""):
        super().__init__(text)
        self.status, self.sqlstate, self.native, self.statement = status, sqlstate, native, statement
        self.name, self.may_retry = lib.tp_status_name(status).decode(), bool(lib.tp_status_may_retry(status))


Lost, Conflict, Timeout, Disconnected, Schema, Unsupported, TooBig, Misuse, NoMemory, Database, Unwritable = FAILURES = [
    type(name, (Error,), {}) for name in
    "Lost Conflict Timeout Disconnected Schema Unsupported TooBig Misuse NoMemory Database Unwritable".split()]


def checked(status):
    """An answer, from 0 up; a failure is raised."""
    if status >= 0:
        return status
    error = lib.tp_last_error().contents
    raise failure(status, error.text.decode(errors="replace"), error.sqlstate.decode(), error.native, error.statement.decode())


def failure(status, *said):
    return (FAILURES[-status - 1] if -status <= len(FAILURES) else Error)(said[0], status, *said[1:])


def text(value):
    """For C, where a NUL would be the end."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"a text must be a str, not {type(value).__name__}")
    if "\0" in value:
        raise failure(STATUSES["misuse"], "a text has a NUL in it")
    return value.encode()


def long_text(function, *which):
    found, length = P(), c.c_size_t()
    checked(function(*which, c.byref(found), c.byref(length)))
    return c.string_at(found, length.value).decode()


def seen(kind, function, *arguments):
    """What a function shows of one thing: its fields, or None where there is none."""
    found = {}

    def see(pointer, _):
        for name, _ in pointer.contents._fields_:
            value = getattr(pointer.contents, name)
            found[name] = value.decode() if isinstance(value, bytes) else value
    return found if checked(function(*arguments, kind(see), None)) == OK else None


# ---- What the caller fills ----

class NewTask:
    """One object, one task: enqueue it again after a failure; for another task make another."""

    def __init__(self, handler, params="", **values):
        values = {name: text(value) if isinstance(value, str) else value for name, value in values.items()}
        self.struct = tp_new_task(handler=text(handler), params=text(params), **values)

    id = property(lambda self: self.struct.id.decode(), doc="made by the first try, or given")
    existing_id = property(lambda self: self.struct.existing_id.decode(), doc="the task that is there, where this one was not put in")


def Retry(*delays_ms, **values):
    """A ladder of delays, Retry(60000, 300000); Retry(0) tries once; or first_ms, factor, ... by name."""
    if not delays_ms:
        return tp_retry(**values)
    delays = [] if delays_ms == (0,) else delays_ms
    return tp_retry(delays_ms=(c.c_int64 * max(len(delays), 1))(*delays), count=len(delays), **values)


class Claim:
    """What to claim. Claim again with it after a failure: it has the token of that try."""

    def __init__(self, *handlers, retry=None, shards=(), **values):
        values = {name: text(value) if isinstance(value, str) else value for name, value in values.items()}
        self.struct = tp_claim_request(handlers=(TEXT * len(handlers))(*map(text, handlers)), handler_count=len(handlers), **values)
        if retry:
            self.struct.retry = c.pointer(retry)
        if shards:
            self.struct.shards, self.struct.shard_count = (c.c_int32 * len(shards))(*shards), len(shards)


class Edit:
    """New values for one task that waits or failed: due_at, deadline_at, priority, shard, params, biz_key, dedup_key, max_failures; retry=1. Edit
    again with it after a failure."""

    def __init__(self, retry=0, **values):
        self.struct = tp_edit_request(retry=retry, **{name: text(value) if isinstance(value, str) else value for name, value in
                                                      values.items()})
        self.struct.fields = sum(EDITS[name] for name in values)


# ---- What the library hands out ----

class Task:
    """Its fields are those of tp_task. params is whole, however long; what a text is not there for is ""."""

    def __init__(self, pointer, keeps, params):
        self.pointer, self._keeps, self._params = pointer, keeps, params  # keeps: what it lies in

    def __getattr__(self, name):
        value = getattr(self.pointer.contents, name)
        return value.decode() if isinstance(value, bytes) else value

    @property
    def params(self):
        short = self.pointer.contents.params
        return self._params() if short is None else short.decode()


class Batch:
    """The tasks of a claim: a sequence."""

    def __init__(self, conn, pointer):
        self._conn, self._pointer = conn, pointer

    def __len__(self):
        return lib.tp_batch_count(self._pointer) if self._pointer else 0

    def __getitem__(self, i):
        if not 0 <= i < len(self):
            raise IndexError(i)
        pointer = lib.tp_batch_task(self._pointer, i)
        return Task(pointer, self, lambda: long_text(lib.tp_task_params, self._conn.pointer, pointer))

    def __del__(self):
        lib.tp_batch_free(self._pointer)


class Session:
    """What may be done in any transaction, also in a handler's."""

    def __init__(self, pointer):
        self._pointer, self.doomed = pointer, False

    @property
    def pointer(self):
        if not self._pointer:
            raise failure(STATUSES["misuse"], "the connection is closed")
        return self._pointer

    def enqueue(self, task):
        """Whether this call put it in; task.existing_id says which one was there."""
        return checked(lib.tp_enqueue(self.pointer, c.byref(task.struct))) == OK

    def enqueue_many(self, tasks):
        """All or none; how many were put in, the others were there."""
        structs, inserted = (tp_new_task * len(tasks))(*(task.struct for task in tasks)), c.c_size_t()
        status = lib.tp_enqueue_many(self.pointer, structs, len(tasks), c.byref(inserted))
        for task, struct in zip(tasks, structs):
            task.struct.id, task.struct.existing_id, task.struct.content = struct.id, struct.existing_id, struct.content
        checked(status)
        return inserted.value

    def once(self, key, task=None):
        """Whether it is the first time for this key."""
        return checked(lib.tp_once(self.pointer, text(key), task.pointer if task else None)) == OK

    def execute(self, sql, *values):
        """A statement of your own, with ? for each value (str, int, Decimal, None): the rows of a query, with each column as text
        or None, else how many rows were changed. After a failure the transaction can only be rolled back."""
        try:
            return Statement(lib.tp_conn_dbc(self.pointer)).run(text(sql), values)
        except BaseException:
            self.doomed = True
            raise


class Connection(Session):
    def __init__(self, env, pointer):
        super().__init__(pointer)
        self.env = env  # which must outlive it

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        pointer, self._pointer = self._pointer, None
        lib.tp_conn_close(pointer)

    def reopen(self):
        """After Disconnected."""
        self.doomed = False
        checked(lib.tp_conn_reopen(self.pointer))

    def begin(self):
        self.doomed = False
        checked(lib.tp_begin(self.pointer))

    def commit(self):
        """Disconnected: reopen, and ask settled() or the enqueue again."""
        if self.doomed:
            self.rollback()
            raise failure(STATUSES["conflict"], "a statement of this transaction failed; it was rolled back")
        checked(lib.tp_commit(self.pointer))

    def rollback(self):
        checked(lib.tp_rollback(self.pointer))

    @contextlib.contextmanager
    def transaction(self):
        """Commits at its end; rolls back what an exception leaves."""
        self.begin()
        try:
            yield self
        except BaseException:
            lib.tp_rollback(self.pointer)
            raise
        self.commit()

    def install(self):
        checked(lib.tp_schema_install(self.pointer))

    def check_schema(self):
        checked(lib.tp_schema_check(self.pointer))

    def now(self):
        """The database's clock, in ms since 1970."""
        found = c.c_int64()
        checked(lib.tp_now(self.pointer, c.byref(found)))
        return found.value

    def claim(self, claim):
        """The due tasks that are now yours; none: an empty batch."""
        found = P()
        checked(lib.tp_claim(self.pointer, c.byref(claim.struct), c.byref(found)))
        return Batch(self, found)

    def complete(self, task, result=None):
        """result: what the work gave back, for await_end."""
        checked(lib.tp_complete_with(self.pointer, task.pointer, text(result)) if result else lib.tp_complete(self.pointer, task.pointer))

    def await_end(self, id, timeout_ms):
        """Waits until the task has ended: its state, reason and result; None: no such task. Timeout: it has not ended."""
        found = P()
        if checked(lib.tp_await(self.pointer, text(id), timeout_ms, c.byref(found))) != OK:
            return None
        return Batch(self, found)[0]

    def complete_many(self, tasks):
        """The status of each; Lost is among them, and no exception, where the others are done."""
        answers = (c.c_int * len(tasks))()
        status = lib.tp_complete_many(self.pointer, (TASK * len(tasks))(*(task.pointer for task in tasks)), len(tasks), answers)
        if status != STATUSES["lost"]:
            checked(status)
        return list(answers)

    def skip(self, task, reason=None):
        checked(lib.tp_skip(self.pointer, task.pointer, text(reason)))

    def fail(self, task, reason=None, retry=None):
        """Whether it will be tried again; else it is in the failed pool."""
        return checked(lib.tp_fail(self.pointer, task.pointer, text(reason), retry and c.byref(retry))) != EXHAUSTED

    def give_up(self, task, reason=None):
        checked(lib.tp_give_up(self.pointer, task.pointer, text(reason)))

    def release(self, task, delay_ms=0):
        checked(lib.tp_release(self.pointer, task.pointer, delay_ms))

    def extend(self, task, lease_ms):
        checked(lib.tp_extend(self.pointer, task.pointer, lease_ms))

    def step(self, task, name, function, lease_ms=60000):
        """For a loop of your own: what function(self) wrote, its result (a str or None) and the record that the step is done are
        one commit. Done before, by whichever try: its result alone. The task must not be settled in a transaction that is open.
        Disconnected from its commit: reopen and call again."""
        done = seen(SEE_STEP, lib.tp_step_find, self.pointer, task.pointer, text(name))
        if done:
            return done["result"]
        with self.transaction():
            result = function(self) or ""
            checked(lib.tp_step_add(self.pointer, task.pointer, text(name), text(result), lease_ms))
        return result

    def progress(self, task, percent, message=""):
        """How far the work on a claimed task is; over a connection without a transaction. -1 without a message takes it back."""
        checked(lib.tp_progress_set(self.pointer, task.pointer, percent, text(message)))

    def stop_cause(self, task):
        """Why the work on a task that was claimed without a worker should end soon: its name, "none", and words for people."""
        cause, words = c.c_int(), c.create_string_buffer(REASON_SIZE)
        checked(lib.tp_stop_cause(self.pointer, task.pointer, c.byref(cause), words))
        return lib.tp_stop_name(cause.value).decode(), words.value.decode()

    def cancel(self, id, who, why=None):
        """What became of the task: unknown, skipped, asked (whoever has it is told), late; or requested, of a second person."""
        became = tp_cancelled()
        if checked(lib.tp_cancel(self.pointer, text(id), text(who), text(why), c.byref(became))) == STATUSES["requested"]:
            return "requested"
        return CANCEL_ANSWERS[became.answer]

    def edit(self, id, edit, who, why=None):
        """done, none (no such task), exists (another open one has its dedup_key), or requested, of a second person."""
        status = checked(lib.tp_edit(self.pointer, text(id), c.byref(edit.struct), text(who), text(why)))
        return "done" if status == OK else lib.tp_status_name(status).decode()

    def business_day(self, calendar, date=None, n=0):
        """(date, cut_off_at) of the n-th business day after date (None: today); None: n is 0, and it is closed."""
        day = tp_business_day_info()
        if checked(lib.tp_business_day(self.pointer, text(calendar), text(date), n, c.byref(day))) != OK:
            return None
        return day.date.decode(), day.cut_off_at

    def gate_set(self, name, who=None, **options):
        """Makes or changes a gate: width (0: closed), tokens, period_ms, on_failure (0: block, 1: pass). Whether it was not so
        already."""
        if options.get("width") == 0:
            options["width"] = -1
        return checked(lib.tp_gate_set_with(self.pointer, text(name), c.byref(tp_gate_options(**options)), text(who))) == OK

    def gate(self, name):
        """Its fields, through and waiting among them; None: there is none."""
        return seen(SEE_GATE, lib.tp_gate_each, self.pointer, text(name))

    def gate_remove(self, name, who=None):
        return checked(lib.tp_gate_remove(self.pointer, text(name), text(who))) == OK

    def group_open(self, name, rule=GROUP_ALL_DONE, parent=None):
        """Tasks come into it by NewTask(group=name), and after it by NewTask(after=name). Whether it was not there already."""
        return checked(lib.tp_group_open(self.pointer, text(name), rule, text(parent))) == OK

    def group_close(self, name):
        return checked(lib.tp_group_close(self.pointer, text(name))) == OK

    def groups_end(self):
        """How many have ended by it. Workers do it by themselves."""
        ended = c.c_size_t()
        checked(lib.tp_groups_end(self.pointer, c.byref(ended)))
        return ended.value

    def group(self, name):
        """Its fields, with what became of its tasks; None: there is none."""
        return seen(SEE_GROUP, lib.tp_group_each, self.pointer, text(name))

    def group_cancel(self, name, who, why=None):
        """How many of its tasks were skipped."""
        skipped = c.c_size_t()
        checked(lib.tp_group_cancel(self.pointer, text(name), text(who), text(why), c.byref(skipped)))
        return skipped.value

    def group_remove(self, name, who=None):
        return checked(lib.tp_group_remove(self.pointer, text(name), text(who))) == OK

    def settled(self, task):
        """After a settle or commit without an answer: True: it was done. False: still yours, do the work again. Lost is raised."""
        return checked(lib.tp_settled(self.pointer, task.pointer)) == OK


class Environment:
    """Close its connections and workers first; with blocks do that in the right order."""

    def __init__(self, connection_string):
        self.pointer = P()
        checked(lib.tp_env_open(text(connection_string), c.byref(self.pointer)))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        pointer, self.pointer = self.pointer, None
        lib.tp_env_close(pointer)

    def connect(self):
        found = P()
        checked(lib.tp_conn_open(self.pointer, c.byref(found)))
        return Connection(self, found)


# ---- The application's own statements, by ODBC ----

odbc = c.CDLL("libodbc.so.2")
SHORT, LENGTH = c.c_short, c.c_ssize_t
for _name, _arguments in {
        "SQLAllocHandle": [SHORT, P, c.POINTER(P)], "SQLFreeHandle": [SHORT, P], "SQLExecDirect": [P, TEXT, c.c_int],
        "SQLBindParameter": [P, c.c_ushort, SHORT, SHORT, SHORT, c.c_size_t, SHORT, TEXT, LENGTH, c.POINTER(LENGTH)],
        "SQLNumResultCols": [P, c.POINTER(SHORT)], "SQLRowCount": [P, c.POINTER(LENGTH)], "SQLFetch": [P],
        "SQLGetData": [P, c.c_ushort, SHORT, P, LENGTH, c.POINTER(LENGTH)],
        "SQLGetDiagRec": [SHORT, P, SHORT, TEXT, c.POINTER(c.c_int32), P, SHORT, c.POINTER(SHORT)]}.items():
    getattr(odbc, _name).argtypes, getattr(odbc, _name).restype = _arguments, SHORT
ODBC_STATES = {"08": "disconnected", "40": "conflict", "HY": "db"}
STMT, INPUT, C_CHAR, VARCHAR, LONG_VARCHAR, NUMERIC, NULL_DATA, NO_DATA = 3, 1, 1, 12, -1, 2, -1, 100


class Statement:
    def __init__(self, dbc):
        self.handle, self.bound = P(), []
        if not dbc or odbc.SQLAllocHandle(STMT, dbc, c.byref(self.handle)) not in (0, 1):
            raise failure(STATUSES["disconnected"], "no connection")

    def __del__(self):
        odbc.SQLFreeHandle(STMT, self.handle)

    def sure(self, answer):
        if answer in (0, 1, NO_DATA):
            return answer
        state, native, said = c.create_string_buffer(6), c.c_int32(), c.create_string_buffer(1000)
        odbc.SQLGetDiagRec(STMT, self.handle, 1, state, c.byref(native), said, len(said), None)
        state = state.value.decode()
        name = "timeout" if state.startswith("HYT") else ODBC_STATES.get(state[:2], "db")
        raise failure(STATUSES[name], said.value.decode(errors="replace"), state, native.value)

    def bind(self, i, value):
        number = isinstance(value, (int, Decimal))
        data = text(format(value, "f" if isinstance(value, Decimal) else "d") if number else value)
        size = len(data or b"")
        kind, width, scale = (NUMERIC, 38, size - data.index(b".") - 1 if b"." in data else 0) if number else (
            LONG_VARCHAR if size > 4000 else VARCHAR, size or 1, 0)
        length = LENGTH(NULL_DATA if data is None else size)
        self.bound.append((data, length))  # until the statement has run
        self.sure(odbc.SQLBindParameter(self.handle, i, INPUT, C_CHAR, kind, width, scale, data, size + 1, c.byref(length)))

    def column(self, i):
        part, length, found = c.create_string_buffer(4096), LENGTH(), b""
        while self.sure(odbc.SQLGetData(self.handle, i, C_CHAR, part, len(part), c.byref(length))) != NO_DATA:
            if length.value == NULL_DATA:
                return None
            found += part.value
            if 0 <= length.value < len(part):
                break
        return found.decode()

    def run(self, sql, values):
        for i, value in enumerate(values, 1):
            self.bind(i, value)
        self.sure(odbc.SQLExecDirect(self.handle, sql, len(sql)))
        columns, rows = SHORT(), LENGTH()
        self.sure(odbc.SQLNumResultCols(self.handle, c.byref(columns)))
        if not columns.value:
            self.sure(odbc.SQLRowCount(self.handle, c.byref(rows)))
            return max(rows.value, 0)
        found = []
        while self.sure(odbc.SQLFetch(self.handle)) != NO_DATA:
            found.append(tuple(self.column(i) for i in range(1, columns.value + 1)))
        return found


# ---- The worker ----

class Skip(Exception):
    """From a handler: nothing was to be done, and why. What it wrote is stored."""


class GiveUp(Exception):
    """From a handler: no retry can mend it. Rolled back; to the failed pool."""


class Later(Exception):
    """From a handler, Later(ms): rolled back and put back, without a failure."""


class Run(Session):
    """A call of a handler. What it executes and enqueues here is stored together with the end of the task, or not at all."""

    def __init__(self, run):
        super().__init__(None)
        self.run = run
        self.task = Task(lib.tp_run_task(run), None, lambda: long_text(lib.tp_run_params, run))

    @property
    def pointer(self):
        if not self.run:
            raise failure(STATUSES["misuse"], "the handler has returned")
        if not self._pointer:
            self._pointer = P()
            checked(lib.tp_run_conn(self.run, c.byref(self._pointer)))
        return self._pointer

    def step(self, name, function):
        """function(session) writes what the step does, and gives its result (a str or None). That, the record that the step is done
        and its result are one commit; once it is done, in whichever try, the result comes back and nothing is called. Before the
        first execute or enqueue of the run itself. What function raises is raised here, when the step is rolled back."""
        raised, result = [], TEXT()

        @STEP
        def call(run, pointer, _):
            session = Session(pointer)
            del raised[:]
            try:
                answer = text(function(session))
                if session.doomed:
                    raise failure(STATUSES["conflict"], "a statement of this step failed; it was rolled back")
                return lib.tp_run_step_result(run, answer)
            except BaseException as error:
                raised.append(error)
                return error.status if isinstance(error, Error) else STATUSES["db"]
            finally:
                session._pointer = None
        status = lib.tp_run_step(self.run, text(name), call, None, c.byref(result))
        if status < 0 and raised:
            raise raised[0]
        checked(status)
        return (result.value or b"").decode()

    def progress(self, percent, message=""):
        """How far it is, 0 to 100; negative: not said."""
        lib.tp_run_progress(self.run, percent, text(message))

    def result(self, value):
        """What the task gives back when the handler returns."""
        checked(lib.tp_run_result(self.run, text(value)))

    should_stop = property(lambda self: bool(lib.tp_run_should_stop(self.run)), doc="the worker is to stop, or the claim was lost")
    stop_cause = property(lambda self: lib.tp_stop_name(lib.tp_run_stop_cause(self.run, None)).decode(), doc="why it is to end: none, lost, cancelled, worker")
    lost = property(lambda self: bool(lib.tp_run_lost(self.run)), doc="another has the task, or will have")


def call_handler(function, pointer):
    """What a handler throws never crosses C, which would take it for done; nor what its exception throws when it is read."""
    try:
        return verdict_of(function, pointer)
    except BaseException:
        return RUN_FAILED


def verdict_of(function, pointer):
    run, verdict, reason = Run(pointer), RUN_DONE, ""
    try:
        try:
            function(run)
        except Skip as skip:
            reason, verdict = str(skip), RUN_SKIPPED
        except Later as later:
            verdict = RUN_LATER
            lib.tp_run_delay(pointer, int(later.args[0]) if later.args else 0)
    except BaseException as error:
        verdict, reason = RUN_FAILED, str(error) if isinstance(error, GiveUp) else f"{type(error).__name__}: {error}"
        if isinstance(error, GiveUp):
            lib.tp_run_no_retry(pointer)
    run.run = None
    if run.doomed and verdict in (RUN_DONE, RUN_SKIPPED):
        verdict, reason = RUN_FAILED, "a statement failed, and the handler went on"
    if reason:
        lib.tp_run_reason(pointer, reason.encode(errors="replace").replace(b"\0", b" "))
    return verdict


class Worker:
    """Options are those of tp_worker_options, by name. Handlers, function(run), are called in other threads than the one that
    gets the signals; they end well by returning, and fail by any exception."""

    def __init__(self, env, retry=None, **options):
        self._callbacks, self._pointer, self._stepper = [], P(), ThreadPoolExecutor(1)
        self._options = tp_worker_options(**{name: text(value) if isinstance(value, str) else value for name, value in options.items()})
        if retry:
            self._options.retry = c.pointer(retry)
        checked(lib.tp_worker_open(env.pointer, c.byref(self._options), c.byref(self._pointer)))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        """Stops, and waits for handlers however long they take."""
        self._stepper.shutdown()
        pointer, self._pointer = self._pointer, None
        lib.tp_worker_close(pointer)

    def handle(self, handler, function, retry=None, **values):
        """values: deadline_ms, run_limit_ms."""
        callback = HANDLER(lambda run, _: call_handler(function, run))
        options = tp_handler_options(retry=retry and c.pointer(retry), **values)
        self._callbacks.append((callback, retry))
        checked(lib.tp_worker_handle_by(self._pointer, text(handler), callback, None, c.byref(options)))

    def _step(self):
        handled = c.c_size_t()
        checked(lib.tp_worker_step(self._pointer, c.byref(handled)))
        return handled.value

    def step(self):
        """Instead of run: claims once, handles and settles what was claimed; how many tasks. Needs no start."""
        return self._stepper.submit(self._step).result()

    @property
    def state(self):
        info = tp_worker_info()
        checked(lib.tp_worker_about(self._pointer, c.byref(info)))
        return info.state.decode()

    def run(self):
        """Starts, and returns when it has ended: by stop(), drain=1 or an exception such as KeyboardInterrupt."""
        checked(lib.tp_worker_start(self._pointer))
        try:
            while self.state != "ended":
                time.sleep(0.05)
        finally:
            self.stop()
            checked(lib.tp_worker_join(self._pointer))

    def stop(self):
        """From any thread, or a signal's handler."""
        lib.tp_worker_stop(self._pointer)
