#!/usr/bin/env -S python3 -B
"""That the judge finds what must not be of groups, cancels and deadlines: a sound pool in SQLite, in which each test
breaks one thing. Takes less than a second."""
import os
import shutil
import sqlite3
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True
import client
import ends
import judge

POOLS = """
CREATE TABLE tp_pending (id, handler, state, shard, biz_key, params);
CREATE TABLE tp_finished (id, handler, state, shard, biz_key, params, reason, settled_at);
CREATE TABLE tp_failed (id, handler, state, shard, biz_key, params, reason, settled_at);
CREATE TABLE tp_group (name, state, rule, parent, ended_at);
CREATE TABLE tp_group_task (group_name, waits, task_id);
CREATE TABLE tp_gate (name, let_through);
CREATE TABLE tp_gate_task (task_id);
CREATE TABLE soak_ledger (kind, task_id, biz);
CREATE TABLE soak_order (task_id, biz);
CREATE TABLE soak_early (task_id, biz);
"""
TASKS = (  # each done one has its line in the ledger
    ("a1", "pay", "done", "ok", None, 1000), ("a2", "pay", "failed", "doomed", "doomed", 2000),
    ("a3", "pay", "done", "ok", None, 1500), ("a4", "pay", "skipped", "doomed", "held up", 6500), ("b1", "end", "done", "ok", None, 9000), ("b2", "end", "done", "ok", None, 7500),
    ("b3", "pay", "skipped", "overdue", "its deadline, 2030-01-01 00:00:00 UTC, had passed", 8100),
    ("c1", "pay", "skipped", "ok", "cancelled by soak: no need", 1000), ("c2", "pay", "done", "asks", None, 1000),
    ("c3", "note", "skipped", "asks", "lease lapsed, whether it was done is not known; cancelled by soak: no need", 1000),
    ("d1", "prompt", "skipped", "ok", "its deadline, 400 ms after it was due, had passed", 1000),
    ("d2", "pay", "skipped", "skip", "skip", 1000), ("d3", "once", "skipped", "ok", "done before", 1000),
    ("d4", "pay", "done", "hasty", None, 1000))
GROUPS = (("out", "over", "ended", None, 8000), ("in", "over", "done", "out", 7000))
MEMBERS = (("in", 0, "a1"), ("in", 0, "a4"), ("out", 0, "a2"), ("out", 0, "a3"), ("out", 0, "b2"), ("out", 2, "b1"), ("out", 2, "b3"), ("in", 2, "b2"))
LEDGER = (("pay", "a1", ""), ("pay", "a3", ""), ("pay", "c2", ""), ("pay", "d4", ""), ("end", "b1", "out"), ("end", "b2", "in"))
RECORDS = ["closed out", "closed in", "cancel c1", "cancel-skipped c1", "cancel c2", "cancel-asked c2", "cancel c3", "cancel-asked c3",
           "cancel c2", "cancel-done c2"] + [f"ok {task[0]}" for task in TASKS]


def id_of(short):
    return f"00000000-0000-7000-8000-0000000000{short}"


def spelled(record):
    word, name = record.split()
    return f"{word} {name if name in ('out', 'in') else id_of(name)}\n"


class EndsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        path = os.path.join(self.folder, "pool.db")
        self.sql = sqlite3.connect(path, isolation_level=None)
        self.sql.executescript("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY;" + POOLS)
        for short, handler, state, params, reason, at in TASKS:
            self.sql.execute(f"INSERT INTO tp_{'failed' if state == 'failed' else 'finished'} VALUES (?, ?, ?, 0, '', ?, ?, ?)",
                             (id_of(short), handler, state, params, reason, at))
        self.sql.executemany("INSERT INTO tp_group VALUES (?, ?, ?, ?, ?)", GROUPS)
        self.sql.executemany("INSERT INTO tp_group_task VALUES (?, ?, ?)", [(group, waits, id_of(short)) for group, waits, short in MEMBERS])
        self.sql.executemany("INSERT INTO soak_ledger VALUES (?, ?, ?)", [(kind, id_of(short), biz) for kind, short, biz in LEDGER])
        self.records = list(RECORDS)
        self.world = types.SimpleNamespace(client=client.Sqlite(path), folder=self.folder, build=self.folder, direct="",
                                           command=lambda *_, **__: types.SimpleNamespace(returncode=0))

    def tearDown(self):
        self.sql.close()
        shutil.rmtree(self.folder)

    def found(self):
        os.makedirs(os.path.join(self.folder, "records"))
        with open(os.path.join(self.folder, "records", "p"), "w", encoding="ascii") as file:
            file.writelines(map(spelled, self.records))
        return [(finding.kind, finding.text.replace(id_of(""), "")) for finding in judge.judge(self.world).findings]

    def breaks(self, sql, kind, words, *more):
        """After the statement the judge finds that, and more where one thing breaks several."""
        self.assertEqual(self.sql.execute(sql.replace("'#", "'" + id_of(""))).rowcount, 1, sql)
        found = self.found()
        self.assertTrue(any(of == kind and words in text for of, text in found), found)
        self.assertEqual(sorted(of for of, _ in found), sorted((kind,) + more), found)

    def test_nothing_is_found_where_all_is_well(self):
        self.assertEqual(self.found(), [])

    # ---- Groups -----------------------------------------------------------------------------------------------------

    def test_a_group_that_ended_before_its_task_is_found(self):
        self.breaks("UPDATE tp_finished SET settled_at = 9500 WHERE id = '#a3'", "torn", "before its task a3")

    def test_a_task_that_its_group_lost_is_found(self):
        self.records.append("in-out a3")
        self.breaks("DELETE FROM tp_group_task WHERE task_id = '#a3'", "lost", "knows nothing of it")

    def test_a_task_that_another_of_its_key_kept_out_is_in_no_group(self):
        self.records += ["maybe e1", "in-out e1"]
        self.assertEqual(self.found(), [])

    def test_a_group_that_ended_while_its_task_is_open_is_found(self):
        self.sql.execute("INSERT INTO tp_pending VALUES (?, 'pay', 'pending', 0, '', 'ok')", (id_of("e1"),))
        self.breaks("INSERT INTO tp_group_task VALUES ('out', 0, '#e1')", "torn", "its task e1 has not", "stuck")

    def test_what_its_handler_saw_open_is_found(self):
        self.breaks("INSERT INTO soak_early VALUES ('#b1', 'out')", "torn", "had not ended when")

    def test_a_group_that_ended_before_one_within_it_is_found(self):
        self.breaks("UPDATE tp_group SET ended_at = 9500 WHERE name = 'in'", "torn", "which is within it")

    def test_a_group_that_ended_though_a_failed_task_holds_it_up_is_found(self):
        self.breaks("UPDATE tp_group SET rule = 'done' WHERE name = 'out'", "torn", "its task a2 has failed")

    def test_a_skip_of_what_held_up_nothing_is_found(self):
        self.breaks("UPDATE tp_group SET rule = 'ended' WHERE name = 'in'", "other", "a4 (pay, doomed)")

    def test_a_group_that_never_ended_is_found(self):
        self.breaks("UPDATE tp_group SET state = 'closed' WHERE name = 'out'", "stuck", "out is closed")

    def test_a_group_that_is_not_there_is_found(self):
        self.records.append("closed other")
        self.assertEqual([kind for kind, _ in self.found()], ["lost"])

    def test_a_task_that_waits_for_an_end_that_was_is_found(self):
        self.breaks("UPDATE tp_group_task SET waits = 1 WHERE task_id = '#b3'", "stuck", "b3 waits for that")

    def test_an_end_without_its_task_is_found(self):
        self.breaks("DELETE FROM tp_group_task WHERE task_id = '#b1'", "lost", "has 0 tasks")

    def test_an_end_with_two_tasks_is_found(self):
        self.sql.execute("INSERT INTO tp_finished VALUES (?, 'end', 'skipped', 0, '', 'skip', 'skip', 9000)", (id_of("e2"),))
        self.breaks("INSERT INTO tp_group_task VALUES ('out', 2, '#e2')", "twice", "has 2 tasks")

    def test_an_end_that_had_its_effect_twice_is_found(self):
        self.breaks("INSERT INTO soak_ledger VALUES ('end', '#b1', 'out')", "twice", "2 times", "twice")

    def test_an_end_that_had_no_effect_is_found(self):
        self.breaks("DELETE FROM soak_ledger WHERE task_id = '#b2'", "torn", "0 times", "torn")

    # ---- Cancels and deadlines ----------------------------------------------------------------------------------------

    def test_what_was_skipped_and_done_is_found(self):
        self.breaks("INSERT INTO soak_ledger VALUES ('pay', '#c1', '')", "twice", "not 0")

    def test_what_was_said_to_be_skipped_and_is_done_is_found(self):
        self.sql.execute("INSERT INTO soak_ledger VALUES ('pay', ?, '')", (id_of("c1"),))
        self.breaks("UPDATE tp_finished SET state = 'done', reason = NULL WHERE id = '#c1'", "lost", "the answer was skipped")

    def test_what_was_said_to_be_done_and_is_skipped_is_found(self):
        self.sql.execute("DELETE FROM soak_ledger WHERE task_id = ?", (id_of("c2"),))
        self.breaks("UPDATE tp_finished SET state = 'skipped', reason = 'cancelled by soak: no need' WHERE id = '#c2'",
                    "lost", "the answer was done")

    def test_what_is_unknown_though_it_was_confirmed_is_found(self):
        self.records.append("cancel-unknown c1")
        self.assertEqual([kind for kind, _ in self.found()], ["lost"])

    def test_a_skip_without_who_and_why_is_found(self):
        self.breaks("UPDATE tp_finished SET reason = 'no need' WHERE id = '#c1'", "other", "c1 (pay, ok) is skipped")

    def test_a_cancel_that_nobody_asked_for_is_found(self):
        self.breaks("UPDATE tp_finished SET reason = 'cancelled by soak: no need' WHERE id = '#d2'", "other", "d2 (pay, skip)")

    def test_a_deadline_that_nobody_set_is_found(self):
        self.breaks("UPDATE tp_finished SET reason = 'its deadline, now, had passed' WHERE id = '#c1'", "other", "c1 (pay, ok)")

    def test_what_was_done_after_its_deadline_is_found(self):
        self.sql.execute("INSERT INTO soak_ledger VALUES ('pay', ?, '')", (id_of("b3"),))
        self.breaks("UPDATE tp_finished SET state = 'done', reason = NULL WHERE id = '#b3'", "torn", "before it could begin")

    def test_what_is_cancelled_and_still_open_is_found(self):
        self.sql.execute("DELETE FROM tp_finished WHERE id = ?", (id_of("c3"),))
        self.breaks("INSERT INTO tp_pending VALUES ('#c3', 'note', 'failed', 0, '', 'asks')", "stuck", "c3 (note, failed)")

    def test_what_was_never_tried_is_named_where_tasks_were_enough(self):
        figures = dict.fromkeys(ends.FIGURES, 1) | {"confirmed": ends.TRIED_AFTER}
        self.assertEqual(ends.never_tried(figures), [])
        self.assertEqual(ends.never_tried(figures | {"asked": 0}), ["asked"])
        self.assertEqual(ends.never_tried(figures | {"asked": 0, "confirmed": ends.TRIED_AFTER - 1}), [])


if __name__ == "__main__":
    unittest.main()
