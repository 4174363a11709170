"""Random play under random options: whatever the rules, no law is broken."""

from hypothesis import given, settings
from hypothesis import strategies as st

from randori.games import load_game
from randori.games.check import check

GO = st.builds(
    "go:size={},ko={},suicide={},eyes={},komi={},cap={}".format,
    st.integers(2, 5),
    st.sampled_from(["positional", "situational", "simple"]),
    st.sampled_from(["yes", "no"]),
    st.sampled_from(["fill", "spare", "spare-safe"]),
    st.integers(-6, 12).map(lambda half: half / 2),
    st.integers(1, 60),
)
CHOKO = st.builds(
    "choko:extra_capture={},cap={}".format,
    st.sampled_from(["mandatory", "optional"]),
    st.integers(1, 120),
)
SHOBU = st.builds("shobu:cap={}".format, st.integers(1, 60))
OTHELLO = st.sampled_from(["othello:size=4", "othello:size=6", "othello"])
CONNECT4 = st.builds("connect4:width={},height={}".format, st.integers(4, 7), st.integers(4, 6))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(spec=st.one_of(GO, GO, CHOKO, SHOBU, OTHELLO, CONNECT4), seed=st.integers(0, 2**32))
def test_no_law_is_broken(spec: str, seed: int) -> None:
    report = check(load_game(spec), games=1, seed=seed, compiled=False)
    assert report.notes == ("compiled: left out",)
