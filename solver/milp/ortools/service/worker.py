"""A process that solves one model after another for the service, which can kill it if a solver hears no interrupt."""

import os
import queue
import signal
import sys
import threading

from google.protobuf import message
import ortools
from ortools.math_opt import callback_pb2
from ortools.math_opt import parameters_pb2
from ortools.math_opt import rpc_pb2
from ortools.math_opt.core.python import solver
from ortools.service.v1.mathopt import parameters_pb2 as service_parameters_pb2
from ortools.util.python import pybind_solve_interrupter

import frames
from hedge.solver.v1 import solver_pb2

OFFERED = ("GSCIP", "HIGHS", "CP_SAT", "GLOP", "PDLP")
TYPES = {parameters_pb2.SolverTypeProto.Value("SOLVER_TYPE_" + name): name for name in OFFERED}
# HiGHS accepts the registration as well, but never calls back.
EVENTS = {
    "GSCIP": (callback_pb2.CALLBACK_EVENT_MIP_SOLUTION,),
    "CP_SAT": (callback_pb2.CALLBACK_EVENT_MIP_SOLUTION, callback_pb2.CALLBACK_EVENT_MIP),
}
# HiGHS does not hear the interrupter either.
DEAF = ("HIGHS",)
REFUSALS = ("[INVALID_ARGUMENT]", "[UNIMPLEMENTED]")


class Refused(Exception):
    pass


class Worker:
    """Reads requests in a thread of its own, so that interrupts arrive while a solver runs."""

    def __init__(self, source, sink):
        self._source = source
        self._sink = sink
        self._sending = threading.Lock()
        self._state = threading.Lock()
        self._requests = queue.SimpleQueue()
        self._waiting = {}  # the interrupters of solves that have arrived and are not over
        self._deaf = None  # the solve that hears no interrupt
        self._interrupted = set()  # those of them that were interrupted

    def run(self):
        self._send(frames.READY, 0)
        threading.Thread(target=self._read, daemon=True).start()
        while True:
            kind, number, payload = self._requests.get()
            try:
                self._send(*self._solve(kind, number, payload))
            except (Refused, message.DecodeError) as e:
                self._send(frames.REFUSED, number, str(e).encode())
            except Exception as e:  # whatever a solver raises
                refused = str(e).endswith(REFUSALS)
                self._send(frames.REFUSED if refused else frames.FAILED, number, str(e).encode())
            with self._state:
                del self._waiting[number]
                self._interrupted.discard(number)

    def _read(self):
        while (arrived := frames.read(self._source)) is not None:
            kind, number, _ = arrived
            with self._state:
                if kind != frames.INTERRUPT:
                    self._waiting[number] = pybind_solve_interrupter.PySolveInterrupter()
                    self._requests.put(arrived)
                elif number in self._waiting:
                    if number == self._deaf:
                        os._exit(0)
                    self._interrupted.add(number)
                    self._waiting[number].interrupt()
        os._exit(0)  # the service is gone, and what is solved now is nobody's

    def _send(self, kind, number, payload=b""):
        with self._sending:
            frames.write(self._sink, kind, number, payload)

    def _solve(self, kind, number, payload):
        # The service API's messages are MathOpt's with fewer fields: the same bytes are both.
        if kind == frames.UNARY:
            request = rpc_pb2.SolveRequest.FromString(payload)
            lines = []
            log = lines.extend if request.parameters.enable_output else None
            result = self._run(number, request, log)
            return frames.RESPONSE, number, rpc_pb2.SolveResponse(result=result, messages=lines).SerializeToString()
        asked = solver_pb2.SolveRequest.FromString(payload)
        request = rpc_pb2.SolveRequest.FromString(asked.request.SerializeToString())
        asked.ClearField("request")
        started = solver_pb2.Started(version=ortools.__version__)
        self._event(number, started=started)
        log = (lambda lines: self._event(number, log=solver_pb2.Log(lines=lines))) if asked.log else None
        progress = (lambda data: self._progress(number, data)) if asked.incumbents else None
        result = self._run(number, request, log, progress, asked.accuracy)
        with self._state:
            finished = solver_pb2.Finished(interrupted=number in self._interrupted)
        finished.response.result.ParseFromString(result.SerializeToString())
        return frames.RESPONSE, number, solver_pb2.SolveEvent(finished=finished).SerializeToString()

    def _run(self, number, request, log, progress=None, accuracy=0):
        name = TYPES.get(request.solver_type)
        if name is None:
            raise Refused(f"solver type {request.solver_type} is not offered; it must be one of {', '.join(OFFERED)}")
        parameters = common(request.parameters)
        if accuracy > 0 and name == "PDLP":
            exact = parameters.pdlp.termination_criteria.simple_optimality_criteria
            exact.eps_optimal_absolute = exact.eps_optimal_relative = accuracy
        events = callback_pb2.CallbackRegistrationProto()
        if progress is None or name not in EVENTS:
            progress = None
        else:
            events.request_registration.extend(EVENTS[name])
            events.mip_solution_filter.skip_zero_values = True
        with self._state:
            interrupter = self._waiting[number]
            if name in DEAF:
                if number in self._interrupted:
                    os._exit(0)
                self._deaf = number
        try:
            return solver.solve(
                request.model, request.solver_type, parameters_pb2.SolverInitializerProto(), parameters,
                request.model_parameters, log, events, progress, interrupter)
        finally:
            with self._state:
                self._deaf = None

    def _event(self, number, **event):
        self._send(frames.EVENT, number, solver_pb2.SolveEvent(**event).SerializeToString())

    def _progress(self, number, data):
        progress = solver_pb2.Progress()
        if data.HasField("primal_solution_vector"):
            progress.point.ids.extend(data.primal_solution_vector.ids)
            progress.point.values.extend(data.primal_solution_vector.values)
        stats = data.mip_stats
        # Before its tree has a root SCIP says anything.
        rooted = not stats.HasField("open_nodes") or stats.open_nodes + stats.explored_nodes > 0
        if stats.HasField("dual_bound") and rooted:
            progress.dual_bound = stats.dual_bound
        self._event(number, progress=progress)
        return callback_pb2.CallbackResultProto()


def common(parameters):
    """The parameters without those of one solver's own, some of which name files to write."""
    copy = service_parameters_pb2.SolveParametersProto.FromString(parameters.SerializeToString())
    copy.DiscardUnknownFields()
    return parameters_pb2.SolveParametersProto.FromString(copy.SerializeToString())


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the service hears it, and decides
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a solver prints must not get among the messages
    Worker(sys.stdin.buffer, sink).run()


main()
