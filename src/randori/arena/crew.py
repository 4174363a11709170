"""Playing a tournament: in this process, or by a crew of others that may die without harm."""

import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from randori.arena.match import Progression
from randori.arena.store import Store
from randori.arena.tournament import Hall, Job, Plan, Scoreboard
from randori.errors import UserError

TRIES = 2
"""How often a job whose process dies is begun."""
GRACE = 3.0
"""Seconds that a process has to end by itself."""

Tell = Callable[[str], None]


def play_tournament(
    plan: Plan,
    store: Store,
    *,
    processes: int = 1,
    progress: Progression | None = None,
    tell: Tell | None = None,
) -> list[Job]:
    """Play what is missing; return the jobs that could not be played, because processes died.

    `tell` hears of processes that die. One process stands for this one.
    """
    store.save_plan(plan.id, plan.to_dict())
    board = Scoreboard(progress)
    jobs = plan.jobs(store.games(tournament=plan.id))
    if processes == 1:
        with closing(Hall(plan, store)) as hall:
            for job in jobs:
                hall.play(job, board.listener())
        return []
    crew = _Crew(plan, store, board, tell or (lambda message: None))
    try:
        return crew.play(jobs, processes)
    finally:
        crew.dismiss()


@dataclass
class _Worker:
    process: BaseProcess
    job: Job
    tries: int
    listen: Progression


class _Crew:
    """Processes that play jobs; one that dies is replaced, and its job begun once more."""

    def __init__(self, plan: Plan, store: Store, board: Scoreboard, tell: Tell) -> None:
        self._plan = plan
        self._store = store
        self._board = board
        self._tell = tell
        self._workers: dict[Connection, _Worker] = {}
        self._pending: deque[tuple[Job, int]] = deque()
        """Jobs, and how often each was begun."""
        self._lost: list[Job] = []

    def play(self, jobs: Iterable[Job], processes: int) -> list[Job]:
        """Play all jobs; return those whose processes died every time."""
        self._pending.extend((job, 0) for job in jobs)
        while self._pending or self._workers:
            while self._pending and len(self._workers) < processes:
                self._hire()
            for connection in wait(list(self._workers)):
                assert isinstance(connection, Connection)
                try:
                    self._hear(connection, connection.recv())
                except (EOFError, OSError):
                    self._bury(connection)
        return self._lost

    def dismiss(self) -> None:
        """End all processes, however busy."""
        for connection in self._workers:
            connection.close()  # a worker that has something to say notices
        for worker in self._workers.values():
            _end(worker.process)

    def _hire(self) -> None:
        context = get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=work, args=(there, self._plan, self._store.path))
        with _interrupts_ignored():  # Ctrl-C is for this process, which then ends the others
            process.start()
        there.close()
        self._assign(here, process)

    def _assign(self, connection: Connection, process: BaseProcess) -> None:
        job, tries = self._pending.popleft()
        self._workers[connection] = _Worker(process, job, tries + 1, self._board.listener())
        with suppress(OSError):  # it has died already, and will be heard of
            connection.send(job)

    def _hear(self, connection: Connection, message: object) -> None:
        worker = self._workers[connection]
        if isinstance(message, str):
            raise UserError(message)
        if isinstance(message, tuple):
            worker.listen(*message)
        elif self._pending:
            self._assign(connection, worker.process)
        else:
            connection.send(None)
            del self._workers[connection]
            connection.close()
            _end(worker.process)

    def _bury(self, connection: Connection) -> None:
        worker = self._workers.pop(connection)
        connection.close()
        _end(worker.process)
        left = self._left(worker.job)
        if not left:
            return
        again = worker.tries < TRIES
        self._tell(
            f"{worker.job}: the process that played it died (exit code {worker.process.exitcode}) "
            f"with {len(left)} games left; {'beginning them again' if again else 'giving them up'}"
        )
        job = replace(worker.job, numbers=left)
        if again:
            self._pending.append((job, worker.tries))
        else:
            self._lost.append(job)

    def _left(self, job: Job) -> tuple[int, ...]:
        """Return the games of a job that are not in the store."""
        open_jobs = self._plan.jobs(self._store.games(tournament=self._plan.id))
        missing = {n for one in open_jobs if (one.a, one.b) == (job.a, job.b) for n in one.numbers}
        return tuple(sorted(missing & set(job.numbers)))


def _end(process: BaseProcess) -> None:
    """Wait for a process that has nothing left to do, but not for ever."""
    process.join(GRACE)
    for end in (process.terminate, process.kill):
        if process.is_alive():
            end()
            process.join(GRACE)


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Let processes that are started here ignore Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _leave(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


def work(connection: Connection, plan: Plan, path: Path) -> None:
    """Play the jobs that come through the pipe, until None or its end."""
    signal.signal(signal.SIGTERM, _leave)  # so that engines are ended on the way out
    with suppress(EOFError, BrokenPipeError, ConnectionResetError), Store(path) as store:
        try:
            with closing(Hall(plan, store)) as hall:
                while (job := connection.recv()) is not None:
                    hall.play(job, lambda over, plies: connection.send((over, plies)))
                    connection.send(None)
        except UserError as error:
            connection.send(str(error))
