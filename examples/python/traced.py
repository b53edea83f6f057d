#!/usr/bin/env python3
"""Traces tasks with OpenTelemetry: one trace has the span in which a task is put in and one for each run of its handler. Needs
opentelemetry-sdk and opentelemetry-exporter-otlp-proto-http (python3-opentelemetry-... in newer Debian releases).

  TASKPOOL_DSN='Driver=SQLite3;Database=/tmp/shop.db'    the database; libtaskpool must be found, see taskpool.py
  OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318      where a collector takes spans; OTEL_SERVICE_NAME, ... as OpenTelemetry says
  traced.py put POINTS
  traced.py work                                         until no task is left

The W3C trace context is the first line of the parameters, as in traced.c: either reads what the other put in. Names are those of
OpenTelemetry's conventions for messaging. A span ends before its task is settled: that the handler returned does not say that
the settle was committed.
"""
import os
import sys

import taskpool
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

HANDLER = "traced-points"
tracer = trace.get_tracer("taskpool")
w3c = TraceContextTextMapPropagator()  # whatever else the process propagates: what is in the pool is read by all


def about(handler, operation, kind):
    return {"messaging.system": "taskpool", "messaging.destination.name": handler, "messaging.operation.name": operation,
            "messaging.operation.type": kind}


def with_context(params):
    """The context of the current span, a new line, and the parameters."""
    carrier = {}
    w3c.inject(carrier)
    return f"{carrier['traceparent']}\n{params}" if "traceparent" in carrier else params


def without_context(params):
    """The context in which the task was put in, None where it has none, and its parameters."""
    first, _, rest = params.partition("\n")
    context = w3c.extract({"traceparent": first}, context=trace.set_span_in_context(trace.INVALID_SPAN))
    if not trace.get_current_span(context).get_span_context().is_valid:
        return None, params
    return context, rest


def traced(function):
    """A handler that calls function(run, params) in a span of its own. An exception marks that as failed; that there was nothing
    to be done, or that it is to be done later, is no failure."""
    def handler(run):
        task, answer = run.task, None
        context, params = without_context(task.params)
        links = [trace.Link(trace.get_current_span(context).get_span_context())] if context else []
        attributes = {**about(task.handler, "process", "process"), "messaging.message.id": task.id, "taskpool.failures": task.failures}
        with tracer.start_as_current_span(f"process {task.handler}", context, trace.SpanKind.CONSUMER, attributes, links):
            try:
                function(run, params)
            except (taskpool.Skip, taskpool.Later) as said:
                answer = said
        if answer:
            raise answer
    return handler


def put(conn, points):
    with tracer.start_as_current_span(f"enqueue {HANDLER}", kind=trace.SpanKind.PRODUCER, attributes=about(HANDLER, "enqueue", "send")) as span:
        task = taskpool.NewTask(HANDLER, with_context(points))
        conn.enqueue(task)
        span.set_attribute("messaging.message.id", task.id)


def grant(_, params):
    if params == "0":
        raise taskpool.Skip("nothing to grant")
    with tracer.start_as_current_span("grant"):  # what the handler traces belongs to its run
        sys.stdout.write(f"{int(params)} points\n")  # in one piece: handlers run side by side


def work(env):
    with taskpool.Worker(env, drain=1) as worker:
        worker.handle(HANDLER, traced(grant), taskpool.Retry(0))
        worker.run()


def main(command, *arguments):
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    try:
        with taskpool.Environment(os.environ["TASKPOOL_DSN"]) as env:
            if command == "work":
                work(env)
                return
            with env.connect() as conn:
                put(conn, *arguments)
    finally:
        provider.shutdown()  # sends what is left


if __name__ == "__main__":
    if sys.argv[1:] != ["work"] and (len(sys.argv) != 3 or sys.argv[1] != "put"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
