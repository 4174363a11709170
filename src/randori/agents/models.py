"""Models on disk and the games they are for: the bridge between networks, runs and games."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from randori.agents.shapes import export_shapes
from randori.errors import UserError
from randori.games.game import Game
from randori.networks.build import build
from randori.networks.config import NetworkConfig, Signature, brought_up_to_date
from randori.networks.resnet import ResNet
from randori.runs.checkpoint import Model, read_model, write_model
from randori.runs.config import from_dict, to_dict

SHIPPED = Path(__file__).parent.parent / "models"
"""Where the models that come with Randori lie."""


def shipped_model(game: Game) -> Path:
    """Return the file of the model that comes with Randori for this game."""
    path = SHIPPED / f"{game.identity.replace(':', '-').replace('=', '')}.safetensors"
    if not path.is_file():
        raise UserError(
            f"no model for {game.identity} comes with Randori: train one and name it, as in "
            "az:runs/NAME"
        )
    return path


def export_model(source: Path, target: Path) -> int:
    """Write a model for play alone, in half the space; return its size in bytes.

    What only training needs is left out, and matrices are stored with 16 bits a weight.
    """
    model = read_model(source)
    if "sets" in model.info:  # local shapes, not a network
        export_shapes(model, target)
        return target.stat().st_size
    shape = replace(stored_config(model), reply=False, ownership=False)
    weights = {
        name: array.astype(np.float16) if array.ndim > 1 else array
        for name, array in without_side_tasks(model.weights).items()
    }
    write_model(target, weights, {**model.info, "network": to_dict(shape)})
    return target.stat().st_size


def without_side_tasks(weights: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Leave out the heads that only training needs."""
    side = tuple(f"{part}." for part in ResNet.training_only)
    return {name: array for name, array in weights.items() if not name.startswith(side)}


def signature_of(game: Game) -> Signature:
    """Return what a game asks of a network."""
    height, width = game.shape
    owned = game.stone_planes * game.cells if game.owner_words else 0
    parts = tuple(map(tuple, game.parts.tolist()))
    return Signature(
        game.num_planes, height, width, game.factor_sizes, owned, tuple(game.spots.tolist()),
        game.subheads, parts, tuple(game.marks.tolist()), game.most_marked, game.compact_width,
    )  # fmt: skip


def model_info(game: Game, config: NetworkConfig, **counters: Any) -> dict[str, Any]:
    """Describe a model, so that its file alone is enough to use it."""
    return {"game": game.identity, "network": to_dict(config), **counters}


def stored_config(model: Model) -> NetworkConfig:
    """Return the shape of a model's network."""
    stored = brought_up_to_date(model.info.get("network"))
    return from_dict(NetworkConfig, stored, str(model.path))


def load_network(game: Game, path: Path) -> nn.Module:
    """Read a model from a run folder, a checkpoint or a file; it must be for this game."""
    return network_of(game, read_model(path))


def network_of(game: Game, model: Model) -> nn.Module:
    """Build the network of a model, which must be for this game, and give it its weights."""
    trained_for = model.info.get("game")
    if trained_for != game.identity:
        raise UserError(f"{model.path} holds a model for {trained_for}, not for {game.identity}")
    if not isinstance(model.info.get("network"), dict):
        what = "shapes: use shapes:PATH" if "theta" in model.weights else "something else"
        raise UserError(f"{model.path} holds no network but {what}")
    config = stored_config(model)
    with torch.random.fork_rng(devices=[]):  # whoever loads a model keeps its dice
        network = build(config, signature_of(game))
    tensors = {name: torch.tensor(array).float() for name, array in model.weights.items()}
    try:
        network.load_state_dict(tensors)
    except RuntimeError as error:
        detail = str(error).splitlines()[-1].strip()
        raise UserError(f"{model.path} does not fit its own network: {detail}") from None
    return network.eval()
