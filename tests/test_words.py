import pytest

from randori.words import are, some


@pytest.mark.parametrize(
    ("count", "noun", "words"),
    [
        (0, "game", "0 games"),
        (1, "game", "1 game"),
        (2, "ply", "2 plies"),
        (1, "ply", "1 ply"),
        (3, "loss", "3 losses"),
        (4, "class", "4 classes"),
        (2, "match", "2 matches"),
        (2, "box", "2 boxes"),
        (2, "entry", "2 entries"),
        (2, "day", "2 days"),
        (1.0, "minute", "1.0 minute"),
        (0.5, "minute", "0.5 minutes"),
    ],
)
def test_one_thing_and_more(count: float, noun: str, words: str) -> None:
    assert some(count, noun) == words


def test_one_is_and_others_are() -> None:
    assert [are(count) for count in (0, 1, 2)] == ["are", "is", "are"]


def test_the_number_may_be_shown_in_another_way() -> None:
    assert some(12_345, "step", "12.3 k") == "12.3 k steps"
    assert some(1.0, "minute", "1") == "1 minute"
