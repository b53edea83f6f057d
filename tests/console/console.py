"""A console of a test's own over the pool of tests/cli/pool.py: started on a free port, asked by HTTP, ended, and held to what
openapi.json says of its answers. PATH_TO_TASKPOOL is the test's first argument, PATH_TO_TASKPOOL_CONSOLE the second."""
import http.client
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import pool  # pylint: disable=wrong-import-position

CONSOLE = os.path.realpath(sys.argv[2])
PASSWORD = "correct horse battery"
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
with open(os.path.join(ROOT, "src/console/web/openapi.json"), encoding="utf-8") as file:
    API = json.load(file)
check = pool.check


def add_user(name, *options, users="users", password=PASSWORD):
    done = subprocess.run([CONSOLE, "user", "add", name, "--users", users, *options], input=password + "\n",
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


class Console:
    """The program, running."""

    def __init__(self, *options, dsn=None):
        self.log = open("console.log", "a+", encoding="utf-8")  # pylint: disable=consider-using-with
        env = pool.environment({"TASKPOOL_DSN": dsn} if dsn else {})
        wait = [] if "--wait" in options else ["--wait", "2m"]
        self.process = subprocess.Popen([CONSOLE, "--listen", "127.0.0.1:0", *wait, *options], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=self.log, env=env, text=True)
        self.first = self.process.stdout.readline()
        found = re.search(r":(\d+)/$", self.first.strip())
        self.port = int(found.group(1)) if found else 0
        self.cookie = self.csrf = None
        self.tls = None  # what a client holds its certificate to

    def connect(self):
        if self.tls:
            return http.client.HTTPSConnection("localhost", self.port, timeout=pool.LIMIT_S, context=self.tls)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=pool.LIMIT_S)

    def ask(self, method, path, body=None, headers=None):
        """(status, headers, what came); JSON is read, and held to its description."""
        connection = self.connect()
        send = {"Cookie": self.cookie} if self.cookie else {}
        if method != "GET":
            send |= {"Content-Type": "application/json"} | ({"X-CSRF-Token": self.csrf} if self.csrf else {})
        send |= headers or {}
        text = json.dumps(body) if isinstance(body, dict) else body
        connection.request(method, path, text, {key: value for key, value in send.items() if value is not None})
        answer = connection.getresponse()
        what = answer.read().decode()
        connection.close()
        if "json" in answer.headers.get("Content-Type", "") and method != "HEAD":
            what = json.loads(what)
            if path != "/api/v1/openapi.json":
                held(method, path, answer.status, what)
        return answer.status, answer.headers, what

    def get(self, what, status=200):
        """Below /api/v1/."""
        code, _, answer = self.ask("GET", "/api/v1/" + what)
        check("GET " + what, code == status, f"{code} {str(answer)[:300]}")
        return answer

    def overview(self):
        """Of the pool; a busy machine has not read it in the time that an answer waits for that."""
        check("it is read", pool.until(lambda: self.ask("GET", "/api/v1/pools/pool/overview")[0] == 200))
        return self.get("pools/pool/overview")

    def act(self, name, status=200, **body):
        code, _, answer = self.ask("POST", f"/api/v1/pools/pool/actions/{name}", body)
        check(f"{name} {body}", code == status, f"{code} {answer}")
        return answer

    def sign_in(self, name, password=PASSWORD, status=200):
        code, headers, answer = self.ask("POST", "/api/v1/session", {"user": name, "password": password})
        check(f"sign in as {name}", code == status, f"{code} {answer}")
        if code == 200:
            self.cookie = headers["Set-Cookie"].split(";")[0]
            self.csrf = answer["csrf"]
        return headers, answer

    def end(self):
        self.process.terminate()
        check("SIGTERM ends it", self.process.wait(pool.LIMIT_S) == 0, str(self.process.returncode))
        self.process.stdout.close()
        self.log.seek(0)
        text = self.log.read()
        self.log.close()
        password = os.environ.get("TASKPOOL_TEST_PASSWORD") or PASSWORD
        check("no password is told", password not in text and PASSWORD not in text)
        check("no sanitizer spoke", "Sanitizer" not in text and "runtime error" not in text, text[-3000:])


# ---- The description --------------------------------------------------------------------------------------------------------

met = set()  # (path, method) that were answered 200
TYPES = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None)}


def is_of_type(value, name):
    if name in ("integer", "number"):
        return isinstance(value, int if name == "integer" else (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def wrong(value, schema, where="answer"):
    """None, or what of the value is not as the schema says."""
    if "$ref" in schema:
        return wrong(value, API["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]], where)
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(is_of_type(value, name) for name in types):
        return f"{where} is {value!r}, not {types}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is {value!r}, not of {schema['enum']}"
    if isinstance(value, dict):
        missing = set(schema.get("required", [])) - set(value)
        more = set(value) - set(schema["properties"])
        if missing or more:
            return f"{where}: missing {sorted(missing)}, not described {sorted(more)}"
        return next((w for key, one in value.items() if (w := wrong(one, schema["properties"][key], f"{where}.{key}"))), None)
    if isinstance(value, list):
        return next((w for i, one in enumerate(value) if (w := wrong(one, schema["items"], f"{where}[{i}]"))), None)
    return None


def described(path):
    path = path.split("?")[0]
    for name in API["paths"]:
        if re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(name)), path):
            return name
    return None


def held(method, path, status, answer):
    name = described(path)
    operation = API["paths"].get(name, {}).get(method.lower())
    if not operation:
        check(f"{method} {path} is described", status >= 400 and wrong(answer, API["components"]["schemas"]["Error"]) is None,
              f"{status} {answer}")
        return
    schema = operation["responses"].get(str(status), {}).get("content", {}).get("application/json", {}).get("schema")
    if status in (403, 421, 405) and not schema:
        schema = API["components"]["schemas"]["Error"]
    problem = wrong(answer, schema) if schema else f"status {status} is not described"
    check(f"{method} {path}: {status} as described", problem is None, problem)
    if status == 200:
        met.add((name, method.lower()))
