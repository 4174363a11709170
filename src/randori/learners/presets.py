"""Named settings: what a preset changes against the defaults, as `--set` would."""

TRICKS = (
    "network.value=wdl",
    "network.reply=true",
    "selfplay.archive=0.2",
)
"""What paid on Connect 4 (`docs/results/ablation.md`), beside what the defaults hold already."""

VARIETY = (
    "selfplay.random_share=0.3",
    "selfplay.balance=0.9",
    "train.average=200",
)
"""For long runs, which would otherwise see the same lines again and again as they grow sure; of the
games that begin at random, few that are decided from the start."""

MUON = (
    "train.optimizer=muon",
    "train.learning_rate=0.01",
    "train.l2=0.1",
)
"""What learns most from the same rows (`docs/results/ablation.md`)."""

PRESETS: dict[str, tuple[str, ...]] = {
    "laptop": (
        *TRICKS,
        *VARIETY,
        *MUON,
        "network.blocks=4",
        "network.channels=32",
        "network.policy_channels=16",
        "network.value_channels=16",
        "train.batch=512",
        "iteration_rows=4000",
        "warm_up_rows=4000",
        "first_window=40000",
        "window=600000",
        "evaluation.every_minutes=5",
    ),
    "demo": (
        *TRICKS,
        "network.blocks=3",
        "network.channels=32",
        "network.policy_channels=16",
        "network.value_channels=16",
        "selfplay.slots=128",
        "selfplay.search.simulations=120",
        "selfplay.fast_simulations=24",
        "train.batch=256",
        "train.reuse=8",
        "iteration_rows=1500",
        "warm_up_rows=1500",
        "window=60000",
        "evaluation.every_minutes=1",
        "checkpoint_minutes=0.5",
        "stop.minutes=5",
    ),
    "gpu": (
        *TRICKS,
        *VARIETY,
        *MUON,
        "selfplay.slots=1024",
        "selfplay.threads=-1",
        "train.batch=2048",
        "train.reuse=8",
        "iteration_rows=50000",
        "warm_up_rows=50000",
        "first_window=500000",
        "window=3000000",
        "checkpoint_minutes=2",
        "evaluation.every_minutes=5",
    ),
    "paper-shobu": (
        "network.channels=96",
        "network.policy=dense",
        "network.hidden=48",
        "selfplay.search.simulations=400",
        "selfplay.fast_simulations=100",
        "selfplay.noise_alpha=0.22",
        "selfplay.temperature=[[0,3],[3,3],[4,1],[8,1],[18,0]]",
        "train.batch=256",
        "train.optimizer=adam",
        "train.value_weight=1.5",
        "train.l2=3e-5",
        "train.search_share=0",
        "window=50000",
    ),
    "paper-othello": (
        "network.kind=cnn",
        "selfplay.search.simulations=50",
        "selfplay.full_share=1.0",
        "train.batch=64",
        "train.optimizer=adam",
        "train.l2=0",
        "train.search_share=0",
        "gate.threshold=0.6",
        "gate.restore=true",
        "iteration_rows=6000",
        "warm_up_rows=6000",
    ),
    "alphago-zero": ("selfplay.full_share=1.0", "train.search_share=0", "gate.threshold=0.55"),
    "alphazero": ("selfplay.full_share=1.0", "train.search_share=0"),
}
