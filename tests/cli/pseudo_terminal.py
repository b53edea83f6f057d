"""A shell in a pseudo terminal of the kind vt100, and what stands on its screen."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import threading
import time

import pool

TOKEN = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\x1b[()#].|\x1b[^\[()#]|([\r\n\b\t])|([^\x1b\x00-\x1f\x7f])|[\x00-\x1f\x7f]")


class Screen:
    """The cells, as far as ncurses writes them for a vt100."""

    def __init__(self, height, width):
        self.y = self.x = 0
        self.top, self.bottom = 0, height - 1
        self.resize(height, width)
        self.rest = ""

    def resize(self, height, width):
        self.height, self.width = height, width
        self.cells = [[" "] * width for _ in range(height)]
        self.top, self.bottom = 0, height - 1

    def newline(self):
        if self.y == self.bottom:
            self.cells[self.top:self.bottom + 1] = self.cells[self.top + 1:self.bottom + 1] + [[" "] * self.width]
        else:
            self.y = min(self.y + 1, self.height - 1)

    def put(self, character):
        if self.x >= self.width:
            self.x = 0
            self.newline()
        self.y = min(self.y, self.height - 1)
        self.cells[self.y][self.x] = character
        self.x += 1

    def erase(self, line, begin, end):
        self.cells[line][begin:end] = [" "] * (end - begin)

    def command(self, text, letter):
        numbers = [int(number or 0) for number in text.split(";")] if re.fullmatch(r"[0-9;]*", text) else []
        first = numbers[0] if numbers else 0
        self.y = min(self.y, self.height - 1)
        if letter in "Hf" and numbers:
            self.y = min(max(first, 1), self.height) - 1
            self.x = min(max(numbers[1] if len(numbers) > 1 else 1, 1), self.width) - 1
        elif letter == "r" and numbers:
            self.top, self.bottom = max(first, 1) - 1, (numbers[1] if len(numbers) > 1 else self.height) - 1
            self.y = self.x = 0
        elif letter in "ABCD":
            dy, dx = {"A": (-1, 0), "B": (1, 0), "C": (0, 1), "D": (0, -1)}[letter]
            self.y = min(max(self.y + dy * max(first, 1), 0), self.height - 1)
            self.x = min(max(self.x + dx * max(first, 1), 0), self.width - 1)
        elif letter == "K":
            self.erase(self.y, 0 if first else self.x, self.x + 1 if first == 1 else self.width)
        elif letter == "J":
            self.erase(self.y, self.x if first == 0 else 0, self.width)
            for line in range(self.y + 1 if first == 0 else 0, self.height):
                self.erase(line, 0, self.width)

    def feed(self, text):
        text = self.rest + text
        end = 0
        for found in TOKEN.finditer(text):
            if found.start() != end:
                break  # the beginning of a command, whose end is still to come
            end = found.end()
            if found[2]:
                self.command(found[1], found[2])
            elif found[3] == "\r":
                self.x = 0
            elif found[3] == "\n":
                self.newline()
            elif found[3] == "\b":
                self.x = max(min(self.x, self.width - 1) - 1, 0)
            elif found[3] == "\t":
                self.x = min((self.x // 8 + 1) * 8, self.width - 1)
            elif found[4]:
                self.put(found[4])
            elif found[0] == "\x1bM":
                self.y = max(self.y - 1, 0)
        self.rest = text[end:]

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.cells)


class Terminal:
    def __init__(self, height=24, width=80, dsn=pool.DSN):
        self.screen = Screen(height, width)
        self.lock = threading.Lock()
        self.process, self.end = pty.fork()
        if self.process == 0:
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup, and what has no terminal, ignore
            os.environ.update({"TERM": "vt100", "TASKPOOL_DSN": dsn, "PS1": "ready> ", "LC_ALL": "C.UTF-8"})
            os.execvp("bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"])
        self.resize(height, width)
        self.closing = False
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        while not self.closing:
            try:
                if not select.select([self.end], [], [], 1)[0]:
                    continue
                data = os.read(self.end, 65536)
            except (OSError, ValueError):
                return
            if not data:
                return
            with self.lock:
                self.screen.feed(data.decode("ascii", errors="replace"))

    def resize(self, height, width):
        with self.lock:
            self.screen.resize(height, width)
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def forget(self):
        with self.lock:
            self.screen.resize(self.screen.height, self.screen.width)

    def text(self):
        with self.lock:
            return self.screen.text()

    def type(self, keys):
        os.write(self.end, keys.encode())

    def run(self, line):
        self.type(line + "\n")

    def shows(self, pattern):
        """Waits until that stands on the screen; checks it."""
        limit = time.monotonic() + (1 if pool.failed else pool.LIMIT_S)  # what follows a failure fails mostly
        while not re.search(pattern, self.text(), re.M):
            if time.monotonic() > limit:
                pool.check(f"the screen shows {pattern}", False, "it shows\n" + self.text())
                return False
            time.sleep(0.02)
        pool.check(pattern, True)
        return True

    def flags(self):
        """How the terminal treats keys; the shell sets nothing of it while it does not edit lines."""
        return termios.tcgetattr(self.end)[:4]

    def close(self):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        self.closing = True
        self.reader.join()  # before the number of the file means another
        os.close(self.end)
