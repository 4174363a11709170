"""Local shapes in plain Python: rectangles as cut out of the board, compared image by image."""

import math
from itertools import product

import numpy as np

from randori.games.dice import below, uniform
from randori.games.game import Game
from randori.shapes.sets import ShapeSet

Board = list[list[int]]
"""rows of 0 empty, 1 mine, 2 theirs"""


def board_of(game: Game, state, side: int) -> Board:
    """Read the board as `side` sees it, whoever is to move."""
    words = np.zeros(game.input_words, dtype=np.uint64)
    game.plain.planes(state, words)
    height, width = game.board
    planes = [
        [int(words[p * game.plane_words + i // 64]) >> i % 64 & 1 for i in range(height * width)]
        for p in range(2)
    ]
    if int(state[0]) & 1 != side:
        planes.reverse()
    cells = [mine + 2 * theirs for mine, theirs in zip(*planes, strict=True)]
    return [cells[r * width : (r + 1) * width] for r in range(height)]


def turns(size: int):
    """The eight symmetries of a square, as functions of row and column."""
    last = size - 1
    for swap, flip, mirror in product((False, True), repeat=3):

        def turn(r, c, swap=swap, flip=flip, mirror=mirror):
            r, c = (c, r) if swap else (r, c)
            return last - r if flip else r, last - c if mirror else c

        yield turn


def liberties(board: Board, row: int, column: int) -> set[tuple[int, int]]:
    """The liberties of the chain at a point."""
    size, colour = len(board), board[row][column]
    chain, found, left = {(row, column)}, set(), [(row, column)]
    while left:
        r, c = left.pop()
        for y, x in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
            if not (0 <= y < size and 0 <= x < size):
                continue
            if board[y][x] == 0:
                found.add((y, x))
            elif board[y][x] == colour and (y, x) not in chain:
                chain.add((y, x))
                left.append((y, x))
    return found


def kind(board: Board, rectangle: set, row: int, column: int, one: ShapeSet):
    """A cell of a shape: its stone, and 0, 1 or 2 and more liberties outside of the rectangle."""
    stone = board[row][column]
    if not stone or not one.has_liberties:
        return stone, 0
    return stone, min(2, len(liberties(board, row, column) - rectangle))


def shapes(board: Board, one: ShapeSet) -> list:
    """Return what a set sees: a name for each rectangle, the same for all images of a shape."""
    size, found = len(board), []
    for height, width in dict.fromkeys([(one.height, one.width), (one.width, one.height)]):
        for r, c in product(range(size - height + 1), range(size - width + 1)):
            cells = set(product(range(r, r + height), range(c, c + width)))
            kinds = {cell: kind(board, cells, *cell, one) for cell in cells}
            found.append(min(name(kinds, turn, one) for turn in turns(size)))
    return found


def name(kinds: dict, turn, one: ShapeSet):
    """Name the image of a rectangle: its form, its place if that matters, its cells in order."""
    moved = {turn(*cell): kind for cell, kind in kinds.items()}
    places = sorted(moved)
    (top, left), (bottom, right) = places[0], places[-1]
    where = (top, left) if one.is_placed else ()
    return bottom - top, right - left, where, tuple(moved[place] for place in places)


def some_states(game: Game, count: int) -> list:
    """Positions from random games."""
    rng = np.random.default_rng(11)
    found = []
    while len(found) < count:
        state = game.new_state()
        for _ in range(rng.integers(0, 40)):
            actions = game.legal_actions(state)
            if actions:
                game.plain.play(state, int(rng.choice(actions)))
        found.append(state)
    return found


def learn(game: Game, sets, config, dice, games: int) -> list[dict]:
    """Random games with the paper's updates; weights by set and name, of each agent."""
    weights: list[dict] = [{}, {}]
    for number in range(games):
        history: list[list] = [[], []]
        state = game.new_state()
        while game.plain.outcome(state) == 0:
            side = int(state[0]) & 1
            actions = sensible_actions(game, state, side)
            with np.errstate(over="ignore"):
                assert uniform(dice) < config.epsilon
                action = actions[below(dice, len(actions))]
            game.plain.play(state, action)
            if game.plain.outcome(state) != 0:
                break
            board = board_of(game, state, side)
            history[side].append([shapes(board, one) for one in sets])
            if len(history[side]) > 1:
                update(weights[side ^ number & 1], sets, config, *history[side][-2:], None)
        for side in range(2):
            if history[side]:
                reward = float((game.plain.outcome(state) == 1) == (side == 0))
                update(weights[side ^ number & 1], sets, config, history[side][-1], None, reward)
    return weights


def sensible_actions(game: Game, state, side: int) -> list[int]:
    """All moves but own one-point eyes and, unless it is the only one, the pass."""
    board, size = board_of(game, state, side), game.board[0]
    found = []
    for action in game.legal_actions(state)[:-1]:
        r, c = divmod(action, size)
        around = [(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)]
        stones = [board[y][x] for y, x in around if 0 <= y < size and 0 <= x < size]
        if stones != [1] * len(stones):
            found.append(action)
    return found or [size * size]


def update(weights: dict, sets, config, then: list, now: list | None, reward: float | None) -> None:
    """Equations 2 and 3, or 4 to 6 with a cascade: `then` is corrected by `now` or the reward."""

    def value(seen: list, i: int) -> float:
        total = 0.0
        for j, one in enumerate(sets):
            if not config.cascade or one.is_as_general_as(sets[i]):
                total += sum(weights.get((j, name), 0.0) for name in seen[j])
        return 1 / (1 + math.exp(-total))

    steps = []
    for i in range(len(sets)):
        here = value(then, i)
        error = (reward if now is None else value(now, i)) - here
        steps.append(config.alpha / (len(sets) * len(then[i])) * error * here * (1 - here))
    for i, step in enumerate(steps):
        for name in then[i]:
            weights[i, name] = weights.get((i, name), 0.0) + step
