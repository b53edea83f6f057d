#!/usr/bin/env -S python3 -B
"""test_flat.py: what tools/bench/flat.py calls flat, on made-up counts: each thing that it is to see makes it say so."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "bench"))
import flat

CASES = [
    # name, entry, scene, operation, {size: (rows, buffers)}, look-up's buffers by size, shared, words that are wanted
    ("the same counts", "postgres", "plain", "claim", {1: (100, 1400), 10: (101, 1500)}, {}, False, ""),
    ("rows that grow", "postgres", "plain", "claim", {1: (100, 1400), 10: (400, 1400)}, {}, False, "400 rows beside 10"),
    ("growth between two small pools", "postgres", "plain", "claim", {1: (100, 9), 10: (400, 9), 100: (400, 9)}, {}, False, "beside 10, 100"),
    ("rows that another session keeps", "postgres", "plain", "claim", {1: (100, 1400), 10: (400, 1400)}, {}, True, ""),
    ("rows that nobody keeps", "postgres", "plain", "claim", {1: (100, 1400), 10: (1000, 1400)}, {}, True, "1000 rows"),
    ("buffers that grow", "postgres", "plain", "claim", {1: (100, 1400), 10: (100, 2800)}, {}, False, "2800 buffers"),
    ("trees that are higher", "postgres", "plain", "claim", {1: (100, 1400), 10: (100, 2400)}, {1: (10, 20), 10: (10, 30)}, False, ""),
    ("look-ups that get cheaper", "postgres", "plain", "look-up-id", {1: (0, 60), 10: (0, 50)}, {}, False, "a tree that is lower"),
    ("a page of something else", "postgres", "plain", "look-up-id", {1: (0, 21), 10: (0, 20)}, {}, False, ""),
    ("an index page that is cleared", "postgres", "mixed", "fail", {1: (20, 292), 10: (20, 389)}, {}, False, ""),
    ("ten calls that grow", "postgres", "mixed", "fail", {1: (20, 292), 10: (20, 500)}, {}, False, "500 buffers"),
    ("buffers of a whole server", "mariadb", "plain", "claim", {1: (100, 1400), 10: (100, 9999)}, {}, False, ""),
    ("many rows in each pool", "postgres", "plain", "claim", {1: (5000, 1400), 10: (5000, 1400)}, {}, False, "5000 rows for 100"),
    ("a lane that generic reads", "generic_postgres", "future", "claim", {1: (5000, 9), 10: (5000, 9)}, {}, False, ""),
    ("other lanes that generic reads", "generic_postgres", "mixed", "claim", {10: (5000, 9)}, {}, False, "5000 rows"),
]


def main():
    failed = 0
    for name, entry, scene, operation, sizes, look_up, shared, wanted in CASES:
        key = (entry, scene, "skip", operation)
        found = {key: sizes, (entry, scene, "-", flat.LOOK_UP + "id"): look_up}
        why = flat.excess(found, key, shared)
        good = wanted in why if wanted else not why
        failed += not good
        print(f"{'ok' if good else 'FAILED'}: {name}: {why or 'flat'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
