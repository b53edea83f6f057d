#!/usr/bin/env -S python3 -B
"""structs.py LIBRARY: the structs, statuses and functions of examples/python/taskpool.py are those of taskpool.h. A compiler says so:
each field's place and size, each struct's size, each status and verdict, the number of each function's arguments."""
import ctypes
import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
os.environ["TASKPOOL_LIBRARY"] = os.path.realpath(sys.argv[1])
sys.path.insert(0, os.path.join(ROOT, "examples", "python"))
import taskpool  # noqa: E402

STRUCTS = sorted((one for one in taskpool.Struct.__subclasses__()), key=lambda one: one.__name__)


def facts():
    """(what it is, a condition in C)"""
    for struct in STRUCTS:
        name = struct.__name__
        yield f"the size of {name}", f"sizeof({name}) == {ctypes.sizeof(struct)}"
        for field, _ in struct._fields_:
            place = getattr(struct, field)
            yield f"{name}.{field}", f"offsetof({name}, {field}) == {place.offset} && sizeof((({name} *)0)->{field}) == {place.size}"
    for status, number in taskpool.STATUSES.items():
        yield status, f"TP_{status.upper()} == {number}"
    for verdict in ("DONE", "FAILED", "SKIPPED", "LATER"):
        yield verdict, f"TP_RUN_{verdict} == {getattr(taskpool, 'RUN_' + verdict)}"
    for rule in ("ALL_DONE", "ALL_ENDED"):
        yield rule, f"TP_GROUP_{rule} == {getattr(taskpool, 'GROUP_' + rule)}"
    for number, answer in enumerate(taskpool.CANCEL_ANSWERS):
        yield answer, f"TP_CANCEL_{answer.upper()} == {number}"
    for name, bit in taskpool.EDITS.items():
        yield name, f"TP_EDIT_{name.upper()} == {bit}"
    yield "how many statuses there are", f"0 TP_STATUS_LIST(ONE) == {len(taskpool.STATUSES)}"
    yield "the length of an id", f"TP_ID_SIZE == {ctypes.sizeof(taskpool.ID)}"


def calls():
    """Each function with as many arguments, of the same sizes, and a result of the same size."""
    for name, arguments in taskpool.SIGNATURES.items():
        sizes = [ctypes.sizeof(argument) for argument in arguments]
        result = taskpool.RESULTS.get(name, ctypes.c_int)
        values = ", ".join("0" if size <= 8 else "?" for size in sizes)
        yield f"_Static_assert(sizeof(({name}({values}), 0)), \"\");"
        if result:
            yield f"_Static_assert(sizeof({name}({values})) == {ctypes.sizeof(result)}, \"{name}: the result\");"


def compiled(assertions):
    """What the compiler has against it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "structs.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#include <stddef.h>\n#include <taskpool_odbc.h>\n#define ONE(...) +1\n" + "\n".join(assertions) + "\nint main(void) { return 0; }\n")
        done = subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-fsyntax-only", "-I", os.path.join(ROOT, "include"), path],
                              capture_output=True, text=True, check=False)
        return "" if done.returncode == 0 else done.stderr


asserted = [f'_Static_assert({condition}, "{what}");' for what, condition in facts()]
wrong = compiled(asserted + list(calls()))
print(wrong or f"{len(STRUCTS)} structs, {len(asserted)} facts, {len(taskpool.SIGNATURES)} functions")
# The compiler would see a fact that is wrong.
blind = [one for one in asserted[:3] if not compiled([one.replace("== ", "== 1 + ", 1)])]
for one in blind:
    print("not seen:", one)
known = taskpool.lib.tp_version().decode()
sys.exit(bool(wrong or blind or not known))
