"""The law that compiled kernels answer as the plain ones did: games that were played, once more."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from randori.games.compile_errors import describe, is_compile_error
from randori.games.kernels import ONGOING
from randori.games.rules import legal, may_end, num_legal, outcome, planes, play, start, weigh
from randori.games.trial import JUNK, Record, Trial, View, compare, logits_of, weighed


def check_compiled(trial: Trial, records: Sequence[Record]) -> None:
    """Play the games again in machine code, and compare all that it says."""
    game, junk = trial.game, JUNK[1]
    for record in records:
        trial.moves, trial.state = (), record.states[0]
        rows = len(record.moves) + 1
        states = np.full((rows, game.num_words), junk, dtype=np.uint64)
        actions = np.full((rows, game.most_legal), -1, dtype=np.int32)
        counts, outcomes = np.zeros((2, rows), dtype=np.int32)
        words = np.full((rows, game.input_words), junk, dtype=np.uint64)
        moves = np.array(record.moves, dtype=np.int32)
        try:
            game.kernel(retrace)(moves, states, actions, counts, outcomes, words)
        except Exception as error:
            trial.condemn("compiled", _why(error))
        for ply, view in enumerate(record.views):
            trial.moves, trial.state = record.moves[:ply], record.states[ply]
            same = np.array_equal(states[ply], record.states[ply])
            trial.uphold("compiled", same, f"the state {record.states[ply]}", states[ply])
            if counts[ply] < 0:
                trial.condemn("compiled", "compiled kernels count and list different numbers")
            found = actions[ply, : counts[ply]].tolist()
            compiled = View(tuple(found), int(outcomes[ply]), tuple(words[ply].tolist()))
            compare(trial, "compiled", "compiled kernels", view, compiled)
        _check_overheard(trial, record)


def _check_overheard(trial: Trial, record: Record) -> None:
    """Check the compiled `weigh` and `may_end` on the positions of a game."""
    game, states = trial.game, np.array(record.states)
    actions = np.full((len(states), game.num_actions), -1, dtype=np.int32)
    odds = np.full(actions.shape, np.nan, dtype=np.float32)
    counts, ends = np.zeros((2, len(states)), dtype=np.int32)
    spare = np.zeros(game.num_words, dtype=np.uint64)
    trial.moves, trial.state = (), record.states[0]
    try:
        game.kernel(overhear)(states, logits_of(game), actions, odds, counts, ends, spare)
    except Exception as error:
        trial.condemn("compiled", _why(error))
    for ply, view in enumerate(record.views):
        trial.moves, trial.state = record.moves[:ply], record.states[ply]
        n, expected = counts[ply], weighed(game, view.legal)
        found = list(zip(actions[ply, :n].tolist(), odds[ply, :n].tolist(), strict=True))
        trial.uphold("compiled", found == expected, f"{expected} from weigh", found)
        lie = f"true from may_end, since {ends[ply]} ends the game"
        trial.uphold("may_end", ends[ply] < 0, lie, False)


def retrace(
    moves: NDArray[np.int32],
    states: NDArray[np.uint64],
    actions: NDArray[np.int32],
    counts: NDArray[np.int32],
    outcomes: NDArray[np.int32],
    words: NDArray[np.uint64],
) -> None:
    """Play `moves` from the start and write down what the kernels say; row d serves ply d.

    A position counts -1 if `num_legal` and `legal` do not agree.
    """
    start(states[0])
    for ply in range(len(moves) + 1):
        counts[ply] = num_legal(states[ply], actions[ply])
        if counts[ply] != legal(states[ply], actions[ply]):
            counts[ply] = -1
        outcomes[ply] = outcome(states[ply])
        planes(states[ply], words[ply])
        if ply < len(moves):
            for word in range(states.shape[1]):
                states[ply + 1, word] = states[ply, word]
            play(states[ply + 1], moves[ply])


def overhear(
    states: NDArray[np.uint64],
    logits: NDArray[np.float32],
    actions: NDArray[np.int32],
    odds: NDArray[np.float32],
    counts: NDArray[np.int32],
    ends: NDArray[np.int32],
    trial: NDArray[np.uint64],
) -> None:
    """Ask `weigh` and `may_end` about `states`; where the latter says no, try every action.

    `ends` becomes -1, or an action that ends the game all the same.
    """
    for ply in range(len(states)):
        counts[ply] = weigh(states[ply], actions[ply], logits, odds[ply])
        ends[ply] = -1
        if not may_end(states[ply]):
            for k in range(counts[ply]):
                for word in range(states.shape[1]):
                    trial[word] = states[ply, word]
                play(trial, actions[ply, k])
                if outcome(trial) != ONGOING:
                    ends[ply] = actions[ply, k]


def _why(error: Exception) -> str:
    """Say what kept a kernel from running: Numba, or something around it such as a full disk."""
    return describe(error) if is_compile_error(error) else f"{type(error).__name__}: {error}"
