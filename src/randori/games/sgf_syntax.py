"""The syntax of SGF: game trees of nodes, nodes of properties, properties of texts in brackets."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from randori.errors import UserError

WIDTH = 78
Node = dict[str, list[str]]

_TEXT = r"[^\\\]]*(?:\\.[^\\\]]*)*"
_TOKEN = re.compile(rf"(?:([();])|([A-Za-z0-9]+)((?:\s*\[{_TEXT}\])+))\s*", re.DOTALL)
_BRACKET = re.compile(rf"\[({_TEXT})\]", re.DOTALL)


@dataclass
class _Tree:
    is_main: bool
    has_nodes: bool = False
    has_branches: bool = False


def main_lines(text: str) -> list[list[Node]]:
    """Return the nodes on the main line of every game tree; values are unescaped."""
    games: list[list[Node]] = []
    trees: list[_Tree] = []  # those that are open; a stack, for variations may nest deeply
    for line, mark, name, values in _tokens(text):
        tree = trees[-1] if trees else _Tree(is_main=True, has_nodes=True)
        fault = ""
        if mark == "(":
            fault = "" if tree.has_nodes else "a game tree begins with a node ';'"
            trees.append(_Tree(tree.is_main and not tree.has_branches))
            tree.has_branches = True
            games += [] if len(trees) > 1 else [[]]
        elif not trees:
            fault = f"{mark or name!r} outside of a game tree"
        elif mark == ")":
            fault = "" if trees.pop().has_nodes else "an empty game tree"
        elif tree.has_branches or not (mark or tree.has_nodes):
            fault = f"{mark or name!r} outside of a node sequence"
        elif mark == ";":
            tree.has_nodes, node = True, Node()
            games[-1] += [node] if tree.is_main else []
        else:
            # Before FF[4] small letters could stand between: SiZe is SZ.
            node.setdefault(re.sub("[^A-Z]", "", name), []).extend(values)
        if fault:
            raise UserError(f"line {line}: {fault}")
    return games  # a file that ends without its brackets says enough


def decode_sgf(data: bytes) -> str:
    """Turn a file into text: UTF-8, or what CA says, or Latin-1, which SGF takes for granted."""
    declared = re.search(rb"CA\s*\[([^\]]{1,40})\]", data)
    encodings = ["utf-8-sig", declared[1].decode("latin-1").strip() if declared else "latin-1"]
    for encoding in encodings:
        with suppress(ValueError, LookupError):
            return data.decode(encoding)
    return data.decode("latin-1")


def _tokens(text: str) -> Iterator[tuple[int, str, str, list[str]]]:
    """Yield line number and brackets, semicolons, or properties with their values."""
    begin = re.search(r"\(\s*;", text)  # some files begin with a letter or a mail header
    if begin is None:
        raise UserError("this is no SGF: no game begins with '(;'")
    place, line = begin.start(), text.count("\n", 0, begin.start()) + 1
    while token := _TOKEN.match(text, place):
        mark, name, values = token.groups(default="")
        found = [_unescape(value) for value in _BRACKET.findall(values)]
        yield line, mark, name, found
        line += text.count("\n", place, token.end())
        place = token.end()
    if rest := text[place : place + 20]:
        raise UserError(f"line {line}: expected a property with its [value], found {rest!r}")


def _unescape(value: str) -> str:
    return re.sub(r"\\(\r\n|\n\r|.)", lambda m: m[1].strip("\r\n"), value, flags=re.DOTALL)


def simple_text(value: str) -> str:
    """Read a text of one line."""
    return re.sub(r"\r\n|\n\r|\s", " ", value).strip()


def write_property(name: str, value: str) -> str:
    """Write a property; a long text is broken where the reader will join it again."""
    lines = [f"{name}["]
    for unit in re.findall(r"\\.|.", re.sub(r"([\\\]])", r"\\\1", simple_text(value))):
        if len(lines[-1]) + len(unit) >= WIDTH:
            lines[-1] += "\\"
            lines.append("")
        lines[-1] += unit
    return "\n".join(lines) + "]"


def wrap(parts: Iterable[str]) -> str:
    """Write properties one behind another, in lines of less than 80 columns."""
    lines = [""]
    for part in parts:
        head, *rest = part.split("\n")
        if len(lines[-1]) + len(head) > WIDTH:
            lines.append("")
        lines[-1] += head
        lines += rest
    return "\n".join(lines) + "\n"
