"""Ratings on the command line: the crosstable, and what a store of games says of its agents."""

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from randori.arena.match import count_effective, count_fresh, repeats, score_interval
from randori.arena.ratings import Ratings, Result, rate, sequential_elo
from randori.arena.store import Store, StoredGame, as_record, without_replays, write_csv
from randori.arena.tournament import Plan
from randori.cli.report import expect_new_file, note, print_json, print_table
from randori.errors import UserError, nearest
from randori.games.game import Game
from randori.games.records import write_records
from randori.games.registry import load_game
from randori.runs import atomic
from randori.words import some

GAME_FILES = (".csv", ".jsonl")
MOST_RATING = 100_000
"""Points that an anchor may be away from 0; far more than any game tells apart."""


@dataclass(frozen=True)
class Score:
    """Wins, draws and losses of one agent, against one other or all."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    times: int = 0
    """How often each of these games was played, added up."""

    @property
    def games(self) -> int:
        """Games in all."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """A draw counts half."""
        return self.wins + self.draws / 2

    @property
    def share(self) -> float:
        """Mean score."""
        return self.points / max(1, self.games)

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the score, as wide as games that repeat others make it."""
        return score_interval(self.share, count_effective(self.games, self.times))


def run_ratings(
    spec: str,
    path: Path,
    *,
    anchors: Sequence[str],
    tournament: str | None,
    by_elo: bool,
    csv_file: Path | None,
    export: Path | None,
    as_json: bool,
) -> None:
    """Rate all agents that have games in the store."""
    for file in filter(None, (csv_file, export)):
        expect_new_file(file)
    if export is not None and export.suffix.lower() not in GAME_FILES:
        raise UserError(f"--export {export}: games are written as .csv or .jsonl")
    fixed = parse_anchors(anchors)
    if by_elo and fixed:
        raise UserError("--anchor is for the joint fit; Elo in the order of play has none")
    game = load_game(spec)
    with Store(path, create=False) as store:
        chosen = None if tournament is None else Plan.from_dict(store.plan(tournament)).id
        games = [one for one in store.games(game.spec, chosen) if one.first != one.second]
        if not games:
            known = nearest(game.spec, store.count_by_game())
            raise UserError(f"{path} has no games of {game.spec} between two agents; {known}")
    stored, games = games, without_replays(games)
    results = results_of(games)
    ratings, scores = rate(results, anchors=fixed), cross(results)
    rows = json_rows(ratings, scores, {})
    if by_elo:
        rows = elo_rows(rows, sequential_elo(results))
    if len(games) < len(stored):
        count = some(len(stored) - len(games), "game")
        note(f"note: {count} of matches played again with their seed are left out")
    if as_json:
        print_json(rows)
    else:
        print(f"{game.spec}: {some(len(ratings.agents), 'agent')}, {some(len(games), 'game')}")
        if by_elo:
            print_elo(rows)
        else:
            print_ratings(ratings, scores)
            note_repeats(results)
    if csv_file is not None:
        atomic.write_text(csv_file, ratings_csv(rows))
    if export is not None:
        export_games(game, stored, export)


def parse_anchors(texts: Sequence[str]) -> dict[str, float]:
    """Read ``AGENT=850``; the agent may have equals signs of its own."""
    found: dict[str, float] = {}
    for text in texts:
        agent, _, number = text.rpartition("=")
        try:
            rating = float(number)
        except ValueError:
            rating = math.nan
        name = agent.strip()
        if not name or math.isnan(rating):
            raise UserError(f"--anchor {text!r}: expected AGENT=RATING, such as random=0")
        if abs(rating) > MOST_RATING:
            raise UserError(f"--anchor {text!r}: ratings go from -{MOST_RATING} to {MOST_RATING}")
        if name in found:
            raise UserError(f"--anchor {text!r}: {name} is fixed at {found[name]:g} already")
        found[name] = rating
    return found


def results_of(games: Sequence[StoredGame]) -> list[Result]:
    """Return what ratings are made from."""
    often = repeats((game.begun, game.actions) for game in games)
    return [
        Result(game.first, game.second, game.score, times)
        for game, times in zip(games, often, strict=True)
    ]


def note_repeats(results: Sequence[Result]) -> None:
    """Say so if games repeat others."""
    fresh = count_fresh(result.times for result in results)
    if fresh < len(results):
        note(f"note: only {fresh} of {some(len(results), 'game')} differ, and count; longer "
             "openings (--opening-plies) make more of them differ")  # fmt: skip


def cross(results: Iterable[Result]) -> dict[tuple[str, str], Score]:
    """Return the score of each agent against each that it met."""
    tally: dict[tuple[str, str], list[int]] = {}
    for first, second, score, times in results:
        place = round(2 - 2 * score)
        for pair, at in (((first, second), place), ((second, first), 2 - place)):
            counts = tally.setdefault(pair, [0, 0, 0, 0])
            counts[at] += 1
            counts[3] += times
    return {pair: Score(*counts) for pair, counts in tally.items()}


def totals(agent: str, scores: dict[tuple[str, str], Score]) -> Score:
    """Add up an agent's scores."""
    mine = [score for (who, _), score in scores.items() if who == agent]
    return Score(*(sum(column) for column in zip(*map(astuple, mine), strict=True)))


def json_rows(
    ratings: Ratings, scores: dict[tuple[str, str], Score], extra: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return a row an agent, with its scores against the others and how likely it is stronger."""
    rows = []
    for i, row in enumerate(ratings.rows()):
        agent = row["agent"]
        total = totals(agent, scores)
        low, high = total.interval
        against = {
            other: {"games": score.games, "score": score.share, "superiority": superiority}
            for j, other in enumerate(ratings.agents)
            if (score := scores.get((agent, other))) is not None
            for superiority in [_number(float(ratings.superiority[i, j]))]
        }
        rows.append({
            **row, "wins": total.wins, "draws": total.draws, "losses": total.losses,
            "score_low": low, "score_high": high, "against": against, **extra,
        })  # fmt: skip
    return rows


def elo_rows(rows: list[dict[str, Any]], elo: dict[str, float]) -> list[dict[str, Any]]:
    """Put Elo in the order of play in the place of joint ratings.

    Every game counts, and there is neither an interval nor a chance that one is stronger.
    """
    found = []
    for row in rows:
        against = {who: {**one, "superiority": None} for who, one in row["against"].items()}
        found.append({
            **row, "rating": elo[row["agent"]], "low": None, "high": None,
            "counted_games": row["games"], "against": against,
        })  # fmt: skip
    return sorted(found, key=lambda row: -row["rating"])


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def print_ratings(ratings: Ratings, scores: dict[tuple[str, str], Score]) -> None:
    """Print the crosstable: a row and a column an agent, the strongest first."""
    rows = []
    for i, row in enumerate(ratings.rows()):
        total = totals(row["agent"], scores)
        low, high = (f"{100 * bound:.1f}" for bound in total.interval)
        cells = [_cell(scores.get((row["agent"], other)), i == j)
                 for j, other in enumerate(ratings.agents)]  # fmt: skip
        rows.append((
            str(i + 1), row["agent"], f"{round(row['rating']):+d}",
            f"[{round(row['low']):+d}, {round(row['high']):+d}]", f"{100 * total.share:.1f} %",
            f"[{low}, {high}]", str(total.games), _likelier(ratings, i), *cells,
        ))  # fmt: skip
    columns = [str(i + 1) for i in range(len(rows))]
    heads = ("", "agent", "rating", "95 %", "score", "95 %", "games", "> next", *columns)
    print_table(rows, heads, numbers=(0, 2, 4, 6, *range(7, len(heads))))
    first, low, high = (round(getattr(ratings.first_move, key)) for key in ("value", "low", "high"))
    print(f"moving first is worth {first:+d} [{low:+d}, {high:+d}] Elo; "
          f"equals draw {100 * ratings.draws.value:.0f} % of games; {ratings.fixed}")  # fmt: skip
    if len(ratings.groups) > 1:
        parts = " | ".join(", ".join(group) for group in ratings.groups)
        note(f"note: no games connect these groups, so compare ratings only within one: {parts}")


def _cell(score: Score | None, is_self: bool) -> str:
    if score is None or is_self:
        return "–"
    return f"{score.points:g}/{score.games}"


def _likelier(ratings: Ratings, i: int) -> str:
    """Say how likely an agent is stronger than the next one in the table."""
    if i + 1 == len(ratings.agents) or math.isnan(chance := ratings.superiority[i, i + 1]):
        return "–"
    return f"{100 * chance:.0f} %"


def print_elo(rows: Sequence[dict[str, Any]]) -> None:
    """Print Elo in the order of play."""
    lines = [
        (str(i), row["agent"], f"{row['rating']:.0f}", f"{100 * row['score']:.1f} %",
         str(row["games"]))
        for i, row in enumerate(rows, start=1)
    ]  # fmt: skip
    print_table(lines, ("", "agent", "Elo", "score", "games"), numbers=(0, 2, 3, 4))
    print("Elo in the order of play, from 1200 with K = 24; it has no interval")


def ratings_csv(rows: Sequence[dict[str, Any]]) -> str:
    """Write the ratings as a table with a header."""
    names = ("agent", "rating", "low", "high", "games", "wins", "draws", "losses", "score",
             "counted_games")  # fmt: skip
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([row[name] for name in names] for row in rows)
    return text.getvalue()


def export_games(game: Game, games: Sequence[StoredGame], path: Path) -> None:
    """Write games as .csv, a row each, or as .jsonl records that `randori show` reads."""
    if path.suffix.lower() == ".csv":
        atomic.write_text(path, write_csv(game, games))
    else:
        atomic.write_text(path, write_records(as_record(game, one) for one in games))
