"""The prompt of the explorer, at a keyboard or from a pipe; the end of input ends the session."""

import sys
from collections.abc import Callable
from contextlib import suppress

from randori.errors import UserError
from randori.explorer.commands import Commands
from randori.explorer.engines import open_engine
from randori.explorer.exploration import Exploration
from randori.games.drawing import Cells
from randori.games.position import Position


def explore(
    start: Position,
    agent: str,
    *,
    against: str | None,
    seed: int,
    show_board: Callable[[Position, Cells], None],
) -> None:
    """Ask and obey until somebody leaves; what is wrong is told in a line and the session goes on.

    `show_board` draws a position with the cells of the last move.
    """
    engine = open_engine(agent, start.game, seed)
    if against is not None:
        open_engine(against, start.game, seed)  # a wrong one is told at once
    commands = Commands(Exploration(engine, start, seed, against), show_board)
    with suppress(ImportError):
        use_readline(commands)
    print(f"{start.game.title}: {engine.spec}; help lists the commands")
    commands.obey("board")
    while not commands.is_left:
        line = ask(f"{' '.join(commands.exploration.path_texts())}> ")
        if line is None:
            return
        obey(commands, line)


def obey(commands: Commands, line: str) -> None:
    """Do what a line says, or say why not."""
    try:
        commands.obey(line)
    except KeyboardInterrupt:
        print("stopped")
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")
    except MemoryError:
        print("out of memory: run less, or undo")
    except UserError as error:
        print(" ".join(str(error).split()))


def ask(prompt: str) -> str | None:
    """Read a line, or None at the end of input; what comes from a pipe is echoed."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        if line:
            print(f"{prompt}{line.rstrip()}", flush=True)
        return line.strip() if line else None
    try:
        return input(prompt).strip()
    except KeyboardInterrupt:
        print()
        return ""
    except EOFError:
        print()
        return None


def use_readline(commands: Commands) -> None:
    """Give the prompt a history, an editable line and completion, where Python has readline."""
    import readline

    def offer(word: str, number: int) -> str | None:
        line = readline.get_line_buffer()[: readline.get_endidx()]
        words = commands.complete(line)
        if len(words) == 1:
            words = [f"{words[0]} "]
        return words[number] if number < len(words) else None

    readline.set_completer_delims(" ")
    readline.set_completer(offer)
    is_editline = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_editline else "tab: complete")
