"""What a visit leaves behind: values on the way up, and what is proven.

A search of few simulations walks past a move that wins at once if the evaluator thinks little of
it, and into one that loses at once if the evaluator does not think of the answer. So the root's own
moves are looked at before anything else (`seize`); in play so are the answers to every move that
is tried (`foil`), and what wins in two against every answer: at the root before the search begins
(`force`), below when a node is visited a second time (`outwit`).
"""

import numpy as np
from numpy.typing import NDArray

from randori.games.kernels import ONGOING, U1, State, inlined, scratch, wide
from randori.games.rules import MOST_LEGAL, STATE_WORDS, legal, may_end, outcome, play
from randori.search.tree import (
    BROKEN,
    DRAWN,
    EDGES,
    LATER,
    LOST,
    NEVER,
    NODES,
    NONE,
    SEIZED,
    TOO_MANY,
    UNKNOWN,
    WON,
    Tree,
    add_node,
    enlist,
    find_moves,
    give_edge,
    is_win,
    list_moves,
    word_of,
)

MOST_TRIALS, FEW_TRIALS = 200_000, 10_000
"""Positions that `force` looks at before it gives up, more than any mate in two of the suite
`shobu-mates` needs; and that `outwit` looks at."""
VAIN = 5
"""Both give up after a fifth of that if none of them wins."""
NO_ANSWER_NEEDED = 1 << 16
"""What counts as the number of answers to a move that ends the game by itself."""


def proven_value(proven: int) -> np.float32:
    """Turn what is proven into a value."""
    return np.float32(0.0) if proven == DRAWN else np.float32(proven)


def root_value(tree: Tree) -> float:
    """Return what the search makes of the root, for the side to move.

    Moves that are proven to lose count for nothing, because they are never played.
    """
    root = tree.nodes[0]
    if root.proven != UNKNOWN:
        return float(proven_value(root.proven))
    total = float(root.value)
    visits = 1
    for e in range(root.first, root.first + root.count):
        if tree.edges[e].tried > 0 and tree.edges[e].q != NEVER:
            total += tree.edges[e].q * tree.edges[e].tried
            visits += tree.edges[e].tried
    return total / visits


@inlined
def back_up(tree: Tree, node: int, value: np.float32, solve: bool) -> None:
    """Count a visit to `node` worth `value` there, and to all nodes above it.

    With `solve`, what is proven below is proven above as far as it goes.
    """
    tree.nodes[node].visits += 1
    parent = tree.nodes[node].parent
    while parent != NONE:
        edge = tree.nodes[node].via
        value = -value
        tried = tree.edges[edge].tried + 1
        tree.edges[edge].tried = tried
        mean = tree.edges[edge].q
        if mean != NEVER:
            tree.edges[edge].q = value if tried == 1 else mean + (value - mean) / np.float32(tried)
        tree.nodes[parent].visits += 1
        if solve:
            if tree.nodes[node].proven != UNKNOWN and tree.nodes[parent].proven == UNKNOWN:
                settle(tree, parent, edge, tree.nodes[node].proven)
            if tree.nodes[parent].proven != UNKNOWN:
                value = proven_value(tree.nodes[parent].proven)
        node = parent
        parent = tree.nodes[node].parent


def settle(tree: Tree, parent: int, edge: int, proven: int) -> None:
    """Draw the conclusions for `parent` from a proven node below its `edge`."""
    if proven == LOST:
        tree.nodes[parent].proven = WON
        return
    if proven == WON:
        tree.edges[edge].q = NEVER
    if tree.nodes[parent].live < tree.nodes[parent].count:
        return
    best = LOST
    first = tree.nodes[parent].first
    for e in range(first, first + tree.nodes[parent].count):
        child = tree.edges[e].child
        if child == NONE or tree.nodes[child].proven == UNKNOWN:
            return
        if tree.nodes[child].proven == LOST:  # as found on another way to it (`graph.py`)
            best = WON
            break
        if tree.nodes[child].proven == DRAWN:
            best = DRAWN
    tree.nodes[parent].proven = best


def wins_at_once(state: State, action: int, trial: State) -> bool:
    """Tell whether an action ends the game in favour of the side that plays it."""
    for w in range(STATE_WORDS):
        trial[w] = state[w]
    play(trial, action)
    return is_win(outcome(trial), state)


def foil(tree: Tree, node: int, most: int) -> None:
    """Prove a new node won if the side to move there can win at once.

    The moves that do are its list, at most `most` of them, and the first has a node: the fewer
    there are, the more an opponent has to see.
    """
    if not may_end(tree.states[node]):
        return
    trial = scratch(STATE_WORDS)
    count = find_moves(tree, node)
    first = wide(tree.used[EDGES])
    answers = wide(0)
    for k in range(count):
        if answers == most:
            break
        if wins_at_once(tree.states[node], wide(tree.actions[k]), trial):
            tree.packed[first + answers] = word_of(np.float32(0.0), k, tree.actions[k])
            answers += 1
    if answers > 0:
        win_by(tree, node, count, answers)


def win_by(tree: Tree, node: int, count: int, held: int) -> None:
    """Prove a node won by the first of the moves that stand at the end of all, its whole list."""
    first = wide(tree.used[EDGES])
    enlist(tree, node, count, held)
    give_edge(tree, first, np.float32(0.0))
    tree.nodes[node].live = 1
    tree.nodes[node].next = LATER
    tree.nodes[node].proven = WON
    tree.nodes[node].judged = 0  # nobody shall list its other moves by what was said of them
    add_node(tree, node, first)


def answers_to(tree: Tree, edge: int) -> int:
    """Return how many answers to a move were found to win by looking; it may need none to lose."""
    child = tree.edges[edge].child
    if child == NONE or tree.nodes[child].judged or tree.nodes[child].proven != WON:
        return 0
    return int(tree.nodes[child].held) or NO_ANSWER_NEEDED


def seize(tree: Tree) -> None:
    """Look, once, whether a move of the judged root wins at once: then nothing else counts."""
    root = tree.nodes[0]
    if not root.judged or root.proven != UNKNOWN:
        return
    if tree.used[NODES] == len(tree.nodes):
        return
    tree.used[SEIZED] = 1
    if not may_end(tree.states[0]):
        return
    trial = scratch(STATE_WORDS)
    for edge in range(root.first, root.first + root.count):
        if tree.edges[edge].child != NONE:
            continue
        if wins_at_once(tree.states[0], wide(tree.moves[edge].action), trial):
            node = add_node(tree, wide(0), edge)
            back_up(tree, node, proven_value(tree.nodes[node].proven), True)
            return


def force(tree: Tree) -> bool:
    """Look, once, whether a move of the root wins in two whatever the answer.

    Mostly the first answer refutes a move, so that the whole costs a fraction of a millisecond; it
    is given up after MOST_TRIALS. Returns false if there is such a move but no room for the nodes
    that show it: all answers, and to each of them a move that wins.
    """
    root = tree.nodes[0]
    if root.proven != UNKNOWN:
        return True
    trials = scratch(2)
    for edge in range(root.first, root.first + root.count):
        action = wide(tree.moves[edge].action)
        answers = count_answers(tree, wide(0), action, trials, MOST_TRIALS)
        if is_vain(trials, MOST_TRIALS):
            break
        if answers > 0:
            room = (2 * answers + MOST_LEGAL) <= len(tree.edges) - tree.used[EDGES]
            if not room or tree.used[NODES] + 1 + 2 * answers > len(tree.nodes):
                return False
            tree.used[SEIZED] = 2
            show(tree, edge)
            return True
    tree.used[SEIZED] = 2
    return True


def outwit(tree: Tree, node: int) -> None:
    """Prove a node won if a move of it wins in two, looking less far than at the root.

    That move alone is its list then.
    """
    trials, moves = scratch(2), scratch(MOST_LEGAL)
    count = find_moves(tree, node)
    for k in range(count):
        moves[k] = tree.actions[k]
    for k in range(count):
        if count_answers(tree, node, wide(moves[k]), trials, FEW_TRIALS) > 0:
            first = wide(tree.used[EDGES])
            tree.packed[first] = word_of(np.float32(0.0), k, wide(moves[k]))
            win_by(tree, node, count, 1)
            tree.nodes[tree.edges[first].child].proven = LOST
            return
        if is_vain(trials, FEW_TRIALS):
            return


@inlined
def is_vain(trials: NDArray[np.uint64], most: int) -> bool:
    """Tell whether to give up after so many trials, of which so many won."""
    return trials[0] > most or (trials[1] == 0 and trials[0] > most // VAIN)


def count_answers(tree: Tree, node: int, action: int, trials: NDArray[np.uint64], most: int) -> int:
    """Return how many answers there are to a move of a node, 0 if one of them does not lose.

    They lose if the mover wins at once. Counts the trials, and those that won.
    """
    after, below, trial = scratch(STATE_WORDS), scratch(STATE_WORDS), scratch(STATE_WORDS)
    for w in range(STATE_WORDS):
        after[w] = tree.states[node, w]
    play(after, action)
    if outcome(after) != ONGOING:
        return 0
    answers = wide(legal(after, tree.actions))
    if answers > MOST_LEGAL:
        tree.used[BROKEN] = TOO_MANY
        return 0
    for k in range(answers):
        tree.order[k] = tree.actions[k]
    for k in range(answers):
        for w in range(STATE_WORDS):
            below[w] = after[w]
        play(below, tree.order[k])
        trials[0] += U1
        result = outcome(below)
        if result != ONGOING:
            if not is_win(result, tree.states[node]):
                return 0
            continue
        if not may_end(below):
            return 0
        count = wide(legal(below, tree.actions))
        wins = False
        for i in range(count):
            trials[0] += U1
            if wins_at_once(below, wide(tree.actions[i]), trial):
                wins = True
                trials[1] += U1
                break
        if not wins or is_vain(trials, most):
            return 0
    return answers


def show(tree: Tree, edge: int) -> None:
    """Make the nodes that prove a move of the root to win in two."""
    node = add_node(tree, wide(0), edge)
    list_moves(tree, node)
    first = wide(tree.nodes[node].first)
    for answer in range(first, first + tree.nodes[node].count):
        below = add_node(tree, node, answer)
        if tree.nodes[below].proven == UNKNOWN:
            foil(tree, below, 1)
        tree.edges[answer].q = NEVER
    tree.nodes[node].proven = LOST
    back_up(tree, node, proven_value(LOST), True)
