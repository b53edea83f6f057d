#!/usr/bin/env -S python3 -B
"""Makes a table of what tools/flat printed: rows and buffers of each operation by size, the ratio of the largest
size to the smallest, FLAT or NOT FLAT against a bar. Exit code 1 when something is not flat."""
import argparse
import sys


def read(lines):
    """{(entry, scene, plan, operation): {size: (rows, buffers)}}, in the order in which they came."""
    found = {}
    for line in lines:
        part = line.rstrip("\n").split("\t")
        if len(part) != 7:
            continue
        entry, scene, size, plan, operation, rows, buffers = part
        found.setdefault((entry, scene, plan, operation), {})[int(size)] = (int(rows), int(buffers))
    return found


def ratio(values, slack):
    """The largest ratio to the first; what is less than slack more than it is as much as it."""
    first = values[0]
    worst = max(values)
    return 1.0 if worst - first <= slack else worst / max(first, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bar", type=float, default=1.2)
    parser.add_argument("--slack", type=int, default=10, help="rows or buffers that are no difference")
    parser.add_argument("--only-bad", action="store_true", help="leave out what is flat")
    options = parser.parse_args()
    bad = 0
    print(f"{'entry':8} {'scene':9} {'plan':5} {'operation':14} {'rows':>7} {'buffers':>7}  rows/buffers by size")
    for (entry, scene, plan, operation), sizes in read(sys.stdin).items():
        rows = [sizes[size][0] for size in sorted(sizes)]
        buffers = [sizes[size][1] for size in sorted(sizes)]
        by_rows, by_buffers = ratio(rows, options.slack), ratio(buffers, options.slack)
        flat = by_rows <= options.bar and by_buffers <= options.bar
        bad += not flat
        if flat and options.only_bad:
            continue
        each = "  ".join(f"{size}: {sizes[size][0]}/{sizes[size][1]}" for size in sorted(sizes))
        print(f"{entry:8} {scene:9} {plan:5} {operation:14} {by_rows:7.2f} {by_buffers:7.2f}  {each}"
              f"  {'FLAT' if flat else 'NOT FLAT'}")
    print(f"not flat: {bad}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
