"""What flat means: that an operation costs no more in a pool ten times as large. One meaning for all who ask: tools/bench.sh growth, the
proof's part flat, and the tests flat.*, which run this file: flat.py MEASURE growth WORD... Knows nothing of pages and plots."""
import subprocess
import sys

# Each pool is compared with the next smaller one, by the database's own counts. Rows: at most BAR times as many, and SLACK. Buffers:
# the same beyond the height of the trees, and a page for each row more. A way down a tree takes a page of each level; how many levels
# there are is what the database counts for look-ups where there is nothing, in the same pools.
BAR = 1.2  # a node of a tree is between half full and full, so a hundred neighbours lie on a page more or less
TASKS, SINGLE = 100, 10  # of a claim; calls of an operation that takes one task each (measure/growth.c)
SINGLES = ("extend", "settled", "complete", "fail", "give-up", "release")
# Of an operation on a hundred tasks: the row that each had before, which is dead and is still met; and where it splits a page, that
# page, the new one, and the one above.
MANY_SLACK = (TASKS, 3 * TASKS)
# Of ten calls: each may read a small table, or all rows of its claim, from end to end, in its table and two indexes. One of them may
# find an index's page full: PostgreSQL first clears it of the dead rows of the claim, and looks at the page of the table of each.
SINGLE_SLACK = (3 * TASKS * SINGLE, 3 * SINGLE + TASKS)
# Where others use the database, too, a session of theirs may keep what died from being cleared away: the claims before the one that
# counts, and what settled them, seven times.
SHARED_SLACK = 7 * TASKS
# A claim that reads so many rows a task reads what it does not take.
ROWS_A_TASK = 20
WHOLE_SERVER = ("mariadb", "mysql", "oramode")  # whose buffers have what the server does of its own: shown, not judged
LOOK_UP = "look-up-"  # operations that show how high trees are


def read(lines):
    """{(entry, scene, plan, operation): {size: (rows, buffers)}}, in the order in which they came."""
    found = {}
    for line in lines:
        part = line.split("\t")
        if len(part) == 7:
            entry, scene, size, plan, operation, rows, buffers = part
            found.setdefault((entry, scene, plan, operation), {})[int(size)] = (int(rows), int(buffers))
    return found


def steps(sizes):
    """Each pool with the next smaller one."""
    order = sorted(sizes)
    return list(zip(order, order[1:]))


def taller(found, entry, scene, before, after):
    """How many times as high the tree is that grew most."""
    times = [sizes[after][1] / max(sizes[before][1], 1) for (of, where, _, operation), sizes in found.items()
             if of == entry and where == scene and operation.startswith(LOOK_UP) and before in sizes and after in sizes]
    return max([1.0, *times])


def lower(entry, sizes):
    """Trees do not get lower: what says so has counted something else, as work of other tests at the same time."""
    return "; ".join(f"{sizes[after][1]} buffers beside {after}, {sizes[before][1]} beside {before}: a tree that is lower"
                     for before, after in steps(sizes) if sizes[after][1] <= sizes[before][1] - SINGLE and not is_whole(entry))


def is_whole(entry):
    return entry.removeprefix("generic_") in WHOLE_SERVER


def reads_few(entry, scene):
    """On SQLite rows are steps; others' locks are stepped over; generic reads a whole lane, which is short in one scene."""
    return not entry.endswith("sqlite") and scene != "locked" and (scene == "mixed" or not entry.startswith("generic_"))


def excess(found, key, shared):
    """Why the operation is not flat; "": it is."""
    entry, scene, _, operation = key
    sizes, whys = found[key], []
    slack = SINGLE_SLACK if operation in SINGLES else MANY_SLACK
    if operation.startswith(LOOK_UP):
        return "" if shared else lower(entry, sizes)
    for before, after in steps(sizes):
        (rows, buffers), (more_rows, more_buffers) = sizes[before], sizes[after]
        most = rows * BAR + slack[0] + (SHARED_SLACK if shared else 0)
        most_buffers = buffers * BAR * taller(found, entry, scene, before, after) + slack[1] + max(0, more_rows - rows)
        if more_rows > most:
            whys.append(f"{more_rows} rows beside {after}, {rows} beside {before}")
        if more_buffers > most_buffers and not is_whole(entry):
            whys.append(f"{more_buffers} buffers beside {after}, {buffers} beside {before}")
    if operation == "claim" and reads_few(entry, scene):
        whys += [f"{rows} rows for {TASKS} tasks beside {size}" for size, (rows, _) in sizes.items() if rows > ROWS_A_TASK * TASKS]
    return "; ".join(whys)


def main():
    program = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
    found = read(program.stdout)
    if program.wait() != 0:
        return program.returncode
    bad = 0
    for key in found:
        why = excess(found, key, True)
        bad += why != ""
        if why:
            print(f"NOT FLAT: {' '.join(key)}: {why}")
    print(f"not flat: {bad} of {len(found)}")
    return 1 if bad or not found else 0


if __name__ == "__main__":
    sys.exit(main())
