"""All settings of an AlphaZero run: frozen values that `--set` changes and `config.json` stores."""

from dataclasses import dataclass, field, replace
from typing import Literal

from randori.errors import UserError
from randori.learners.selfplay import SelfPlayConfig
from randori.learners.trainer import TrainConfig
from randori.networks.config import NetworkConfig
from randori.runs.config import override

FIXED = ("train.optimizer",)
"""Settings that the optimiser's memory has the shape of."""


WINDOW_PACE = 0.4
"""How fast a growing window grows at first, in rows a row (KataGo's figure)."""


def _expect_positive(config: object, *names: str) -> None:
    for name in names:
        if getattr(config, name) < 1:
            raise ValueError(f"{name} must be at least 1, not {getattr(config, name)}")


@dataclass(frozen=True)
class EvaluationConfig:
    """Regular matches against opponents that never change."""

    opponents: tuple[str, ...] = ("random", "uct:simulations=100")
    every_minutes: float = 2.0
    """minutes between evaluations"""
    every_iterations: int = 0
    """iterations between evaluations instead of minutes, where above 0"""
    games: int = 20
    """games a match"""
    simulations: int = 50
    """visits of the learner's searches in them"""

    def __post_init__(self) -> None:
        _expect_positive(self, "games", "simulations")


@dataclass(frozen=True)
class GateConfig:
    """Whether new weights must beat the old ones before they play."""

    threshold: float = 0.0
    """score that a candidate needs (paper D 0.6, AlphaGo Zero 0.55); 0 takes every one"""
    every: int = 1
    """iterations between candidates"""
    games: int = 40
    simulations: int = 50
    restore: bool = False
    """a candidate that fails is thrown away and learning starts from the old weights (paper D)"""

    def __post_init__(self) -> None:
        _expect_positive(self, "every", "games", "simulations")


@dataclass(frozen=True)
class StopConfig:
    """When a run is complete: the first that is reached; none of them runs until Ctrl-C."""

    minutes: float | None = None
    iterations: int | None = None
    games: int | None = None

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
    """the window grows from here as N^0.75 with the number N of rows so far; 0 has it whole"""
    iteration_rows: int = 2_000
    """new rows an iteration"""
    warm_up_rows: int = 2_000
    """rows before the first gradient step"""
    checkpoint_minutes: float = 1.0
    """minutes between checkpoints"""
    checkpoint_iterations: int = 0
    """iterations between checkpoints instead of minutes, where above 0"""
    runtime: Literal["auto", "cuda", "openvino", "torch"] = "auto"
    """what runs the network in self-play: auto, cuda, openvino or torch"""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """auto, fp32 or bf16"""
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
        if not 0 <= self.first_window <= self.window:
            raise ValueError("expected 0 <= first_window <= window")

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
        first = self.first_window
        if not first:
            return self.window
        grown = first * (1 + WINDOW_PACE * ((rows / first) ** 0.75 - 1) / 0.75)
        return int(min(self.window, max(first, grown)))
