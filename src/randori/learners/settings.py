"""All settings of an AlphaZero run: frozen values that `--set` changes and `config.json` stores."""

from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Literal

from randori.errors import UserError
from randori.networks.config import NetworkConfig
from randori.runs.config import override
from randori.runs.shards import window_after
from randori.search.search import SearchConfig

FIXED = ("train.optimizer",)
"""Settings that the optimiser's memory has the shape of."""


def expect_least(config: object, least: float, *names: str) -> None:
    """Refuse settings below `least`; names may be dotted."""
    for name in names:
        if (value := attrgetter(name)(config)) < least:
            raise ValueError(f"{name} must be at least {least}, not {value}")


def expect_above_zero(config: object, *names: str) -> None:
    """Refuse settings that are 0 or below."""
    for name in names:
        if (value := getattr(config, name)) <= 0:
            raise ValueError(f"{name} must be above 0, not {value}")


def expect_share(config: object, *names: str) -> None:
    """Refuse settings that are no share of 1."""
    for name in names:
        if not 0 <= (value := getattr(config, name)) <= 1:
            raise ValueError(f"{name} must be from 0 to 1, not {value}")


@dataclass(frozen=True)
class SelfPlayConfig:
    """How games are played for training."""

    slots: int = 128
    """games a group plays side by side: the batch of the network"""
    threads: int = 0
    """threads with two groups each; 0 plays one group in the learner's own thread; -1 stands for
    all cores but two where there is a GPU, and for 0 where there is none"""
    search: SearchConfig = field(default_factory=SearchConfig)
    """a full search"""
    fast_simulations: int = 40
    """visits of a search that only moves the game on (playout cap randomization)"""
    full_share: float = 0.25
    """how often a search is full; only those get noise and become training rows"""
    noise_alpha: float = 0.0
    """Dirichlet noise at the root; 0 stands for 10 / number of legal moves"""
    noise_share: float = 0.25
    """weight of the noise against the prior"""
    temperature: tuple[tuple[int, float], ...] = ((0, 1.0), (20, 0.2))
    """(ply, temperature) points, straight lines between them"""
    keep_tree: bool = True
    """go on with what the last search found below the move that was made"""
    forced: float = 0.0
    """k of forced playouts: a full search gives a tried move √(k·P·N) visits, and takes back from
    the target what only that explains (KataGo: 2); 0 leaves it"""
    gumbel: int = 0
    """moves that a Gumbel root begins with in a full search (the paper: 16); 0 leaves it"""
    surprise: float = 0.0
    """share of the rows' weight that goes by how far the search moved from the network's policy,
    instead of evenly (KataGo: 0.5)"""
    archive: float = 0.0
    """share of games that branch off from an earlier one, by a few random moves"""
    random_share: float = 0.0
    """share of games that begin with random moves from the first position"""
    random_plies: int = 16
    """how many random moves these begin with, at most: any number is as likely, but a move that
    would end the game is not made"""
    balance: float = 0.0
    """leave out games that begin elsewhere than at the first position and are decided there by the
    network's value v: this share of them, times v²"""
    deblunder: float = 0.0
    """where a move was drawn that gives away more of the value than this, by the opinion of the
    search that it was drawn from, the value of the positions before it is learnt from what the best
    move there was worth, not from how the game ended; 0 leaves it"""
    turns: Literal["none", "random"] = "none"
    """random: show the network every position under a random symmetry (AlphaGo Zero)"""
    byte_logits: bool = True
    """let a GPU send logits as bytes where there are many: less memory for threads to go through,
    and priors that are a little less exact"""

    def __post_init__(self) -> None:
        if not 0.0 < self.full_share <= 1.0:
            raise ValueError(f"full_share must be above 0 and at most 1, not {self.full_share}")
        expect_least(self, 1, "slots", "fast_simulations")
        expect_least(self, -1, "threads")
        expect_least(self, 0, "random_plies", "search.exploration", "search.cache_mb")
        expect_least(self, 0, "forced", "gumbel", "noise_alpha")
        expect_share(self, "noise_share", "surprise", "archive", "random_share")
        if not 0.0 <= self.balance < 1.0:
            raise ValueError(f"balance must be from 0 to below 1, not {self.balance}")
        if not 0.0 <= self.deblunder <= 2.0:
            raise ValueError(f"deblunder must be from 0 to 2, not {self.deblunder}")
        if self.archive + self.random_share > 1.0:
            raise ValueError("archive and random_share must not be above 1 together")
        if self.forced and self.gumbel:
            raise ValueError("a Gumbel root has no forced playouts: set one of them to 0")
        if not self.temperature or min(value for _, value in self.temperature) < 0.0:
            raise ValueError(f"temperature needs points of 0 or more, not {self.temperature}")


@dataclass(frozen=True)
class TrainConfig:
    """How the network learns from the rows."""

    batch: int = 256
    """rows a gradient step"""
    reuse: float = 6.0
    """how often a row is drawn on average: this paces the learner"""
    learning_rate: float = 2e-3
    """what a gradient step is scaled by at its most"""
    final_share: float = 0.05
    """share of the learning rate at the end of the run, where it has one"""
    schedule: Literal["cosine", "constant"] = "cosine"
    """how it falls to that share; constant does not"""
    warm_up_steps: int = 100
    """steps in which the learning rate rises from nothing"""
    optimizer: Literal["adamw", "muon", "adam", "sgd"] = "adamw"
    """muon evens out the steps of 3×3 convolutions from 16 channels or more, and leaves all else to
    adamw; sgd has momentum 0.9"""
    l2: float = 1e-4
    """weight of ‖θ‖² in the loss; for adamw and muon the decoupled decay"""
    value_weight: float = 1.0
    """weight of (v − z)², or of the cross entropy of win, draw and loss, against the policy's"""
    reply_weight: float = 0.15
    """the same for the opponent's answer, where network.reply is on"""
    owner_weight: float = 0.15
    """the same for who has which cell in the end, where network.ownership is on"""
    search_share: float = 0.5
    """the value target z is the game's result mixed with the search's own value by this share"""
    clip: float = 5.0
    """largest norm of a gradient; 0 leaves it alone"""
    average: int = 0
    """the weights that play and are stored are a running mean over about so many gradient steps
    (fewer at first); 0 stands for the newest"""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """of the network in a gradient step: auto is bf16 where the device has the arithmetic for it;
    weights and losses are fp32"""

    def __post_init__(self) -> None:
        expect_least(self, 2, "batch")
        expect_above_zero(self, "reuse", "learning_rate")
        expect_share(self, "final_share", "search_share")
        expect_least(self, 0, "warm_up_steps", "l2", "value_weight", "reply_weight", "owner_weight")
        expect_least(self, 0, "clip", "average")


@dataclass(frozen=True)
class EvaluationConfig:
    """Regular matches against opponents that never change."""

    opponents: tuple[str, ...] = ("random", "uct:simulations=100")
    """agents to play against"""
    every_minutes: float = 2.0
    """minutes between evaluations"""
    every_iterations: int = 0
    """iterations between evaluations instead of minutes, where above 0"""
    games: int = 20
    """games a match"""
    simulations: int = 50
    """visits of the learner's searches in them"""

    def __post_init__(self) -> None:
        expect_least(self, 1, "games", "simulations")
        expect_least(self, 0, "every_minutes", "every_iterations")


@dataclass(frozen=True)
class GateConfig:
    """Whether new weights must beat the old ones before they play."""

    threshold: float = 0.0
    """score that a candidate needs (paper D 0.6, AlphaGo Zero 0.55); 0 takes every one"""
    every: int = 1
    """iterations between candidates"""
    games: int = 40
    """games of a match between the two"""
    simulations: int = 50
    """visits of its searches"""
    restore: bool = False
    """a candidate that fails is thrown away and learning starts from the old weights (paper D)"""

    def __post_init__(self) -> None:
        expect_least(self, 1, "every", "games", "simulations")
        expect_share(self, "threshold")


@dataclass(frozen=True)
class StopConfig:
    """When a run is complete: the first that is reached; none of them runs until Ctrl-C."""

    minutes: float | None = None
    """of training, in all"""
    iterations: int | None = None
    """of self-play and learning, in all"""
    games: int | None = None
    """of self-play, in all"""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and value <= 0:
                raise ValueError(f"{name} must be above 0, not {value}")


@dataclass(frozen=True)
class AlphaZeroConfig:
    """A whole training run; the defaults suit a laptop."""

    network: NetworkConfig = field(default_factory=NetworkConfig)
    selfplay: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    gate: GateConfig = field(default_factory=GateConfig)
    stop: StopConfig = field(default_factory=StopConfig)
    stages: tuple[tuple[float, str], ...] = ()
    """a curriculum: from each share of the run on, the settings of its text ("train.l2=0 window=9")
    hold as well; network.blocks may only grow, train.optimizer stays"""
    window: int = 200_000
    """newest rows that are learnt from, at most"""
    first_window: int = 0
    """the window grows from here as N^0.75 with the number N of rows so far; 0 has it whole, and so
    has what is not below `window`"""
    iteration_rows: int = 2_000
    """new rows an iteration"""
    warm_up_rows: int = 2_000
    """rows before the first gradient step"""
    checkpoint_minutes: float = 1.0
    """minutes between checkpoints"""
    checkpoint_iterations: int = 0
    """iterations between checkpoints instead of minutes, where above 0"""
    runtime: Literal["auto", "cuda", "openvino", "torch"] = "auto"
    """what runs the network in self-play"""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """of the network in self-play: auto is bf16 on CUDA and where OpenVINO has a CPU made for it"""
    tensorboard: bool = False
    """write the metrics as TensorBoard events too"""
    deterministic: bool = False
    """on one machine, one seed gives the same weights bit for bit, also across kills and resumes:
    checkpoints and the learning rate go by iterations, searches start anew at checkpoints, and
    gradient steps are taken on the CPU"""

    def __post_init__(self) -> None:
        if self.deterministic and self.selfplay.threads:
            raise ValueError("a deterministic run needs selfplay.threads=0")
        if self.deterministic and self.selfplay.turns != "none":
            raise ValueError("a deterministic run needs selfplay.turns=none")
        if self.deterministic and not self.checkpoint_iterations:
            raise ValueError("a deterministic run needs checkpoint_iterations above 0")
        if self.iteration_rows < 1 or self.window < self.iteration_rows:
            raise ValueError("expected 1 <= iteration_rows <= window")
        expect_least(self, 0, "first_window", "warm_up_rows")
        expect_least(self, 0, "checkpoint_minutes", "checkpoint_iterations")
        if self.stages and not any(vars(self.stop).values()):
            raise ValueError("stages are shares of the run, so it needs an end: --minutes")
        shares = [share for share, _ in self.stages]
        if shares != sorted(shares) or not all(0 <= share < 1 for share in shares):
            raise ValueError(f"stages begin at rising shares from 0 to below 1, not {shares}")
        for _, text in self.stages:
            for assignment in text.split():
                key = assignment.partition("=")[0].strip()
                shapes_network = key.startswith("network.") and key != "network.blocks"
                if key.startswith(("stages", "stop.", *FIXED)) or shapes_network:
                    raise ValueError(f"{key} cannot change in a stage")
        blocks = self.network.blocks
        for share, _ in self.stages:
            deeper = self.staged(share).network.blocks
            if deeper < blocks:
                raise ValueError(
                    f"network.blocks may grow in a stage, not go from {blocks} to {deeper}"
                )
            blocks = deeper

    def staged(self, progress: float) -> "AlphaZeroConfig":
        """Return the settings that hold at a share of the run."""
        due = [text for share, text in self.stages if share <= progress]
        assignments = [one for text in due for one in text.split()]
        try:
            return override(replace(self, stages=()), assignments) if assignments else self
        except UserError as error:
            raise ValueError(f"stages: {str(error).removeprefix('--set: ')}") from None

    def next_stage(self, progress: float) -> float:
        """Return the share of the run at which the next stage begins; 1 if there is none."""
        return min((share for share, _ in self.stages if share > progress), default=1.0)

    def newest(self, rows: int) -> int:
        """Return how many of the newest rows are learnt from, after so many in all."""
        return window_after(rows, self.window, self.first_window)
