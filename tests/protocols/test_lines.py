"""Lines that a thread reads: their order, their end, and the word that hurries."""

import os

from randori.protocols.lines import Lines, lines_of


def test_lines_come_in_order_and_then_end() -> None:
    lines = Lines([b"a\n", b"\xff b", b"c"])
    assert lines.arrives_within(5)
    assert [lines.take() for _ in range(4)] == ["a\n", "\ufffd b", "c", None]


def test_an_interrupt_is_for_the_lines_before_it_whenever_they_are_taken() -> None:
    """All of it may be there before anybody has started on the first line."""
    lines = Lines([b"genmove b\n", b" # interrupt\r\n", b"genmove w\n"])
    assert not lines.is_hurried, "nothing was taken yet"
    assert lines.take() == "genmove b\n"
    assert lines.arrives_within(5)
    assert lines.is_hurried
    assert lines.take() == "genmove w\n"
    assert not lines.is_hurried
    assert lines.take() is None


def test_a_late_interrupt_hurries_nobody_else() -> None:
    reading, writing = os.pipe()
    lines = Lines(lines_of(reading))
    os.write(writing, b"genmove b\n")
    assert lines.take() == "genmove b"
    os.write(writing, b"# interr")
    os.write(writing, b"upt\ngenmove w\n")
    assert lines.take() == "genmove w"
    assert not lines.is_hurried
    os.close(writing)
    assert lines.take() is None
    os.close(reading)
