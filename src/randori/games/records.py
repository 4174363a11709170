"""Games as text: one JSON object a game, with its moves as people write them."""

from collections.abc import Sequence
from typing import Any

from randori.games.game import Game


def record_game(game: Game, actions: Sequence[int], **extra: Any) -> dict[str, Any]:
    """Describe a game that was played from the start; `extra` adds fields of its own."""
    position, moves = game.start(), []
    for action in actions:
        moves.append(position.action_text(action))
        position = position.play(action)
    return {"game": game.spec, "moves": moves, "outcome": position.outcome, **extra}
