#!/usr/bin/env -S python3 -B
"""test_traced.py PATH_TO_TASKPOOL LIBRARY TRACED: examples/python/traced.py sends its spans to a collector, which this program is: that of
the enqueue and those of the runs are one trace, as OpenTelemetry's own classes read it; so are those of a task that examples/traced.c
put in. Skipped, in words, where tools/fetch_opentelemetry.sh could not reach it."""
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

HERE = os.path.dirname(os.path.abspath(__file__))
SCRATCH = os.environ.get("TP_SCRATCH", os.path.join(HERE, "..", "..", ".scratch"))
HOMES = [os.environ.get("TP_OPENTELEMETRY", "/var/cache/taskpool/opentelemetry"), os.path.join(SCRATCH, "opentelemetry")]
FETCHED = os.pathsep.join(os.path.join(home, "usr/lib/python3/dist-packages") for home in HOMES)
LIBRARY, TRACED_C = map(os.path.realpath, sys.argv[2:4])
sys.path[:0] = [os.path.join(HERE, "..", "cli"), *FETCHED.split(os.pathsep)]
try:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
    from opentelemetry.semconv._incubating.attributes import messaging_attributes
    import opentelemetry.exporter.otlp.proto.http.trace_exporter  # noqa: F401
except ImportError as error:
    print(f"SKIPPED: OpenTelemetry is not there ({error}); run tools/fetch_opentelemetry.sh")
    required = os.environ.get("TASKPOOL_TEST_REQUIRE") == "1" and not os.path.exists(os.path.join(SCRATCH, "opentelemetry.unreachable"))
    sys.exit(1 if required else 77)
from pool import check, environment, main, run, shown  # noqa: E402

TRACED = os.path.join(HERE, "..", "..", "examples", "python", "traced.py")
GIVEN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
spans = []


class Collector(BaseHTTPRequestHandler):
    def do_POST(self):
        request = ExportTraceServiceRequest.FromString(self.rfile.read(int(self.headers["Content-Length"])))
        spans.extend(span for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def traced(port, *arguments):
    changes = {"TASKPOOL_LIBRARY": LIBRARY, "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
               "OTEL_EXPORTER_OTLP_COMPRESSION": "none", "OTEL_PROPAGATORS": "baggage", "PYTHONPATH": FETCHED, "NO_PROXY": "127.0.0.1"}
    done = subprocess.run([sys.executable, "-B", TRACED, *arguments], env=environment(changes), capture_output=True, text=True, timeout=300)
    check(f"traced.py {arguments[0]}", done.returncode == 0 and not done.stderr, done.stderr)
    return done.stdout


def of(name):
    return [span for span in spans if span.name == name]


def attributes(span):
    return {one.key: one.value.string_value or one.value.int_value for one in span.attributes}


def test_spans():
    (sent,) = of("enqueue traced-points")
    (mine, theirs, wrong, alone, nothing) = sorted(of("process traced-points"), key=lambda span: attributes(span)["messaging.message.id"])
    check("the producer's kind", sent.kind == Span.SPAN_KIND_PRODUCER and not sent.parent_span_id)
    check("one trace", mine.trace_id == sent.trace_id and mine.parent_span_id == sent.span_id)
    check("a link to where it was put in", [(link.trace_id, link.span_id) for link in mine.links] == [(sent.trace_id, sent.span_id)])
    check("the consumer's kind", mine.kind == Span.SPAN_KIND_CONSUMER and mine.status.code == Status.STATUS_CODE_UNSET)
    check("of the same task", attributes(mine)["messaging.message.id"] == attributes(sent)["messaging.message.id"])
    check("what the C program put in", (theirs.trace_id.hex(), theirs.parent_span_id.hex()) == tuple(GIVEN.split("-")[1:3]))
    check("a failure", wrong.status.code == Status.STATUS_CODE_ERROR and wrong.events[0].name == "exception", str(wrong))
    check("to skip is no failure", nothing.status.code == Status.STATUS_CODE_UNSET and not nothing.events, str(nothing))
    check("without a context a trace of its own", not alone.parent_span_id and not alone.links and alone.trace_id != sent.trace_id)
    check("what a handler traces", sorted(span.parent_span_id for span in of("grant")) ==
          sorted(span.span_id for span in (mine, theirs, wrong, alone)))
    known = {value for name, value in vars(messaging_attributes).items() if name.startswith("MESSAGING_")}
    check("its attributes are known", {key for key in attributes(mine) if key.startswith("messaging.")} <= known, str(attributes(mine)))
    check("of the handler", attributes(mine)["messaging.destination.name"] == "traced-points" and attributes(mine)["messaging.operation.type"] == "process")


def test():
    collector = HTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    port = collector.server_port
    traced(port, "put", "100")
    subprocess.run([TRACED_C, "put", GIVEN, "200"], env=environment({}), check=True, timeout=300)
    wrong = run("enqueue", "traced-points", GIVEN + "\nmany")[1].strip()
    run("enqueue", "traced-points", "300")
    skipped = run("enqueue", "traced-points", "0")[1].strip()
    granted = sorted(traced(port, "work").splitlines())
    check("what was granted", granted == ["100 points", "200 points", "300 points"], granted)
    check("and what failed", "invalid literal" in shown(wrong)["reason"], str(shown(wrong)))
    check("and what was skipped", shown(skipped)["reason"] == "nothing to grant", str(shown(skipped)))
    test_spans()
    collector.shutdown()


main(test)
