"""Playing a tournament: in this process, or by a crew of others that may die without harm."""

import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic

from randori.arena.match import Progression
from randori.arena.store import Store
from randori.arena.tournament import Hall, Job, Plan, Schedule, Scoreboard
from randori.errors import UserError
from randori.games.compile_errors import complaint
from randori.games.registry import newest_file
from randori.words import some

TRIES = 2
"""How often a job whose process dies is begun."""
GRACE = 3.0
"""Seconds that processes have to end by themselves, all together."""

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
    schedule = Schedule(plan, store, processes)
    if processes == 1:
        with closing(Hall(plan, store)) as hall:
            while (job := schedule.take()) is not None:
                hall.play(job, board.listener())
                schedule.finish(job)
        return []
    crew = _Crew(plan, store, board, tell or (lambda message: None))
    try:
        return crew.play(schedule, processes)
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
        self._idle: list[tuple[Connection, BaseProcess]] = []
        self._again: deque[tuple[Job, int]] = deque()
        """Jobs whose process died, and how often each was begun."""
        self._lost: list[Job] = []

    def play(self, schedule: Schedule, processes: int) -> list[Job]:
        """Play all jobs; return those whose processes died every time."""
        while True:
            while len(self._workers) < processes and (task := self._next(schedule)) is not None:
                self._assign(*(self._idle.pop() if self._idle else self._hire()), *task)
            if not self._workers:
                return self._lost
            for connection in wait(list(self._workers)):
                assert isinstance(connection, Connection)
                try:
                    self._hear(connection, connection.recv(), schedule)
                except (EOFError, OSError):
                    self._bury(connection, schedule)

    def dismiss(self) -> None:
        """End all processes, however busy."""
        for connection, _ in self._idle:
            with suppress(OSError):
                connection.send(None)
            connection.close()
        for connection in self._workers:
            connection.close()  # a worker that has something to say notices
        _end([process for _, process in self._idle]
             + [worker.process for worker in self._workers.values()])  # fmt: skip

    def _next(self, schedule: Schedule) -> tuple[Job, int] | None:
        """Return a job to be played now, and how often it was begun."""
        if self._again:
            return self._again.popleft()
        job = schedule.take()
        return None if job is None else (job, 0)

    def _hire(self) -> tuple[Connection, BaseProcess]:
        context = get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=work, args=(there, self._plan, self._store.path))
        with _interrupts_ignored():  # Ctrl-C is for this process, which then ends the others
            process.start()
        there.close()
        return here, process

    def _assign(self, connection: Connection, process: BaseProcess, job: Job, tries: int) -> None:
        self._workers[connection] = _Worker(process, job, tries + 1, self._board.listener())
        with suppress(OSError):  # it has died already, and will be heard of
            connection.send(job)

    def _hear(self, connection: Connection, message: object, schedule: Schedule) -> None:
        worker = self._workers[connection]
        if isinstance(message, str):
            raise UserError(message)
        if isinstance(message, tuple):
            worker.listen(*message)
            return
        del self._workers[connection]
        self._idle.append((connection, worker.process))
        schedule.finish(worker.job)

    def _bury(self, connection: Connection, schedule: Schedule) -> None:
        worker = self._workers.pop(connection)
        connection.close()
        _end([worker.process])
        left = self._left(worker.job)
        if not left:
            schedule.finish(worker.job)
            return
        again = worker.tries < TRIES
        count = f"{some(len(left), 'game')} left"
        them = "it" if len(left) == 1 else "them"
        self._tell(
            f"{worker.job}: the process that played it died (exit code {worker.process.exitcode}) "
            f"with {count}; {f'beginning {them} again' if again else f'giving {them} up'}"
        )
        job = replace(worker.job, numbers=left)
        if again:
            self._again.append((job, worker.tries))
        else:
            self._lost.append(job)
            schedule.give_up(job)

    def _left(self, job: Job) -> tuple[int, ...]:
        """Return the games of a job that are not in the store."""
        over = self._plan.by_pair(self._store.games(tournament=self._plan.id))[job.a, job.b]
        return tuple(number for number in job.numbers if number not in over)


def _end(processes: Sequence[BaseProcess]) -> None:
    """Wait for processes that have nothing left to do, all at once and not for ever."""
    for end in (None, BaseProcess.terminate, BaseProcess.kill):
        late = [process for process in processes if process.is_alive()]
        for process in late:
            if end is not None:
                end(process)
        deadline = monotonic() + GRACE
        for process in late:
            process.join(max(0.0, deadline - monotonic()))


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
        except Exception as error:
            words = complaint(error, newest_file())
            if not words:
                raise
            connection.send(words)
