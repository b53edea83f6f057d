#!/usr/bin/env -S python3 -B
"""test_alarms.py PATH_TO_TASKPOOL: the files of examples/alarms. Alert rules and dashboard name only what `taskpool
metrics` prints for a pool of the database of TASKPOOL_DSN, and sections that docs/operating.md has; promtool, where it is
there, loads them. The mail program is run by a worker, with a mailer of ours."""
import json
import os
import re
import shutil
import subprocess

from pool import check, environment, lines, main, program, read, run

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..")
ALARMS = os.path.join(ROOT, "examples", "alarms")
RULES, UNITS = os.path.join(ALARMS, "taskpool.rules.yml"), os.path.join(ALARMS, "taskpool.rules.test.yml")
# What Grafana knows of a dashboard, a panel and a target, as far as ours has it.
DASHBOARD = {"__inputs", "__requires", "annotations", "description", "editable", "id", "links", "panels", "refresh",
             "schemaVersion", "tags", "templating", "time", "timezone", "title", "uid", "version"}
PANEL = {"datasource", "description", "fieldConfig", "gridPos", "id", "options", "targets", "title", "type"}
TARGET = {"datasource", "expr", "legendFormat", "refId"}
VARIABLE = {"allValue", "current", "datasource", "includeAll", "label", "multi", "name", "query", "refresh", "sort", "type"}


def text_of(name):
    with open(os.path.join(ALARMS, name), encoding="utf-8") as file:
        return file.read()


def printed():
    """The labels of each metric that is printed."""
    check("enqueue", run("enqueue", "pay", "{}")[0] == 0)
    code, out, err = run("metrics")
    check("metrics", code == 0, err)
    metrics = {}
    for line in out.splitlines():
        sample = re.match(r"(\w+)(\{.*\})? ", line)
        if sample:
            metrics.setdefault(sample[1], set()).update(re.findall(r'(\w+)="', sample[2] or ""))
    return metrics


def names_exist(where, text, metrics):
    names = set(re.findall(r"\btaskpool_\w+", text))
    check(f"{where}: metrics that exist", names and names <= set(metrics), names - set(metrics))
    for name, labels in re.findall(r"\b(taskpool_\w+)\{([^}]*)\}", text):
        unknown = set(re.findall(r"(\w+)=", labels)) - metrics.get(name, set()) - {"instance"}
        check(f"{where}: labels of {name}", not unknown, unknown)


def anchors():
    with open(os.path.join(ROOT, "docs", "operating.md"), encoding="utf-8") as file:
        titles = re.findall(r"^#+ (.*)$", file.read(), re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_rules(metrics):
    rules = text_of("taskpool.rules.yml")
    for name in "taskpool.rules.yml", "taskpool.rules.test.yml":
        names_exist(name, text_of(name), metrics)
    check("each rule names its section", len(re.findall("- alert:", rules)) == len(re.findall("runbook: \"", rules)))
    named = set(re.findall(r"operating\.md#([\w-]+)", rules))
    check("sections that exist", named and named <= anchors(), named - anchors())


def expressions(dashboard):
    return [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]


def test_dashboard(metrics):
    dashboard = json.loads(text_of("grafana.json"))
    panels = dashboard["panels"]
    check("fields of the dashboard", set(dashboard) == DASHBOARD, set(dashboard) ^ DASHBOARD)
    for panel in panels:
        check("fields of a panel", set(panel) == PANEL, set(panel) ^ PANEL)
        check("its type", panel["type"] in ("stat", "timeseries"), panel["type"])
        check("its place", panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24, panel["gridPos"])
        check("fields of its targets", all(set(target) == TARGET for target in panel["targets"]), panel["targets"])
    check("each panel has an id of its own", len({panel["id"] for panel in panels}) == len(panels))
    for variable in dashboard["templating"]["list"]:
        check("fields of a variable", set(variable) == VARIABLE, set(variable) ^ VARIABLE)
        names_exist("a variable", variable["query"], metrics)
        name, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]).groups()
        check("its label", label == "instance" or label in metrics[name], label)
    known = {"$" + variable["name"] for variable in dashboard["templating"]["list"]}
    for expression in expressions(dashboard):
        names_exist("dashboard", expression, metrics)
        check("variables that exist", set(re.findall(r"\$\w+", expression)) <= known, expression)


def promtool(*args, text=None):
    done = subprocess.run(["promtool", *args], input=text, capture_output=True, text=True, check=False)
    check(f"promtool {args[0]} {args[1]}", done.returncode == 0, done.stdout + done.stderr)


def test_promtool():
    if not shutil.which("promtool"):
        print("SKIPPED: promtool is not there: whether Prometheus loads the rules")
        return
    with open("expressions.yml", "w", encoding="utf-8") as file:
        file.write("groups:\n- name: dashboard\n  rules:\n")
        for i, expression in enumerate(expressions(json.loads(text_of("grafana.json")))):
            file.write(f"  - record: expression_{i}\n    expr: {json.dumps(expression)}\n")
    promtool("check", "rules", RULES, "expressions.yml")
    promtool("test", "rules", UNITS)
    check("into a file", run("metrics", "--output", "pool.prom")[0] == 0)
    promtool("check", "metrics", text=read("pool.prom") + "\n")


def test_mail_of_group():
    """Tasks of two handlers fail: one mail with their numbers and reasons; and again when the mailer refused it."""
    program("sendmail", '[ "$*" = "-i -t" ] || exit 1\n[ -e refuse ] && exit 75\ncat >>"$HOME/groups"\n')
    bad = program("bad.sh", 'printf "no\\001 money $TASKPOOL_ID\\n" >&2\nexit 1\n')
    home = {"HOME": os.getcwd(), "PATH": os.getcwd() + ":" + os.environ["PATH"]}
    put = b"handler,params\n" + b"one,secret\n" * 40 + b"two,secret\n" * 2
    check("tasks", run("enqueue", "--file", "-", text=put)[0] == 0)
    code = run("work", "--handler", f"one={bad}", "--handler", f"two={bad}", "--retry", "none", "--drain", "--alert",
               os.path.join(ALARMS, "mail_group.sh"), "--alert-group", "10m", **home)[0]
    check("they fail", code == 8, code)
    mail = lines("groups")
    check("one mail", sum(line.startswith("To: ") for line in mail) == 1, mail)
    check("its subject", "Subject: taskpool: 42 tasks failed" in mail, mail)
    check("the largest group first", mail[7:9] == ["40 one: no  money #", "2 two: no  money #"], mail)
    check("no parameters", "secret" not in read("groups"), mail)
    group = {"TASKPOOL_ALERT_COUNT": "1\nBcc: all", "TASKPOOL_ALERT_SUMMARY": "1 x: y\n.\nz", "TASKPOOL_ID": "1", **home}
    alert = [os.path.join(ALARMS, "mail_group.sh")]
    program("refuse", "")
    refused = subprocess.run(alert, env=environment(group), check=False).returncode
    check("a mailer that fails is told", refused != 0, refused)
    os.remove("refuse")
    check("the next try mails", subprocess.run(alert, env=environment(group), check=False).returncode == 0)
    check("a count adds no lines", not any(line.startswith("Bcc") for line in lines("groups")), lines("groups"))


def test():
    metrics = printed()
    test_rules(metrics)
    test_dashboard(metrics)
    test_promtool()
    test_mail_of_group()


if __name__ == "__main__":
    main(test)
