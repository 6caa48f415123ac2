"""Messages between the service and its workers, over pipes: a kind, the number of the solve, and bytes."""

import struct

HEADER = struct.Struct("<cIQ")

# To a worker.
STREAM = b"S"  # solve a hedge.solver.v1.SolveRequest and send events
UNARY = b"U"  # solve a SolveMathOptModelRequest and send one response
INTERRUPT = b"I"  # interrupt that solve
# From a worker.
READY = b"H"  # the solvers are loaded
EVENT = b"E"  # a hedge.solver.v1.SolveEvent
RESPONSE = b"R"  # a SolveMathOptModelResponse, or the last SolveEvent: the solve is over
REFUSED = b"X"  # the request is refused, in words: the solve is over
FAILED = b"F"  # the solver failed, in words: the solve is over


def write(file, kind, number, payload=b""):
    file.write(HEADER.pack(kind, number, len(payload)))
    file.write(payload)
    file.flush()


def read(file):
    """The next message as (kind, number, payload), or None at the end of the file."""
    header = file.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    kind, number, size = HEADER.unpack(header)
    payload = file.read(size)
    if len(payload) < size:
        return None
    return kind, number, payload
