"""What an agent thinks, in the ways that clients read: lz-analyze, kata-analyze, GoGui's tables."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic

from randori.agents.gtp_boards import COLOURS
from randori.games.position import Position
from randori.protocols.gtp_commands import commit, expect, number, whole
from randori.protocols.gtp_session import Command, Session
from randori.protocols.gtp_table import GtpError, read_colour
from randori.protocols.thinking import Choice, Report
from randori.search.choice import surely
from randori.search.search import Move

SHOWN = 12
"""Moves that GoGui's tables show."""
Form = Callable[["Entry"], str]


@dataclass(frozen=True)
class Wish:
    """What a client wants to see, and how often."""

    side: int
    seconds: float
    most: int
    root: bool


@dataclass(frozen=True)
class Entry:
    """One move of a report."""

    move: Move
    order: int
    line: Sequence[str]

    @property
    def winrate(self) -> float:
        """How often the mover wins, a draw counted half."""
        return min(1.0, max(0.0, (1 + self.move.value) / 2))

    @property
    def least_winrate(self) -> float:
        """What it is at least, as far as the visits tell."""
        if self.move.proven or not self.move.visits:
            return self.winrate
        return max(0.0, (1 + surely(self.move.value, self.move.visits)) / 2)


def lz_form(entry: Entry) -> str:
    """Write shares as ten thousandths."""
    shares = {"winrate": entry.winrate, "prior": entry.move.prior, "lcb": entry.least_winrate}
    words = " ".join(f"{name} {round(1e4 * share)}" for name, share in shares.items())
    return f"visits {entry.move.visits} {words}"


def kata_form(entry: Entry) -> str:
    """Write shares as they are."""
    return (
        f"visits {entry.move.visits} utility {entry.move.value:.6g} winrate {entry.winrate:.6g} "
        f"prior {entry.move.prior:.6g} lcb {entry.least_winrate:.6g}"
    )


def entries(session: Session, report: Report, most: int) -> list[Entry]:
    """Return the moves that were looked at, the best first."""
    seen = [move for move in report.analysis.moves if move.visits] or report.analysis.moves[:1]
    found, lines = [], report.lines()
    for order, move in enumerate(seen[:most]):
        line = lines.get(move.action, [])
        if order == 0 and not line:
            line = report.analysis.line
        found.append(Entry(move, order, [session.table.vertex(a) for a in line or [move.action]]))
    return found


def write_report(session: Session, report: Report, form: Form, wish: Wish) -> str:
    """Write one line about all moves."""
    words = []
    for entry in entries(session, report, wish.most):
        line = " ".join(entry.line)
        words.append(f"info move {entry.line[0]} {form(entry)} order {entry.order} pv {line}")
    if wish.root:
        value, visits = report.analysis.value, sum(m.visits for m in report.analysis.moves)
        winrate = f"{(1 + value) / 2:.6g}"
        words.append(f"rootInfo visits {visits} utility {value:.6g} winrate {winrate}")
    return " ".join(words)


def read_wish(session: Session, words: list[str]) -> Wish:
    """Read ``[colour] [interval] [key value …]``; what cannot be done is left undone."""
    wish = {"side": int(session.table.state[0]) & 1, "interval": 100.0, "maxmoves": 1000}
    left, root = list(words), False
    while left:
        word = left.pop(0).casefold()
        if word in (*COLOURS, "b", "w"):
            wish["side"] = read_colour(word)
        elif word in ("avoid", "allow"):
            del left[:3]
        elif word == "maxmoves" and left:
            wish["maxmoves"] = max(1, whole(left.pop(0)))
        elif word == "rootinfo" and left:
            root = left.pop(0).casefold() == "true"
        elif word == "interval" and left:
            wish["interval"] = number(left.pop(0))
        elif word[0].isalpha() and left:
            del left[0]
        else:
            wish["interval"] = number(word)
    seconds = max(0.01, wish["interval"] / 100)
    return Wish(int(wish["side"]), seconds, int(wish["maxmoves"]), root)


def _ongoing(session: Session, side: int) -> Position:
    here = session.facing(side)
    if here.is_over:
        raise GtpError("the game is over")
    return here


def stream(form: Form) -> Command:
    """Make a command that writes lines until the client says something."""

    def analyse(session: Session, words: list[str]) -> Iterator[str]:
        wish = read_wish(session, words)
        said, report = monotonic(), None
        for report in session.mind.watch(_ongoing(session, wish.side)):
            if session.lines.arrives_within(0) or session.lines.is_hurried:
                break
            if monotonic() - said >= wish.seconds:
                yield write_report(session, report, form, wish)
                said, report = monotonic(), None
        if report is not None:
            yield write_report(session, report, form, wish)
        while not session.lines.is_hurried and not session.lines.arrives_within(0.1):
            pass

    return analyse


def stream_move(form: Form) -> Command:
    """Make a command that thinks, tells what it saw, and plays."""

    def analyse(session: Session, words: list[str]) -> Iterator[str]:
        wish = read_wish(session, words)
        thoughts, said = session.think_aloud(wish.side), monotonic()
        while True:
            try:
                report = next(thoughts)
            except StopIteration as end:
                choice: Choice = end.value
                break
            if monotonic() - said >= wish.seconds:
                yield write_report(session, report, form, wish)
                said = monotonic()
        if choice.report is not None:
            yield write_report(session, choice.report, form, wish)
        yield f"play {commit(session, wish.side, choice.action)}"

    return analyse


def _look(session: Session, words: list[str]) -> tuple[int, Report]:
    """Think as for a move, without playing it."""
    expect(words, 1, "a colour")
    side = read_colour(words[0])
    here = _ongoing(session, side)
    seen = [choice.report for choice in session.mind.ponder(here, None)]
    return side, seen[-1] or next(session.mind.watch(here))


def table(session: Session, words: list[str]) -> str:
    """Write visits, shares and lines of the best moves."""
    _, report = _look(session, words)
    rows = [f"{'move':>6} {'visits':>8} {'winrate':>8} {'prior':>7}  line"]
    rows += [
        f"{entry.line[0]:>6} {entry.move.visits:>8} {entry.winrate:>8.3f} "
        f"{entry.move.prior:>7.3f}  {' '.join(entry.line[:8])}"
        for entry in entries(session, report, SHOWN)
    ]
    return "\n" + "\n".join(rows)


def picture(session: Session, words: list[str]) -> str:
    """Label the moves with their visits, and show the expected line."""
    side, report = _look(session, words)
    seen = entries(session, report, SHOWN)
    labels = [f"{e.line[0]} {e.move.visits}" for e in seen if e.line[0] != "pass"]
    line = [f"{'bw'[(side + i) % 2]} {v}" for i, v in enumerate(seen[0].line[:10])]
    status = f"{seen[0].line[0]} wins {100 * seen[0].winrate:.1f} %"
    return "\n".join([f"LABEL {' '.join(labels)}", f"VAR {' '.join(line)}", f"TEXT {status}"])


def gogui_commands(session: Session, words: list[str]) -> str:
    """List what GoGui's menu offers."""
    offered = [
        "gfx/Visits/randori-visits %m",
        "string/Table of Moves/randori-table %m",
        "string/Final Score/final_score",
        "plist/Legal Moves/all_legal %m",
        "string/Agent/gogui-title",
    ]
    if session.kind == "go":
        offered.append("plist/Final Status List/final_status_list %s")
    return "\n".join(offered)


COMMANDS: dict[str, Command] = {
    "analyze": stream(lz_form),
    "lz-analyze": stream(lz_form),
    "kata-analyze": stream(kata_form),
    "genmove_analyze": stream_move(lz_form),
    "lz-genmove_analyze": stream_move(lz_form),
    "kata-genmove_analyze": stream_move(kata_form),
    "randori-table": table,
    "randori-visits": picture,
    "gogui-analyze_commands": gogui_commands,
}
