#!/usr/bin/env -S python3 -B
"""What proxy.py does to connections, shown on a server that answers each line with "did LINE"; and what wire.py
reads in the bytes of PostgreSQL's and MariaDB's drivers. Takes about a second."""
import random
import select
import socket
import struct
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
import proxy
import wire


class Server:
    def __init__(self):
        self.lines = []
        self.heard = threading.Condition()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        proxy.end(self.listener, reset=False)

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            for line in client.makefile("rb"):
                if not line.endswith(b"\n"):
                    return
                with self.heard:
                    self.lines.append(line.strip())
                    self.heard.notify_all()
                client.sendall(b"did " + line)
        except OSError:
            pass
        finally:
            client.close()

    def has(self, line):
        with self.heard:
            return self.heard.wait_for(lambda: line in self.lines, 60)


class Lines:
    """The protocol of this server: each line is a statement."""

    rest = b""

    def client(self, data):
        *lines, self.rest = (self.rest + data).split(b"\n")
        return lines

    def server(self, data):
        pass


class ProxyTest(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.proxy = proxy.Proxy("127.0.0.1", self.server.port, reader=Lines)
        self.addCleanup(self.server.close)
        self.addCleanup(self.proxy.close)

    def client(self, greet=True):
        client = socket.create_connection(("127.0.0.1", self.proxy.port), timeout=60)
        self.addCleanup(client.close)
        if greet:
            self.assertEqual(self.ask(client, b"hello"), b"did hello\n")
        return client

    def ask_new(self, line):
        """The same on a new connection; the reset may come before connecting is over."""
        try:
            return self.ask(self.client(greet=False), line)
        except ConnectionResetError:
            return b"RST"

    def ask(self, client, line):
        """What comes back until the line is whole or the connection ends; "RST" when it is reset."""
        got = b""
        try:
            client.sendall(line + b"\n")
            while not got.endswith(b"\n"):
                more = client.recv(100)
                if not more:
                    return got
                got += more
        except ConnectionError:
            return got + b"RST"
        return got

    def test_forwards_both_ways(self):
        one, two = self.client(), self.client()
        self.assertEqual(self.ask(one, b"a"), b"did a\n")
        self.assertEqual(self.ask(two, b"b"), b"did b\n")
        self.assertEqual(self.proxy.count(), 2)

    def test_cuts_all_by_reset(self):
        clients = [self.client(), self.client()]
        self.assertEqual(self.proxy.cut(), 2)
        self.assertEqual([self.ask(client, b"a") for client in clients], [b"RST", b"RST"])

    def test_cuts_one_by_fin(self):
        clients = [self.client(), self.client()]
        self.assertEqual(self.proxy.cut(reset=False, random=random.Random(1)), 1)
        for client in clients:
            client.settimeout(0.1)
        ended = 0
        for client in clients:
            try:
                ended += client.recv(1) == b""
            except TimeoutError:
                pass
        self.assertEqual(ended, 1)
        self.assertEqual(self.proxy.count(), 1)

    def test_holds_back_requests_and_forwards_them_late(self):
        client = self.client()
        self.assertEqual(self.proxy.stall((proxy.UP,)), 1)
        client.sendall(b"late\n")
        time.sleep(0.1)
        self.assertNotIn(b"late", self.server.lines)
        self.proxy.go()
        self.assertEqual(client.recv(100), b"did late\n")

    def test_holds_back_answers(self):
        client = self.client()
        self.proxy.stall((proxy.DOWN,))
        client.sendall(b"done\n")
        self.assertTrue(self.server.has(b"done"))
        client.settimeout(0.1)
        with self.assertRaises(TimeoutError):
            client.recv(1)
        self.proxy.go()
        client.settimeout(60)
        self.assertEqual(client.recv(100), b"did done\n")

    def test_holds_back_connections_to_come(self):
        self.proxy.stall()
        client = self.client(greet=False)
        client.settimeout(0.1)
        client.sendall(b"a\n")
        with self.assertRaises(TimeoutError):
            client.recv(1)

    def test_stalls_one_and_no_other(self):
        clients = [self.client(), self.client()]
        self.assertEqual(self.proxy.stall(random=random.Random(1)), 1)
        for client in clients:
            client.sendall(b"a\n")
        answered, _, _ = select.select(clients, [], [], 60)
        self.assertEqual([client.recv(100) for client in answered], [b"did a\n"])
        clients.remove(answered[0])
        clients[0].settimeout(0.1)
        with self.assertRaises(TimeoutError):
            clients[0].recv(1)

    def test_what_is_cut_while_it_is_stalled_reaches_nobody(self):
        client = self.client()
        self.proxy.stall()
        client.sendall(b"never\n")
        time.sleep(0.05)
        self.proxy.cut()
        self.proxy.go()
        self.assertEqual(self.ask(self.client(), b"next"), b"did next\n")
        self.assertNotIn(b"never", self.server.lines)

    def shoot(self, shot):
        self.proxy.aim(rb"^commit", [shot])
        client = self.client()
        answer = self.ask(client, b"COMMIT")
        self.assertEqual(self.proxy.hits(1, 1), 1)
        return answer

    def test_loses_the_answer_of_what_was_done(self):
        self.assertEqual(self.shoot(proxy.ANSWER_LOST), b"RST")
        self.assertTrue(self.server.has(b"COMMIT"))

    def test_breaks_off_in_the_answer(self):
        self.assertEqual(self.shoot(proxy.ANSWER_HALF), b"did C")
        self.assertTrue(self.server.has(b"COMMIT"))

    def test_cuts_while_the_server_is_at_work(self):
        self.assertIn(self.shoot(proxy.SENT_AND_CUT), (b"", b"RST"))
        self.assertTrue(self.server.has(b"COMMIT"))

    def test_cuts_before_it_is_sent(self):
        self.assertEqual(self.shoot(proxy.NOT_SENT), b"RST")
        self.assertEqual(self.ask(self.client(), b"next"), b"did next\n")
        self.assertNotIn(b"COMMIT", self.server.lines)

    def test_breaks_off_in_the_request(self):
        self.assertIn(self.shoot(proxy.REQUEST_HALF), (b"", b"RST"))
        self.assertEqual(self.ask(self.client(), b"next"), b"did next\n")
        self.assertNotIn(b"COMMIT", self.server.lines)

    def test_shoots_no_more_than_it_was_told(self):
        self.shoot(proxy.NOT_SENT)
        self.assertEqual(self.ask(self.client(), b"COMMIT"), b"did COMMIT\n")

    def test_misses_where_it_is_told_to(self):
        self.proxy.aim(rb"^commit", [None, proxy.NOT_SENT])
        client = self.client()
        self.assertEqual(self.ask(client, b"COMMIT"), b"did COMMIT\n")
        self.assertEqual(self.ask(client, b"COMMIT"), b"RST")
        self.assertEqual(self.proxy.hits(1, 1), 1)

    def test_meets_only_what_comes_after_another(self):
        self.proxy.aim(rb"^commit", [None, proxy.NOT_SENT], after=rb"pay")
        client = self.client()
        for line in (b"COMMIT", b"PAY", b"COMMIT", b"COMMIT", b"PAY"):
            self.assertEqual(self.ask(client, line), b"did " + line + b"\n")
        self.assertEqual(self.ask(client, b"COMMIT"), b"RST")

    def test_delays(self):
        client = self.client()
        self.proxy.delay(0.05)
        began = time.monotonic()
        self.ask(client, b"a")
        self.assertGreaterEqual(time.monotonic() - began, 0.1)

    def test_refuses_connections_to_come(self):
        self.proxy.refuse(True)
        self.assertEqual(self.ask_new(b"a"), b"RST")
        self.proxy.refuse(False)
        self.client()

    def test_outlives_the_server(self):
        client = self.client()
        self.server.close()
        self.proxy.cut()
        self.assertEqual(self.ask_new(b"a"), b"RST")
        self.proxy.server_port = (again := Server()).port
        self.addCleanup(again.close)
        self.assertEqual(self.ask(self.client(), b"a"), b"did a\n")


def pg(kind, body):
    return kind + struct.pack("!I", len(body) + 4) + body


def packet(number, body):
    return len(body).to_bytes(3, "little") + bytes([number]) + body


class WireTest(unittest.TestCase):
    def test_reads_plain_and_prepared_statements_of_postgres(self):
        reader = wire.Postgres()
        start = pg(b"", b"\0\3\0\0user\0x\0\0")
        self.assertEqual(reader.client(pg(b"", b"\x04\xd2\x16\x2f")), [])
        self.assertEqual(reader.client(start), [])
        self.assertEqual(reader.client(pg(b"Q", b"COMMIT\0")), [b"COMMIT"])
        self.assertEqual(reader.client(pg(b"P", b"s1\0UPDATE t\0\0\0") + pg(b"S", b"")), [])
        bind = pg(b"B", b"\0s1\0\0\0\0\0\0\0")
        self.assertEqual(reader.client(bind[:7]), [])
        self.assertEqual(reader.client(bind[7:] + pg(b"E", b"\0\0\0\0\0")), [b"UPDATE t"])

    def test_reads_plain_and_prepared_statements_of_mariadb(self):
        reader = wire.MariaDB()
        self.assertEqual(reader.client(packet(1, b"\x03login")), [])
        self.assertEqual(reader.client(packet(0, b"\x03COMMIT")), [b"COMMIT"])
        self.assertEqual(reader.client(packet(0, b"\x16UPDATE t") + packet(0, b"\x17\xff\xff\xff\xff")), [b"UPDATE t"])
        reader.server(packet(1, b"\0\7\0\0\0\0\0")[:6])
        reader.server(packet(1, b"\0\7\0\0\0\0\0")[6:])
        self.assertEqual(reader.client(packet(0, b"\x17\7\0\0\0rest")), [b"UPDATE t"])
        self.assertEqual(reader.client(packet(0, b"\x19\7\0\0\0")), [])
        self.assertEqual(reader.client(packet(0, b"\x17\7\0\0\0")), [b""])


if __name__ == "__main__":
    unittest.main()
