"""What pages show of a command: its lines and its output, compared with what came.

What differs from run to run is made alike: ids, times, durations, users, hosts with a process number, blanks. `...`
stands for anything."""
import re

ALIKE = [(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "ID"),
         (r"\b\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"),
         (r"[\w.-]+@[\w.-]*\w", "USER"),
         (r"\b[A-Za-z][\w.-]*:\d{2,}\b", "HOST"),
         (r"\b\d+(ms|s|m|h|d)( \d+(ms|s|m|h))?(?![\w/])", "AGE"),
         (r"\s+", " ")]
ID = ALIKE[0][0]


def alike(line):
    for what, name in ALIKE:
        line = re.sub(what, name, line)
    return line.strip()


def pattern(line):
    return r"\s*" + r"\s*.*\s*".join(re.escape(alike(part)) for part in line.split("...")) + r"\s*"


def absent(lines, output):
    """The lines that did not come."""
    came = [alike(line) for line in output.splitlines()]
    return [line for line in lines if line.strip() and not any(re.fullmatch(pattern(line), other) for other in came)]
