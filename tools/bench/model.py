"""How many statements a task costs by connections and tasks, as plan hold works: predicted from how groups grow, beside what was counted
(the case model of tools/bench.sh compare). tools/checks/figures.py holds it to BAR. Pure."""
import statistics

BAR = 0.20     # a prediction is good within it
ENOUGH = 1000  # tasks a connection: with fewer of them some connections come too late to take any
GROUP = 100
RUNS = ((1, 5_000), (1, 20_000), (1, 70_000), (4, 20_000), (4, 70_000), (16, 20_000), (16, 70_000), (64, 20_000), (64, 70_000))  # connections, tasks
START = 20     # statements of a worker that starts: its session's settings, its row, its first polls
STATEMENTS = {"postgres": (3, 2), "mariadb": (5, 3), "mysql": (5, 3), "sqlite": (5, 2)}  # of a group; once a connection


def statements(database, connections, tasks):
    """A task. Groups begin with one task and double; the rest of the tasks come in whole ones."""
    of_group, once = STATEMENTS[database]
    small = GROUP.bit_length()
    left = max(0, tasks - connections * (2 ** small - 1))
    return (of_group * (connections * small + left / GROUP) + once * connections + START) / tasks


def predictions(stored):
    """(connections, tasks, predicted, counted, whether it is held to BAR) of each run that was made."""
    for connections, tasks in RUNS:
        counted = [one["statements_per_task"] for one in stored["figures"]
                   if one["case"] == "model" and (one["connections"], one["tasks"]) == (connections, tasks)]
        if counted:
            yield connections, tasks, statements(stored["database"], connections, tasks), statistics.median(counted), tasks >= ENOUGH * connections


def off(predicted, counted):
    return predicted / counted - 1
