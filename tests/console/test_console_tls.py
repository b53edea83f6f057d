#!/usr/bin/env -S python3 -B
"""taskpool-console that speaks TLS itself: with its certificate, by which versions, with cookies for TLS alone; certificates that are
read anew; files that cannot be used."""
import os
import re
import signal
import socket
import ssl
import subprocess
import warnings

import console
from console import Console, add_user, check  # it knows where pool is
import pool
from pool import until


warnings.simplefilter("ignore", DeprecationWarning)  # old versions are tried because they must be refused


def make_pair(name):
    made = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                           "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", f"{name}.key",
                           "-out", f"{name}.crt"], capture_output=True, text=True, check=False)
    check(f"openssl makes {name}", made.returncode == 0, made.stderr)
    os.chmod(f"{name}.key", 0o600)


def trusting(name, version=None):
    context = ssl.create_default_context(cafile=f"{name}.crt")
    if version:
        context.set_ciphers("DEFAULT:@SECLEVEL=0")
        context.minimum_version = context.maximum_version = version
    return context


def shakes_hands(page, context):
    """The version, or None."""
    try:
        with socket.create_connection(("127.0.0.1", page.port), timeout=pool.LIMIT_S) as sock, \
             context.wrap_socket(sock, server_hostname="localhost") as tls:
            return tls.version()
    except (ssl.SSLError, ConnectionError):
        return None


def test_versions(page):
    for version, name in ((ssl.TLSVersion.TLSv1_2, "TLSv1.2"), (ssl.TLSVersion.TLSv1_3, "TLSv1.3"), (ssl.TLSVersion.TLSv1_1, None),
                          (ssl.TLSVersion.TLSv1, None)):
        got = shakes_hands(page, trusting("first", version))
        check(f"{version}", got == name, str(got))
    check("another's certificate is not believed", shakes_hands(page, trusting("second")) is None)
    with socket.create_connection(("127.0.0.1", page.port), timeout=pool.LIMIT_S) as sock:
        sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        try:
            got = sock.recv(1000)
        except ConnectionError:
            got = b""
    check("nothing is said without TLS", b"HTTP" not in got, str(got))


def test_session(page):
    page.get("pools", 401)
    headers, _ = page.sign_in("olga")
    cookie = headers["Set-Cookie"]
    check("the cookie is for TLS alone", cookie.startswith("__Host-taskpool=") and "; Secure" in cookie, cookie)
    page.get("pools/pool/tasks")
    check("acts", page.act("pause", handler="x", why="closed")["count"] == 1)
    idle = [socket.create_connection(("127.0.0.1", page.port), timeout=pool.LIMIT_S) for _ in range(5)]
    check("who does not shake hands holds up nobody", page.ask("GET", "/healthz")[0] == 200)
    for sock in idle:
        sock.close()


def said(page, words):
    page.log.flush()
    with open("console.log", encoding="utf-8") as file:
        return words in file.read()


def test_anew(page):
    """A hang-up signal; who is connected stays so."""
    stays = page.connect()
    stays.request("GET", "/healthz", headers={"Host": "localhost"})
    check("asks", stays.getresponse().read() != b"")
    os.replace("second.key", "now.key")
    page.process.send_signal(signal.SIGHUP)
    check("a key of another is said", until(lambda: said(page, "what was read before is still used")))
    page.get("pools")
    os.replace("second.crt", "now.crt")
    page.process.send_signal(signal.SIGHUP)
    check("both are read", until(lambda: said(page, "were read anew")))
    check("the old one is gone", shakes_hands(page, trusting("first")) is None)
    page.tls = trusting("now")
    page.get("pools")
    stays.request("GET", "/healthz", headers={"Host": "localhost"})
    check("who was connected is served", stays.getresponse().status == 200)
    stays.close()


def test_files():
    make_pair("third")

    def fails(code, words, *options):
        done = subprocess.run([console.CONSOLE, "--listen", "127.0.0.1:0", *options], capture_output=True, text=True,
                              env=pool.environment({}), timeout=pool.LIMIT_S, check=False)
        check(f"{options}", done.returncode == code and words in done.stderr, f"{done.returncode} {done.stderr}")

    fails(2, "go together", "--tls-cert", "third.crt")
    fails(2, "not both", "--tls-cert", "third.crt", "--tls-key", "third.key", "--behind-proxy")
    fails(74, "for TLS", "--tls-cert", "third.crt", "--tls-key", "now.key")
    fails(74, "for TLS", "--tls-cert", "none.crt", "--tls-key", "third.key")
    os.chmod("third.key", 0o644)
    fails(74, "everybody can read", "--tls-cert", "third.crt", "--tls-key", "third.key")


def test():
    make_pair("first")
    make_pair("second")
    for end in ("crt", "key"):
        with open(f"first.{end}", encoding="ascii") as old, open(f"now.{end}", "w", encoding="ascii") as new:
            os.chmod(new.name, 0o600)
            new.write(old.read())
    check("user add", add_user("olga", "--role", "operator")[0] == 0)
    page = Console("--users", "users", "--tls-cert", "now.crt", "--tls-key", "now.key", "--listen", "0.0.0.0:0", "--host", "localhost")
    check("it says how to call it", re.match(r"taskpool-console: https://", page.first), page.first)
    page.tls = trusting("first")
    for one in (test_versions, test_session, test_anew):
        one(page)
    page.end()
    test_files()


pool.main(test)
