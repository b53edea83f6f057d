#!/usr/bin/env -S python3 -B
"""ctest_lines.py BUILD FILE: reads what ctest prints. Passes on the output of tests that failed, and says at the end how many were
skipped; adds a line for each test to FILE (seconds, build, name, verdict), and what a failed one said to FILE.failed, from its
first failure on, or which of its tests it hung in; on a terminal (TP_TERMINAL names it) one line shows how far it is. Exit code 1 when a test failed or none ran."""
import os
import re
import sys

TEST = re.compile(r"\s*(\d+)/(\d+) Test\s+#\d+: (\S+) \.*\s*(Passed|\*\*\*\w+|Not Run|\S.*?)\s+([\d.]+) sec")
SAID = re.compile(r"\[ +(ERROR|FAILED) |FAILED|Error: |ERROR|Traceback")
RUN = re.compile(r"\[ +RUN ")
WELL = re.compile(r"\[ +(RUN|OK) ")
SAID_LINES = 30
NOISE = re.compile(r"\s*Start\s+\d+: |\s*$|Label Time Summary|\S+ += +[\d.]+ sec\*proc|Internal ctest changing|Test project ")


def verdict_of(word):
    return {"Passed": "passed", "***Skipped": "skipped"}.get(word, "failed")


def from_first_failure(lines):
    if lines and RUN.match(lines[-1]):
        return f"  {lines[-1]}"
    lines = [line for line in lines if not WELL.match(line)]
    first = next((i for i, line in enumerate(lines) if SAID.search(line)), len(lines) - SAID_LINES)
    return "".join(f"  {line}" for line in lines[max(first, 0):][:SAID_LINES])


def terminal_of(path):
    try:
        return open(path, "w", encoding="utf-8") if path else None
    except OSError:
        return None


def main(build, path):
    for stream in sys.stdin, sys.stdout:
        stream.reconfigure(errors="replace")  # tests print hostile text
    terminal = terminal_of(os.environ.get("TP_TERMINAL"))

    def progress(text):
        if terminal:
            print(f"\r\033[K{text}", end="", file=terminal, flush=True)

    counts = {"passed": 0, "skipped": 0, "failed": 0}
    in_summary = False
    failed, said = "", []  # the latest of those, and its lines

    def tell_failed(failures):
        if failed:
            failures.write(f"{failed} ({build}):\n{from_first_failure(said)}")
            failures.flush()

    with open(path, "a", encoding="utf-8", buffering=1) as times, open(f"{path}.failed", "a", encoding="utf-8") as failures:
        for line in sys.stdin:
            match = TEST.match(line)
            if match:
                number, total, name, word, seconds = match.groups()
                verdict = verdict_of(word)
                counts[verdict] += 1
                times.write(f"{seconds}\t{build}\t{name}\t{verdict}\n")
                progress(f"{number}/{total} {name}" if verdict != "failed" else "")
                tell_failed(failures)
                failed, said = name if verdict == "failed" else "", []
                if failed:
                    print(f"FAILED {name} ({build}), {seconds} s", flush=True)
                continue
            in_summary = in_summary or line.startswith(("The following tests", "Total Test time"))
            if not NOISE.match(line) and not in_summary:
                progress("")
                print(line, end="", flush=True)
                said.append(line)
        tell_failed(failures)
    progress("")
    if counts["skipped"]:
        print(f"SKIPPED: {counts['skipped']} tests ({build}); tests/support/on_database.sh says what they want")
    print(f"{build}: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] or not counts["passed"] else 0


sys.exit(main(*sys.argv[1:]))
