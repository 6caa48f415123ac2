"""A gRPC service that solves models with OR-Tools: operations_research.service.v1.Optimization, and
hedge.solver.v1.Solver, which tells of its progress.

It hands requests as bytes to worker processes and never looks into them, so that one model's solver can neither hold
up nor bring down another's.
"""

import argparse
import concurrent.futures
import logging
import os
import pathlib
import signal
import ssl
import sys
import threading

import grpc
from grpc_health.v1 import health
from grpc_health.v1 import health_pb2
from grpc_health.v1 import health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from ortools.service.v1 import optimization_pb2

import frames
import pool
from hedge.solver.v1 import solver_pb2

UNARY = optimization_pb2.DESCRIPTOR.services_by_name["Optimization"].full_name
STREAM = solver_pb2.DESCRIPTOR.services_by_name["Solver"].full_name
CODES = {frames.REFUSED: grpc.StatusCode.INVALID_ARGUMENT, frames.FAILED: grpc.StatusCode.INTERNAL}


class Solver:
    """Both services' calls."""

    def __init__(self, workers):
        self._workers = workers
        self.stopping = False

    def unary(self, request, context):
        for kind, payload in self._messages(frames.UNARY, request, context):
            if kind == frames.RESPONSE:
                return payload
        return b""  # the client has gone

    def stream(self, request, context):
        for _, payload in self._messages(frames.STREAM, request, context):
            yield payload

    def _messages(self, kind, request, context):
        if not context.is_active():
            return
        try:
            worker = self._workers.acquire()
        except pool.Busy as e:
            context.abort(grpc.StatusCode.UNAVAILABLE if self.stopping else grpc.StatusCode.RESOURCE_EXHAUSTED, str(e))
        over = False
        try:
            number = worker.start(kind, request)
            del request
            if not context.add_callback(lambda: self._workers.give_up(worker, number)):
                self._workers.give_up(worker, number)  # the client has gone already
            failure = None
            for kind, payload in worker.messages():
                over = kind in pool.OVER
                if kind in CODES:
                    failure = CODES[kind], payload.decode(errors="replace")
                elif context.is_active():
                    yield kind, payload
        finally:
            if not over:  # nobody wants the rest
                self._workers.give_up(worker, number)
                for _ in worker.messages():
                    pass
            self._workers.release(worker)
        if failure is not None and context.is_active():
            code, words = failure
            context.abort(grpc.StatusCode.UNAVAILABLE if self.stopping else code, words)


def handlers(solver):
    """The services' handlers, without serializers: requests and responses are bytes."""
    return (
        grpc.method_handlers_generic_handler(
            UNARY, {"SolveMathOptModel": grpc.unary_unary_rpc_method_handler(solver.unary)}),
        grpc.method_handlers_generic_handler(
            STREAM, {"Solve": grpc.unary_stream_rpc_method_handler(solver.stream)}),
    )


def flags():
    parser = argparse.ArgumentParser(description="Solves models with OR-Tools over gRPC.")
    parser.add_argument("--listen", default="127.0.0.1:50051", help="address, or unix:PATH; port 0 takes a free one")
    parser.add_argument("--max-solves", type=int, default=os.cpu_count() or 1, help="solves at a time; more are refused as busy")
    parser.add_argument("--max-message", type=int, default=256 << 20, help="largest message, in bytes")
    parser.add_argument("--grace", type=float, default=10, help="seconds that running solves get at SIGTERM")
    parser.add_argument("--tls-cert", help="PEM file of the server's certificate chain")
    parser.add_argument("--tls-key", help="PEM file of its key")
    parser.add_argument("--tls-client-ca", help="PEM file of the authorities that clients' certificates must be from")
    parser.add_argument("--until-eof", action="store_true", help="stop also at the end of standard input")
    args = parser.parse_args()
    if bool(args.tls_cert) != bool(args.tls_key):
        parser.error("--tls-cert and --tls-key need each other")
    if args.tls_client_ca and not args.tls_cert:
        parser.error("--tls-client-ca needs --tls-cert and --tls-key")
    if args.max_solves < 1 or args.max_message < 1 or args.grace < 0:
        parser.error("--max-solves and --max-message must be at least 1, and --grace at least 0")
    return args


def credentials(args):
    """The TLS credentials of the flags' files. One that is of no use ends the program with the names of flag and file."""
    texts = []
    for flag, path in (("--tls-cert", args.tls_cert), ("--tls-key", args.tls_key), ("--tls-client-ca", args.tls_client_ca)):
        try:
            texts.append(pathlib.Path(path).read_bytes() if path else None)
        except OSError as e:
            sys.exit(f"{flag} {path}: {e.strerror}")
    # gRPC would fail without saying why, or only when a client calls.
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(args.tls_cert, args.tls_key, password="")
    except (OSError, ValueError) as e:
        sys.exit(f"--tls-cert {args.tls_cert}, --tls-key {args.tls_key}: not a certificate in PEM form and its key: {e}")
    try:
        if args.tls_client_ca:
            context.load_verify_locations(args.tls_client_ca)
    except (OSError, ValueError) as e:
        sys.exit(f"--tls-client-ca {args.tls_client_ca}: found no certificate in PEM form: {e}")
    cert, key, authorities = texts
    return grpc.ssl_server_credentials([(key, cert)], authorities, require_client_auth=authorities is not None)


def bind(server, args):
    """Makes server listen, and returns the address with the port that it got."""
    if args.tls_cert:
        port = server.add_secure_port(args.listen, credentials(args))
    else:
        port = server.add_insecure_port(args.listen)
    if args.listen.startswith("unix:"):
        return args.listen
    return f"{args.listen.rsplit(':', 1)[0]}:{port}"


def until_eof(wakes):
    while os.read(0, 4096):  # sys.stdin has a lock, which must be free when the program ends
        pass
    os.write(wakes, b"\0")


def signals():
    """A pipe that can be read from once there is a signal to stop, and its other end.

    The interpreter's own handler writes to it. One in Python could come too late for a thread that is just about to wait, which would then wait
    for ever, or find the lock of what it waits for taken.
    """
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    return woken, wakes


def main():
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s")
    args = flags()
    woken, wakes = signals()
    if args.until_eof:
        threading.Thread(target=until_eof, args=(wakes,), daemon=True).start()
    workers = pool.Pool(args.max_solves)
    solver = Solver(workers)
    server = grpc.server(
        concurrent.futures.ThreadPoolExecutor(2 * args.max_solves + 16),
        handlers(solver),
        options=(
            ("grpc.max_receive_message_length", args.max_message),
            ("grpc.max_send_message_length", args.max_message),
            ("grpc.so_reuseport", 0),
            ("grpc.keepalive_time_ms", 20_000),
            ("grpc.keepalive_timeout_ms", 10_000),
            ("grpc.keepalive_permit_without_calls", 1),
            ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000),
        ))
    checks = health.HealthServicer(
        experimental_non_blocking=True, experimental_thread_pool=concurrent.futures.ThreadPoolExecutor(2))
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    names = (UNARY, STREAM, health.SERVICE_NAME)
    reflection.enable_server_reflection((*names, reflection.SERVICE_NAME), server)
    for name in ("", *names):
        checks.set(name, health_pb2.HealthCheckResponse.SERVING)
    try:
        address = bind(server, args)
    except (OSError, RuntimeError) as e:
        sys.exit(f"cannot listen on {args.listen}: {e}")
    workers.warm()
    server.start()
    print(f"listening on {address}", flush=True)
    os.read(woken, 1)
    halt(args, server, checks, solver, workers)


def halt(args, server, checks, solver, workers):
    """Lets running solves finish within the grace, interrupts the others, and gives them time to say what they have."""
    logging.info("stopping")
    solver.stopping = True
    checks.enter_graceful_shutdown()
    stopped = server.stop(args.grace + 10 * pool.PATIENCE)
    if not stopped.wait(args.grace):
        workers.interrupt()
        stopped.wait()
    workers.close()
    logging.info("stopped")


main()
