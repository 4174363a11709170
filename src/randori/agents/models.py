"""Models on disk and the games they are for: the bridge between networks, runs and games."""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from randori.errors import UserError
from randori.games.game import Game
from randori.networks.build import build
from randori.networks.config import NetworkConfig, Signature
from randori.runs.checkpoint import Model, read_model
from randori.runs.config import from_dict, to_dict


def signature_of(game: Game) -> Signature:
    """Return what a game asks of a network."""
    height, width = game.shape
    owned = game.stone_planes * game.cells if game.owner_words else 0
    return Signature(game.num_planes, height, width, game.factor_sizes, owned)


def model_info(game: Game, config: NetworkConfig, **counters: Any) -> dict[str, Any]:
    """Describe a model, so that its file alone is enough to use it."""
    return {"game": game.identity, "network": to_dict(config), **counters}


def load_network(game: Game, path: Path) -> nn.Module:
    """Read a model from a run folder, a checkpoint or a file; it must be for this game."""
    model = read_model(path)
    trained_for = model.info.get("game")
    if trained_for != game.identity:
        raise UserError(f"{path} holds a model for {trained_for}, not for {game.identity}")
    return network_of(game, model)


def network_of(game: Game, model: Model) -> nn.Module:
    """Build the network of a model and give it its weights."""
    config = from_dict(NetworkConfig, model.info.get("network"), str(model.path))
    with torch.random.fork_rng(devices=[]):  # whoever loads a model keeps its dice
        network = build(config, signature_of(game))
    tensors = {name: torch.tensor(array) for name, array in model.weights.items()}
    try:
        network.load_state_dict(tensors)
    except RuntimeError as error:
        detail = str(error).splitlines()[-1].strip()
        raise UserError(f"{model.path} does not fit its own network: {detail}") from None
    return network.eval()
