"""The worker processes, each of which solves one model at a time."""

import contextlib
import os
import subprocess
import sys
import threading
import time

import frames

try:
    import fcntl
except ImportError:
    fcntl = None  # not a Unix

# How many seconds a solver may take to hear an interrupt before its process is killed.
PATIENCE = 0.5
# How many seconds news of a client that has gone may take, where its next call may be faster.
HEARSAY = 0.25

PIPE = 1 << 20

OVER = (frames.RESPONSE, frames.REFUSED, frames.FAILED)


# What SCIP writes to standard error in every solve with call-backs, and means nothing.
NOISE = (b"ERROR: SCIPcatchEvent does not support variable or row change events", b"gscip_event_handler.cc:124] ERROR: Error <-9> in function call")


def relay(said):
    """Hands on, line by line, what a worker writes to standard error, but for the noise, until the worker is gone."""
    rest = b""
    while chunk := os.read(said, 1 << 16):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if not any(words in line for words in NOISE):
                say(line + b"\n")
    say(rest)
    os.close(said)


def say(text):
    # Not by sys.stderr, whose lock must be free when the program ends. If nobody reads it, the worker must not notice.
    with contextlib.suppress(OSError):
        os.write(2, text)


class Busy(Exception):
    pass


class Worker:
    """One process. start, messages and end are called by one thread at a time, interrupt and kill by any."""

    def __init__(self):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker.py")
        said, says = os.pipe()
        threading.Thread(target=relay, args=(said,), daemon=True).start()
        try:
            self._process = subprocess.Popen(
                [sys.executable, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=says, start_new_session=True)
        finally:
            os.close(says)
        if hasattr(fcntl, "F_SETPIPE_SZ"):  # a model should not need many turns
            for pipe in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError):
                    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE)
        self._sending = threading.Lock()
        self._number = 0
        self._solving = False
        self._killer = None
        self._killed = False
        self.doomed = False  # guarded by the pool's lock
        if frames.read(self._process.stdout) is None:
            raise RuntimeError("a worker does not start")

    def start(self, kind, payload):
        with self._sending:
            self._number += 1
            self._solving = True
            self._write(kind, payload)
            return self._number

    def messages(self):
        """What the worker says of its solve, up to and with the last. A worker that dies has failed."""
        while True:
            message = frames.read(self._process.stdout)
            if message is None:
                code = self._process.wait()
                yield frames.FAILED, f"the solver's process ended with code {code}".encode()
                return
            kind, _, payload = message
            yield kind, payload
            if kind in OVER:
                return

    def interrupt(self, number, patience):
        """Interrupts a solve, unless it is over, and kills the process if it goes on for so many seconds."""
        with self._sending:
            if not self._solving or number != self._number or self._killer is not None:
                return
            self._killer = threading.Timer(patience, self._kill)
            self._killer.daemon = True
            self._killer.start()
            self._write(frames.INTERRUPT, b"")

    def number(self):
        with self._sending:
            return self._number

    def end(self):
        """The solve is over. It reports whether the process can be used again."""
        with self._sending:
            self._solving = False
            if self._killer is not None:
                self._killer.cancel()
                self._killer.join()  # it may be at it just now
                self._killer = None
        return not self._killed and self._process.poll() is None

    def _kill(self):
        self._killed = True
        self._process.kill()

    def kill(self):
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        try:
            self._process.stdin.close()
        except OSError:
            pass  # it holds bytes that nobody reads any more

    def _write(self, kind, payload):
        try:
            frames.write(self._process.stdin, kind, self._number, payload)
        except OSError:
            pass  # it is dead: messages says so


class Pool:
    """At most so many workers. It is safe for concurrent use."""

    def __init__(self, size):
        self._size = size
        self._lock = threading.Lock()
        self._freed = threading.Condition(self._lock)
        self._idle = []
        self._busy = set()
        self._starting = 0
        self._closed = False

    def warm(self):
        """Starts the first worker, so that the first solve need not wait for it."""
        worker = Worker()
        with self._lock:
            self._idle.append(worker)

    def acquire(self):
        """A worker for one solve. It is waited for if a solve has been given up, which is over soon, or may turn out to have been."""
        patient = time.monotonic() + HEARSAY
        with self._lock:
            while not self._closed and len(self._busy) + self._starting >= self._size:
                soon = self._starting or any(w.doomed for w in self._busy)
                if not soon and time.monotonic() >= patient:
                    raise Busy(f"busy: {self._size} solves are running, and there is room for {self._size}")
                self._freed.wait(HEARSAY / 5)
            if self._closed:
                raise Busy("the service is about to stop")
            if self._idle:
                worker = self._idle.pop()
                worker.doomed = False
                self._busy.add(worker)
                return worker
            self._starting += 1
        worker = None
        try:
            worker = Worker()
        finally:
            with self._lock:
                self._starting -= 1
                self._freed.notify_all()
                if worker is not None:
                    self._busy.add(worker)
        return worker

    def release(self, worker):
        alive = worker.end()
        with self._lock:
            self._busy.discard(worker)
            self._freed.notify_all()
            keep = alive and not self._closed
            if keep:
                self._idle.append(worker)
        if not keep:
            worker.kill()

    def give_up(self, worker, number):
        """That solve's client has gone."""
        with self._lock:
            if worker not in self._busy or worker.number() != number:
                return
            worker.doomed = True
        worker.interrupt(number, PATIENCE)

    def interrupt(self):
        """Interrupts all solves, for what they have so far."""
        with self._lock:
            busy = list(self._busy)
        for worker in busy:
            worker.interrupt(worker.number(), PATIENCE)

    def close(self):
        with self._lock:
            self._closed = True
            self._freed.notify_all()
            workers = self._idle + list(self._busy)
            self._idle = []
        for worker in workers:
            worker.kill()
