"""What statements a client's bytes hold, for a proxy that aims: PostgreSQL's and MariaDB's protocols, as far as
their drivers here speak them (no TLS, no compression). It forwards nothing and must not know of faults; see
proxy.py.

A reader is fed what the client sends (client) and what the server sends (server), in order, and gives back the
texts of the statements that are executed by what it was fed: plain ones, and prepared ones by the text that they
were prepared with."""

import struct


class Postgres:
    """Messages have a type byte and a length; only the first (start-up, or a question about encryption) has
    no type."""

    LONGEST = 1 << 26

    def __init__(self):
        self.rest = b""
        self.started = False
        self.prepared = {}

    def client(self, data):
        texts = []
        self.rest += data
        while True:
            head = 1 if self.started else 0
            if len(self.rest) < head + 4:
                return texts
            length = struct.unpack("!I", self.rest[head : head + 4])[0] + head
            if length < head + 4 or length > self.LONGEST:
                self.rest = b""  # not a protocol that is known here
                return texts
            if len(self.rest) < length:
                return texts
            message, self.rest = self.rest[:length], self.rest[length:]
            if self.started:
                texts += self.read(message[:1], message[5:])
            elif message[4:8] not in (b"\x04\xd2\x16\x2f", b"\x04\xd2\x16\x30"):
                self.started = True

    def server(self, data):
        pass

    def read(self, kind, body):
        if kind == b"Q":
            return [body.rstrip(b"\0")]
        if kind == b"P":
            name, text = body.split(b"\0", 2)[:2]
            self.prepared[name] = text
        elif kind == b"B":
            name = body.split(b"\0", 2)[1]
            return [self.prepared.get(name, b"")]
        return []


class MariaDB:
    """Packets have a length of three bytes and a number. The answer to a PREPARE begins with the statement's
    id."""

    QUERY, PREPARE, EXECUTE, CLOSE = 0x03, 0x16, 0x17, 0x19
    LAST = b"\xff\xff\xff\xff"  # instead of an id: what was prepared last

    def __init__(self):
        self.rest = b""
        self.answer = b""
        self.preparing = None
        self.prepared = {}

    def client(self, data):
        texts = []
        self.rest += data
        while len(self.rest) >= 4:
            length = 4 + int.from_bytes(self.rest[:3], "little")
            if len(self.rest) < length:
                break
            number, body, self.rest = self.rest[3], self.rest[4:length], self.rest[length:]
            if number == 0 and body:
                texts += self.read(body[0], body[1:])
        return texts

    def server(self, data):
        if self.preparing is None:
            return
        self.answer += data
        if len(self.answer) < 9:
            return
        if self.answer[4] == 0:
            self.prepared[self.answer[5:9]] = self.preparing
        self.preparing, self.answer = None, b""

    def read(self, command, body):
        if command == self.QUERY:
            return [body]
        if command == self.PREPARE:
            self.preparing, self.answer = body, b""
            self.prepared[self.LAST] = body
        elif command == self.EXECUTE:
            return [self.prepared.get(body[:4], b"")]
        elif command == self.CLOSE:
            self.prepared.pop(body[:4], None)
        return []
