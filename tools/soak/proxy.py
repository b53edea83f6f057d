"""A proxy on loopback before a database server, which can be told to behave like a bad network: cut, stall,
delay, and lose what the server answers. What it is aimed at is read by wire.py; it must not know of the pool or
of any fault's meaning (faults_net.py).

Each connection has two threads, one for each direction: "up" from the client to the server, "down" back. The
proxy outlives the server: when that cannot be reached, the client's connection is cut at once."""

import re
import socket
import struct
import threading
import time

import wire

CHUNK = 1 << 16
UP, DOWN = "up", "down"

# What is done to a request that a shot was aimed at.
ANSWER_LOST = "answer lost"  # sent on; cut when the server has answered, of which nothing is passed on
ANSWER_HALF = "answer half"  # the same, but the first half of the answer is passed on
SENT_AND_CUT = "sent and cut"  # sent on and cut at once: the server may still be at work on it
NOT_SENT = "not sent"  # cut before
REQUEST_HALF = "request half"  # the first half of it is sent on
SHOTS = (ANSWER_LOST, ANSWER_HALF, SENT_AND_CUT, NOT_SENT, REQUEST_HALF)


def end(sock, reset):
    """Closes it with a RST, or with a FIN."""
    try:
        if reset:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    sock.close()


def wake(sock, reset):
    """A thread that waits for it goes on. Before a RST nothing is sent."""
    try:
        sock.shutdown(socket.SHUT_RD if reset else socket.SHUT_RDWR)
    except OSError:
        pass


class Link:
    """One connection through the proxy."""

    def __init__(self, proxy, client, server):
        self.proxy = proxy
        self.client, self.server = client, server
        self.reader = proxy.reader and proxy.reader()  # None: the first bytes will tell
        self.lock = threading.Lock()  # of these three
        self.is_cut = self.reset = False
        self.pumps = 2
        self.stalled = set()  # directions; under the proxy's lock
        self.shot = None  # what is being done to this connection
        self.ready = False  # what the proxy's aim is to come after was executed here

    def start(self):
        for which in (UP, DOWN):
            threading.Thread(target=self.pump, args=(which,), daemon=True).start()

    def cut(self, reset=True):
        """The last of its threads closes the sockets: the number of one that is closed before may be the next
        connection's when a thread gets to read from it."""
        with self.lock:
            if self.is_cut:
                return False
            self.is_cut, self.reset = True, reset
        wake(self.client, reset)
        wake(self.server, reset)
        self.proxy.forget(self)
        return True

    def leave(self):
        self.cut(reset=False)
        with self.lock:
            self.pumps -= 1
            if self.pumps:
                return
        end(self.client, self.reset)
        end(self.server, self.reset)

    def pump(self, which):
        source, target = (self.client, self.server) if which == UP else (self.server, self.client)
        handle = self.up if which == UP else self.down
        try:
            while not self.is_cut:
                data = source.recv(CHUNK)
                self.proxy.wait(self, which)
                if self.is_cut or not data:
                    break
                handle(data, target)
        except OSError:
            pass
        self.leave()

    def up(self, data, target):
        self.reader = self.reader or wire.Postgres()  # its clients speak first, MariaDB's wait for the server
        shot = self.proxy.aimed_at(self, self.reader.client(data))
        if shot is None:
            target.sendall(data)
            return
        self.shot = shot
        if shot == REQUEST_HALF:
            target.sendall(data[: len(data) // 2])
        elif shot != NOT_SENT:
            target.sendall(data)
        if shot not in (ANSWER_LOST, ANSWER_HALF):
            self.cut(reset=shot == NOT_SENT)  # a RST would overtake what was sent on

    def down(self, data, target):
        self.reader = self.reader or wire.MariaDB()
        self.reader.server(data)
        if self.shot is None:
            target.sendall(data)
            return
        if self.shot == ANSWER_HALF:
            target.sendall(data[: len(data) // 2])
            self.cut(reset=False)
        self.cut()


class Proxy:
    """Forwards 127.0.0.1:port to host:server_port from the moment it is made until close()."""

    def __init__(self, host, server_port, port=0, reader=None):
        self.host, self.server_port, self.reader = host, server_port, reader
        self.lock = threading.Condition()
        self.links = set()
        self.stalled = set()  # directions, of all connections and of those to come
        self.delay_s = 0.0
        self.refusing = False
        self.pattern, self.after, self.shots, self.shots_done = None, None, [], 0
        self.closed = False
        self.listener = socket.create_server(("127.0.0.1", port), backlog=128)
        self.port = self.listener.getsockname()[1]
        self.acceptor = threading.Thread(target=self.accept, daemon=True)
        self.acceptor.start()

    def close(self):
        self.closed = True
        self.go()
        wake(self.listener, reset=False)
        self.acceptor.join()
        self.listener.close()
        self.cut()

    # ---- Connections ---------------------------------------------------------------------------------

    def accept(self):
        while not self.closed:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.connect, args=(client,), daemon=True).start()

    def connect(self, client):
        try:
            if self.refusing:
                raise OSError("refusing")
            server = socket.create_connection((self.host, self.server_port), timeout=10)
        except OSError:
            end(client, reset=True)
            return
        for sock in (client, server):
            sock.settimeout(None)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link = Link(self, client, server)
        with self.lock:
            self.links.add(link)
        link.start()

    def forget(self, link):
        with self.lock:
            self.links.discard(link)
            self.lock.notify_all()

    def count(self):
        with self.lock:
            return len(self.links)

    def some(self, random=None):
        """All connections, or one that random chooses."""
        with self.lock:
            links = sorted(self.links, key=id)
        return [random.choice(links)] if random and links else links

    # ---- What can be done to them ----------------------------------------------------------------------

    def cut(self, reset=True, random=None):
        """Cuts all connections, or one; how many."""
        return sum(link.cut(reset) for link in self.some(random))

    def refuse(self, on):
        """Connections to come are cut as soon as they are made."""
        self.refusing = on

    def delay(self, seconds):
        """Each piece in each direction waits that long."""
        self.delay_s = seconds

    def stall(self, which=(UP, DOWN), random=None):
        """Nothing is forwarded in these directions until go(): on all connections and those to come, or on one
        that random chooses. How many connections."""
        chosen = self.some(random)
        with self.lock:
            if random:
                for link in chosen:
                    link.stalled.update(which)
            else:
                self.stalled.update(which)
        return len(chosen)

    def go(self):
        """Ends every stall: what was held back is forwarded now, late."""
        with self.lock:
            self.stalled.clear()
            for link in self.links:
                link.stalled.clear()
            self.lock.notify_all()

    def wait(self, link, which):
        if self.delay_s:
            time.sleep(self.delay_s)
        with self.lock:
            while (which in self.stalled or which in link.stalled) and not link.is_cut and not self.closed:
                self.lock.wait()

    def aim(self, pattern, shots, after=b""):
        """The next executions of a statement that fits the pattern are treated as the shots say, one each; None
        is a miss. after: only the first one after a statement that fits this, on its connection."""
        with self.lock:
            self.pattern, self.after = (re.compile(each, re.I | re.S) for each in (pattern, after))
            self.shots, self.shots_done = list(shots), 0

    def hit(self, link, text):
        link.ready = link.ready or bool(self.after.search(text))
        fits = link.ready and bool(self.pattern.search(text))
        link.ready = link.ready and not fits
        return fits

    def aimed_at(self, link, texts):
        with self.lock:
            if not self.shots or not sum(self.hit(link, text) for text in texts):
                return None
            shot = self.shots.pop(0)
            self.shots_done += shot is not None
            self.lock.notify_all()
            return shot

    def hits(self, count, timeout):
        """Waits until so many shots have hit, or for the timeout; then none is aimed any more. How many hit."""
        until = time.monotonic() + timeout
        with self.lock:
            while self.shots_done < count and time.monotonic() < until:
                self.lock.wait(until - time.monotonic())
            self.shots = []
            return self.shots_done
