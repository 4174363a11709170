"""Find a game by name, or by the path of somebody's own file: a new game is one line here."""

import hashlib
import importlib
import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from traceback import extract_tb
from types import ModuleType

from randori.errors import UserError, nearest
from randori.games.game import Game
from randori.spec import Spec, bind_options, option_text, options_of, parse_spec

GAMES = {
    "tictactoe": "randori.games.tictactoe",
    "connect4": "randori.games.connect4",
    "othello": "randori.games.othello",
    "choko": "randori.games.choko",
    "shobu": "randori.games.shobu",
    "go": "randori.games.go",
}


FOREIGN = "randori_game_"
"""How the names begin under which users' files are loaded."""


def load_game(text: str) -> Game:
    """Return the game of a spec such as ``othello:size=6`` or ``my_game.py:size=9``."""
    spec = parse_spec(text)
    if spec.name.endswith(".py"):
        module = _load_file(Path(spec.name))
    elif spec.name in GAMES:
        module = importlib.import_module(GAMES[spec.name])
    else:
        raise UserError(f"there is no game {spec.name!r}; {_guess(spec.name)}")
    if spec.value is not None:
        raise UserError(f"{text!r}: options are written key=value, found {spec.value!r}")
    factory = getattr(module, "game", None)
    if not callable(factory):
        raise UserError(f"{spec.name} defines no function game() that returns a randori.Game")
    options = bind_options(spec, factory)
    try:
        game = factory(**options)
    except ValueError as error:
        raise UserError(f"{text}: {error}") from None
    except Exception as error:
        if not spec.name.endswith(".py"):
            raise
        raise _blame(Path(spec.name), error) from None
    if not isinstance(game, Game):
        raise UserError(f"{spec.name}: game() returned {type(game).__name__}, not a randori.Game")
    defaults = {name: p.default for name, p in options_of(factory).items()}
    chosen = {name: option_text(options[name]) for name in defaults
              if options.get(name, defaults[name]) != defaults[name]}  # fmt: skip
    return replace(
        game,
        spec=str(Spec(spec.name, None, chosen)),
        identity=str(Spec(game.name, None, chosen)),
    )


def newest_file() -> Path | None:
    """Return the user's file that was loaded last, or None if all games were Randori's."""
    files = [str(m.__file__) for name, m in sys.modules.items() if name.startswith(FOREIGN)]
    return Path(files[-1]) if files else None


def _guess(name: str) -> str:
    """Say which game `name` may stand for: one of ours, or a file whose ending was left out."""
    if Path(f"{name}.py").is_file():
        return f"did you mean '{name}.py'?"
    known = nearest(name, GAMES)
    return known if known.endswith("?") else f"{known}, or a file of your own: my_game.py"


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise UserError(f"there is no game file {str(path)!r}")
    # Compiled kernels in the cache refer to the module by name: what is written alike, as a run's
    # copy is, shares them.
    content = path.read_bytes()
    name = f"{FOREIGN}{hashlib.sha256(content).hexdigest()[:16]}"
    found = importlib.util.spec_from_file_location(name, path.resolve())
    assert found is not None
    module = importlib.util.module_from_spec(found)
    sys.modules.pop(name, None)  # so that the newest comes last
    sys.modules[name] = module
    try:
        # Not by the loader: Python's own cache takes a file of the same second and size for old.
        exec(compile(content, path.resolve(), "exec", dont_inherit=True), vars(module))
    except SyntaxError as error:
        raise UserError(f"{path}, line {error.lineno}: {error.msg}") from None
    except UserError:
        raise
    except Exception as error:
        raise _blame(path, error) from None
    return module


def _blame(path: Path, error: Exception) -> UserError:
    """Name the last line of the user's own file on the way to `error`."""
    frames = extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename) == path.resolve()]
    place = f"{path}, line {lines[-1]}" if lines else str(path)
    return UserError(f"{place}: {type(error).__name__}: {error}")
