"""Of groups, cancels and deadlines what must be true when all is over; a part of judge.py. What the handler `end` wrote
(tools/soak/program/handlers.c) says whether a group's end came too early, whatever the clocks say."""
import collections

# Why a task was skipped, by its reason, which may hold anything.
WHY = ("CASE WHEN reason LIKE '%cancelled by soak: no need%' THEN 'cancelled' WHEN reason LIKE '%its deadline%had passed%' THEN 'deadline' "
       "WHEN reason = 'skip' THEN 'skip' WHEN reason = 'held up' THEN 'held' WHEN reason = 'done before' THEN 'once' ELSE '' END")
GROUPS = "SELECT name, state, rule, parent, ended_at FROM tp_group"
MEMBERS = "SELECT group_name, waits, task_id FROM tp_group_task"
EARLY = "SELECT task_id, biz FROM soak_early"
ENDS = "SELECT biz, COUNT(*) FROM soak_ledger WHERE kind = 'end' GROUP BY biz"

ANSWERS = {"skipped": ("skipped",), "asked": ("done", "skipped", "failed"), "done": ("done",), "failed": ("failed",), "unknown": ()}
FAIL = ("doomed", "giveup")  # for good
FIGURES = ("groups", "held", "cancelled", "asked", "overdue")
TRIED_AFTER = 2000  # so many tasks have some of each
CLOCK_S = 1  # two readings of the database's clock, one after the other, may be so far apart the wrong way about

Group = collections.namedtuple("Group", "state rule parent at")


def never_tried(figures):
    """What was not judged either, though there were tasks enough."""
    return [name for name in FIGURES if not figures[name]] if figures["confirmed"] >= TRIED_AFTER else []


def had_deadline(task):
    return task.handler == "prompt" or task.params.startswith("hasty") or task.params == "overdue"


def reason_of(client, task_id):
    return "; ".join(" ".join(row) for row in client.run(f"SELECT reason FROM tp_finished WHERE id = '{task_id}'"))


def judge_skips(client, tasks, records, held, verdict):
    """Each says why, and that is true. held: tasks that hold up the end of a group when they fail for good."""
    asked = set(records["cancel"])
    may = {"cancelled": lambda task_id, task: task_id in asked,
           "deadline": lambda _, task: had_deadline(task),
           "skip": lambda _, task: task.params == "skip",
           "held": lambda task_id, task: task_id in held and task.params in FAIL,
           "once": lambda _, task: task.handler == "once"}
    for task_id, task in tasks.items():
        if task.state == "skipped" and not (task.why in may and may[task.why](task_id, task)):
            verdict.find("other", f"task {task_id} ({task.handler}, {task.params}) is skipped, and the reason cannot be: "
                         f"{reason_of(client, task_id)}", task.at)
        if task.params == "overdue" and task.pool != "pending" and (task.state, task.why) != ("skipped", "deadline"):
            verdict.find("torn", f"task {task_id} is {task.state}, though its deadline had passed before it could begin", task.at)


def judge_cancels(tasks, records, verdict):
    """What the producer was told is so, and how it ended is what may come of that."""
    for word, states in ANSWERS.items():
        for task_id in records["cancel-" + word]:
            task = tasks.get(task_id)
            if task and task.pool != "pending" and task.state not in states and (word, task.why) != ("failed", "held"):
                verdict.find("lost", f"task {task_id} was cancelled, the answer was {word}, and it is {task.state}", task.at)


def judge_group(name, group, members, waiting, tasks, ends, verdict):
    """members, waiting: tasks of it, and those that wait for its end, with 1 or, since it ended, 2."""
    for task_id in members:
        task = tasks.get(task_id)
        if group.state == "over" and task and task.pool == "pending":
            verdict.find("torn", f"group {name} has ended, and its task {task_id} has not", group.at)
        elif group.state == "over" and task and group.rule == "done" and task.state == "failed":
            verdict.find("torn", f"group {name} has ended, and its task {task_id} has failed", group.at)
        elif group.state == "over" and task and task.at > group.at + CLOCK_S:
            verdict.find("torn", f"group {name} ended {task.at - group.at:.3f} s before its task {task_id}", group.at)
    for task_id, waits in waiting.items():
        if group.state == "over" and waits != "2":
            verdict.find("stuck", f"group {name} has ended, and task {task_id} waits for that", group.at)
    after = [task_id for task_id in waiting if task_id in tasks and tasks[task_id].handler == "end"]
    if len(after) != 1:
        verdict.find("lost" if not after else "twice", f"group {name} has {len(after)} tasks of the handler end, not 1", group.at)
    if group.state == "over" and ends != 1:
        verdict.find("torn" if ends < 1 else "twice", f"the end of group {name} had its effect {ends} times", group.at)


def judge_groups(client, tasks, records, verdict):
    groups = {name: Group(state, rule, parent, int(at or 0) / 1000) for name, state, rule, parent, at in client.stream(GROUPS)}
    members, waiting = collections.defaultdict(list), collections.defaultdict(dict)
    for name, waits, task_id in client.stream(MEMBERS):
        if waits == "0":
            members[name].append(task_id.lower())
        else:
            waiting[name][task_id.lower()] = waits
    ends = {biz: int(count) for biz, count in client.stream(ENDS)}
    for name, group in groups.items():
        if group.state != "over":
            verdict.find("stuck", f"group {name} is {group.state}")
        parent = groups.get(group.parent)
        if parent and parent.state == "over" and (group.state != "over" or group.at > parent.at + CLOCK_S):
            verdict.find("torn", f"group {group.parent} ended before group {name}, which is within it", parent.at)
        judge_group(name, group, members[name], waiting[name], tasks, ends.get(name, 0), verdict)
    for word, ids in records.items():
        for task_id in (set(ids) & tasks.keys()) - set(members.get(word[3:], ())) if word.startswith("in-") else ():
            verdict.find("lost", f"task {task_id} was put into group {word[3:]}, which knows nothing of it")
    for name in set(records["closed"] + records["missed"]) - groups.keys():
        verdict.find("lost", f"group {name} was opened and is not there")
    for name in set(records["missed"]) & groups.keys():
        verdict.find("other", f"the producer heard that there is no group {name}, and there is")
    for name in (members.keys() | waiting.keys() | ends.keys()) - groups.keys():
        verdict.find("other", f"there are tasks of group {name}, which is not there")
    for task_id, name in client.stream(EARLY):
        verdict.find("torn", f"group {name} had not ended when task {task_id}, which waited for that, ran")
    verdict.figures["groups"] = len(groups)
    return {task_id for name, ids in members.items() if name in groups and groups[name].rule == "done" for task_id in ids}


def judge(client, tasks, records, verdict):
    held = judge_groups(client, tasks, records, verdict)
    judge_skips(client, tasks, records, held, verdict)
    judge_cancels(tasks, records, verdict)
    verdict.figures["held"] = sum(1 for task in tasks.values() if task.why == "held")
    verdict.figures["cancelled"] = sum(1 for task in tasks.values() if task.why == "cancelled")
    verdict.figures["asked"] = len(records["cancel-asked"])
    verdict.figures["overdue"] = sum(1 for task in tasks.values() if task.why == "deadline")
