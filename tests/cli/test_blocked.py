#!/usr/bin/env -S python3 -B
"""test_blocked.py PATH_TO_TASKPOOL: workers whose standard output or error is a full pipe that nobody reads, on the
database of TASKPOOL_DSN. What they do meanwhile is seen over the database and in files that handler programs write.
The tests run at the same time, because an output counts as unread after some seconds only."""
import fcntl
import os
import signal
import subprocess
import threading
import time

from pool import LIMIT_S, TASKPOOL, at_once, check, environment, lines, listed, main, program, run, until

processes = []  # all that were started


class Unread:
    """A pipe that is full from the beginning; read() empties it until the other end is closed."""

    def __init__(self):
        self.end, self.to = os.pipe()
        fcntl.fcntl(self.to, fcntl.F_SETPIPE_SZ, 4096)
        os.set_blocking(self.to, False)
        try:
            while True:
                os.write(self.to, b"." * 4095 + b"\n")
        except BlockingIOError:
            os.set_blocking(self.to, True)
        self.text = b""

    def read(self):
        with os.fdopen(self.end, "rb") as file:
            self.text = file.read().lstrip(b".\n")
        return self.text.decode()


def work(handler, path, *args, out=subprocess.PIPE, err=subprocess.PIPE, **changes):
    process = subprocess.Popen([TASKPOOL, "work", "--handler", f"{handler}={path}", "--poll", "50ms", *args],
                               stdin=subprocess.DEVNULL, stdout=out.to if isinstance(out, Unread) else out,
                               stderr=err.to if isinstance(err, Unread) else err, env=environment(changes))
    processes.append(process)
    for stream in out, err:
        if isinstance(stream, Unread):
            os.close(stream.to)
    return process


def put(handler, count=1):
    for _ in range(count):
        check("enqueue", run("enqueue", handler, "x")[0] == 0)


def settled(handler, pool):
    return listed("--pool", pool, "--handler", handler)


def stop(process):
    process.send_signal(signal.SIGTERM)
    try:
        return process.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return None


def test_a_payment_is_made_once():
    """By the worker that nobody reads; its lease is extended while the program runs."""
    paid = program("pay.sh", 'echo "$TASKPOOL_ID" >>paid\necho paid\nwhile [ ! -e go ]; do sleep 0.05; done\n')
    put("pay")
    unread = work("pay", paid, "--json", "--lease", "1m", out=Unread())
    check("it runs the program", until(lambda: lines("paid")))
    lease = listed("--handler", "pay")[0]["due_at"]
    check("the lease is extended", until(lambda: listed("--handler", "pay")[0]["due_at"] > lease))
    with open("go", "w", encoding="utf-8"):
        pass
    check("the payment is finished", until(lambda: settled("pay", "finished")))
    code = stop(unread)
    check("exit code when the output stays unread", code == 74, code)
    check("it was made once", len(lines("paid")) == 1, lines("paid"))
    check("its failures", settled("pay", "finished")[0]["failures"] == 0)
    check("standard error says so", "could not be written, because nobody read it" in unread.stderr.read().decode())


def test_a_timeout_ends_its_program():
    """Though it writes more than anybody takes. On a busy machine it may not have begun before the first."""
    endless = program("endless.sh", "echo y\n: >endless.begun\nyes\n")
    for tries, timeout in enumerate(("300ms", "3s", "30s"), 1):
        put("endless")
        process = work("endless", endless, "--timeout", timeout, "--retry", "none", "--quiet", out=Unread())
        check("the task fails", until(lambda: len(settled("endless", "failed")) == tries))
        check("by its timeout", all(task["reason"].startswith("timed out after ") for task in settled("endless", "failed")),
              settled("endless", "failed"))
        code = stop(process)
        if os.path.exists("endless.begun"):
            break
    check("exit code after a timeout", code == 74, code)


def test_a_stop_ends_its_programs():
    """With --stop-after, though standard output and error are both unread."""
    endless = program("stopped.sh", "echo y\nyes >&2 &\n: >stopped.begun\nyes\n")
    put("stopped")
    process = work("stopped", endless, "--stop-after", "300ms", out=Unread(), err=Unread())
    check("the task runs", until(lambda: os.path.exists("stopped.begun")))
    check("exit code of the stop", stop(process) == 74)
    check("the task is put back", listed("--handler", "stopped")[0]["state"] == "pending")
    check("without a failure", listed("--handler", "stopped")[0]["failures"] == 0)


def test_errors_that_nobody_reads():
    """Standard error alone, with all traces on it: nothing of the result is missing, so the exit code is not touched."""
    said = program("said.sh", 'echo "$TASKPOOL_ID" >>said\necho said >&2\n')
    put("said", 3)
    process = work("said", said, "--verbose", "--drain", err=Unread(), TP_TRACE="all")
    check("exit code with an unread standard error", process.wait(LIMIT_S) == 0)
    check("each ran once", len(set(lines("said"))) == 3 == len(lines("said")))
    check("the summary", process.stdout.read().decode().startswith("done 3,"))


def reader_comes_back(much, count):
    """Two runs of a program, the first without a reader. Its output, what is missing in it, and standard error."""
    settled_before = len(settled("much", "finished"))
    out = Unread()
    put("much")
    process = work("much", much, "--quiet", out=out)
    check("the program ends", until(lambda: len(settled("much", "finished")) == settled_before + 1))
    reader = threading.Thread(target=out.read)
    reader.start()
    err = process.stderr.readline().decode()
    put("much")
    check("the second program ends", until(lambda: len(settled("much", "finished")) == settled_before + 2))
    check("exit code when all was written or told", stop(process) == 0)
    reader.join()
    got = out.text.decode().splitlines()
    return got, 2 * count - len(got), err + process.stderr.read().decode()


def test_a_reader_that_comes_back():
    """Gets whole lines, and standard error says how many are missing. A reader that a busy machine holds up for seconds counts as
    none once more, but not each time."""
    count = 300000
    much = program("much.sh", f"seq -f 'line %.0f' {count}\n")
    for tries in range(5):
        got, missing, err = reader_comes_back(much, count)
        if err.count("\n") == 1:
            break
    check("lines are missing", missing > 0)
    check("as many as it says", err == f"taskpool: {missing} lines for standard output could not be written, because "
          "nobody read it\n", f"{missing}, try {tries}: {err}")
    check("no line is cut", all(line.startswith("line ") and line[5:].isdigit() for line in got))
    check("the second program's are there", got[-count:] == [f"line {i}" for i in range(1, count + 1)])


def test_a_slow_reader_gets_all():
    """Programs wait for one that reads. A reader that a busy machine holds up for seconds counts as none, but not each time."""
    count = 300000
    slow = program("slow.sh", f"seq {count}\n")
    for tries in range(5):
        put("slow")
        process = work("slow", slow, "--quiet", "--drain")
        text = b""
        while True:
            piece = os.read(process.stdout.fileno(), 65536)
            if not piece:
                break
            text += piece
            time.sleep(0.01)
        code, err = process.wait(LIMIT_S), process.stderr.read()
        if b"nobody read it" not in err:
            break
    check("exit code with a slow reader", code == 0, f"{code}, try {tries}")
    check("every line", text.split() == [b"%d" % i for i in range(1, count + 1)], len(text.split()))
    check("standard error is empty", err == b"", err)


def test():
    at_once(*(value for name, value in sorted(globals().items()) if name.startswith("test_")))
    for process in processes:
        process.kill()
        process.wait()


if __name__ == "__main__":
    main(test)
