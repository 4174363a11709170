"""Pgx's games under mctx's search, arranged as in Pgx's own AlphaZero example (for peers.py).

Two departures, both in their favour on a processor: the batch is split over one jax device a core
(peers.py asks for them before jax starts), and XLA may fuse the whole network into its YNNPACK
library. By default it runs the convolutions one by one on a single core; together the two make
self-play more than twice as fast.
"""

import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import mctx
import pgx
from pgx.experimental import auto_reset

Array = jax.Array
Params = dict[str, Any]
Layer = tuple[Array, Array]
Network = Callable[[Params, Array], tuple[Array, Array]]

LONGEST_OPENING = 60  # plies; Othello's length, so that the games stand at every stage
FUSIONS = ("DOT", "ELTWISE", "INDIVIDUAL_CONVOLUTION")
CPU_OPTIONS = {
    "xla_cpu_experimental_ynn_fusion_type": ",".join(f"LIBRARY_FUSION_TYPE_{f}" for f in FUSIONS)
}


def selfplay(
    game: str,
    blocks: int,
    channels: int,
    batch: int | str,
    simulations: int,
    precision: str,
    search: str,
    seconds: float,
) -> dict[str, Any]:
    """Measure self-play, and the network alone at the same batch."""
    env = pgx.make(game)
    params = init_resnet(env, blocks, channels, precision)
    run = searcher(env, resnet, simulations, search)
    usual = [32, 64, 128] if is_cpu() else [4096, 16384]
    batches = [batch] if isinstance(batch, int) else usual
    tried: dict[int, float] = {}
    for size in batches:
        try:
            moves_per_s = selfplay_rate(env, params, run, size, seconds / len(batches))
        except jax.errors.JaxRuntimeError as error:
            if not tried or "RESOURCE_EXHAUSTED" not in str(error):
                raise
            break  # too large for this device's memory
        tried[size] = moves_per_s * (simulations + 1)
    best = max(tried, key=lambda size: tried[size])
    bare = network_rate(env, params, best)
    return {
        "batch": best,
        "evaluations_per_s": tried[best],
        "bare_evaluations_per_s": bare,
        "ratio": tried[best] / bare,
        "tried": tried,
        "device": device_name(),
    }


def tree(game: str, batch: int, simulations: int, search: str, seconds: float) -> dict[str, Any]:
    """Measure whole searches over a network that answers nothing but zeros."""
    env = pgx.make(game)

    def zeros(params: Params, observation: Array) -> tuple[Array, Array]:
        size = observation.shape[0]
        return jnp.zeros((size, env.num_actions)), jnp.zeros(size)

    run = searcher(env, zeros, simulations, search)
    find = jit(lambda key, state: run({}, key, state).action_weights)
    rate = rounds_per_second([partial(find, *games) for games in openings(env, batch)], seconds)
    return {
        "microseconds_per_simulation": 1e6 / (rate * batch * simulations),
        "simulations_per_s": rate * batch * simulations,
        "device": device_name(),
    }


def selfplay_rate(
    env: pgx.Env, params: Params, run: Callable[..., Any], batch: int, seconds: float
) -> float:
    """Measure moves per second, over all games of the batch."""
    moves = 1 if is_cpu() else 4  # in one call; a processor needs seconds for a move

    def move(params: Params, state: pgx.State, key: Array) -> tuple[pgx.State, Any]:
        search_key, reset_key = jax.random.split(key)
        found = run(params, search_key, state)
        after, ended = advance(env, state, found.action, reset_key)
        return after, (state.observation, found.action_weights, after.rewards, ended)

    @jit
    def play(params: Params, key: Array, state: pgx.State) -> tuple[Array, pgx.State, Any]:
        key, *move_keys = jax.random.split(key, moves + 1)
        state, rows = jax.lax.scan(partial(move, params), state, jnp.stack(move_keys))
        return key, state, rows  # the rows are what training would keep

    def player(key: Array, state: pgx.State) -> Callable[[], Any]:
        placed = jax.device_put(params, key.device)

        def call() -> Any:
            nonlocal key, state
            key, state, rows = play(placed, key, state)
            return rows

        return call

    calls = [player(*games) for games in openings(env, batch)]
    return rounds_per_second(calls, seconds) * moves * batch


def network_rate(env: pgx.Env, params: Params, batch: int, seconds: float = 5.0) -> float:
    """Measure evaluations per second of the network alone, looped on the device."""
    loops = 4 if is_cpu() else 64

    @jit
    def loop(params: Params, observation: Array) -> Array:
        def body(_: int, echo: Array) -> Array:
            # Each round depends on the last, or the compiler would hoist it out of the loop.
            logits, value = resnet(params, observation + echo[:, None, None, None])
            return 1e-6 * (value + logits.mean(-1))

        return jax.lax.fori_loop(0, loops, body, jnp.zeros(observation.shape[0]))

    calls = [
        partial(loop, jax.device_put(params, key.device), state.observation)
        for key, state in openings(env, batch)
    ]
    return rounds_per_second(calls, seconds) * loops * batch


def init_resnet(env: pgx.Env, blocks: int, channels: int, precision: str) -> Params:
    """Draw the weights of a ResNet whose batch norms are folded into its convolutions.

    mctx's cost grows with the deepest path in the batch; under these weights Othello's nodes lie
    10 plies deep on average after 100 simulations, the deepest of 64 trees about 40.
    """
    keys = iter(jax.random.split(jax.random.PRNGKey(0), 2 * blocks + 6))
    dtype = {"fp32": jnp.float32, "bf16": jnp.bfloat16}[precision]

    def layer(*shape: int, gain: float = 2.0) -> Layer:
        fan_in = jnp.prod(jnp.array(shape[:-1]))
        weight = jax.random.normal(next(keys), shape) * jnp.sqrt(gain / fan_in)
        return weight.astype(dtype), jnp.zeros(shape[-1], dtype)

    height, width, planes = env.observation_shape
    cells, square = height * width, (3, 3, channels, channels)
    return {
        "stem": layer(3, 3, planes, channels),
        "blocks": [(layer(*square), layer(*square, gain=1 / blocks)) for _ in range(blocks)],
        "policy_conv": layer(1, 1, channels, 2),
        "policy": layer(2 * cells, env.num_actions, gain=1.0),
        "value_conv": layer(1, 1, channels, 1),
        "value_hidden": layer(cells, channels),
        "value": layer(channels, 1, gain=1.0),
    }


def resnet(params: Params, observation: Array) -> tuple[Array, Array]:
    """Give logits [B, A] and values [B] from the side to move, heads as in Pgx's example."""

    def conv(x: Array, layer: Layer) -> Array:
        form = ("NHWC", "HWIO", "NHWC")
        kernel, bias = layer
        return bias + jax.lax.conv_general_dilated(
            x, kernel, (1, 1), "SAME", dimension_numbers=form
        )

    def dense(x: Array, layer: Layer) -> Array:
        return x.reshape(x.shape[0], -1) @ layer[0] + layer[1]

    relu = jax.nn.relu
    x = relu(conv(observation.astype(params["stem"][0].dtype), params["stem"]))
    for first, second in params["blocks"]:
        x = relu(x + conv(relu(conv(x, first)), second))
    logits = dense(relu(conv(x, params["policy_conv"])), params["policy"])
    hidden = dense(relu(conv(x, params["value_conv"])), params["value_hidden"])
    value = jnp.tanh(dense(relu(hidden), params["value"]))[:, 0]
    return logits.astype(jnp.float32), value.astype(jnp.float32)


def searcher(env: pgx.Env, network: Network, simulations: int, search: str) -> Callable[..., Any]:
    """Build `(params, key, state) -> mctx.PolicyOutput` over a batch of games."""

    def recurrent(params: Params, key: Array, action: Array, state: pgx.State) -> tuple[Any, Any]:
        mover = state.current_player
        state = jax.vmap(env.step)(state, action)
        logits, value = network(params, state.observation)
        output = mctx.RecurrentFnOutput(
            reward=state.rewards[jnp.arange(mover.shape[0]), mover],
            discount=jnp.where(state.terminated, 0.0, -1.0),
            prior_logits=jnp.where(state.legal_action_mask, logits, jnp.finfo(logits.dtype).min),
            value=jnp.where(state.terminated, 0.0, value),
        )
        return output, state

    mix = mctx.qtransform_completed_by_mix_value
    gumbel = partial(mctx.gumbel_muzero_policy, qtransform=mix)
    policy = {"gumbel": gumbel, "puct": mctx.muzero_policy}[search]

    def run(params: Params, key: Array, state: pgx.State) -> Any:
        logits, value = network(params, state.observation)
        root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state)
        barred = ~state.legal_action_mask
        return policy(params, key, root, recurrent, simulations, invalid_actions=barred)

    return run


def advance(env: pgx.Env, state: pgx.State, action: Array, key: Array) -> tuple[Any, Array]:
    """Play a move in every game and restart those that ended; also tell which did.

    `auto_reset` leaves `terminated` set on the fresh position, where every step is a no-op: the
    flag is cleared so that the next search sees a game.
    """
    keys = jax.random.split(key, action.shape[0])
    state = jax.vmap(auto_reset(env.step, env.init))(state, action, keys)
    return state.replace(terminated=jnp.zeros_like(state.terminated)), state.terminated


def openings(env: pgx.Env, batch: int) -> list[tuple[Array, pgx.State]]:
    """Give each device a key and its share of the games, each after 0 to 59 random moves."""
    devices = jax.devices()
    number = max(n for n in range(1, len(devices) + 1) if batch % n == 0)
    size = batch // number

    def ply(lengths: Array, state: pgx.State, step: tuple[Array, Array]) -> tuple[Any, None]:
        number, key = step
        action_key, reset_key = jax.random.split(key)
        action = jax.random.categorical(action_key, jnp.log(state.legal_action_mask))
        moved, _ = advance(env, state, action, reset_key)
        choose = jax.vmap(jnp.where)
        return jax.tree.map(partial(choose, number < lengths), moved, state), None

    @jax.jit
    def start(key: Array) -> tuple[Array, pgx.State]:
        key, start_key, length_key, ply_key = jax.random.split(key, 4)
        lengths = jax.random.randint(length_key, (size,), 0, LONGEST_OPENING)
        state = jax.vmap(env.init)(jax.random.split(start_key, size))
        steps = jnp.arange(LONGEST_OPENING), jax.random.split(ply_key, LONGEST_OPENING)
        return key, jax.lax.scan(partial(ply, lengths), state, steps)[0]

    return [jax.device_put(start(jax.random.PRNGKey(i)), devices[i]) for i in range(number)]


def rounds_per_second(calls: list[Callable[[], Any]], seconds: float) -> float:
    """Make one call a device, all at once, again and again; the first round only compiles."""

    def finish(call: Callable[[], Any]) -> None:
        jax.block_until_ready(call())

    with ThreadPoolExecutor(len(calls)) as pool:
        list(pool.map(finish, calls))
        rounds, start = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - start) < seconds:
            list(pool.map(finish, calls))
            rounds += 1
    return rounds / elapsed


def jit(function: Callable[..., Any]) -> Any:
    """Compile for this kind of device."""
    is_tuned = is_cpu() and not os.environ.get("PEERS_STOCK")
    return jax.jit(function, compiler_options=CPU_OPTIONS if is_tuned else None)


def is_cpu() -> bool:
    """Tell whether jax runs on the processor."""
    return bool(jax.default_backend() == "cpu")


def device_name() -> str:
    """Name the machine that jax runs on."""
    if not is_cpu():
        return f"{len(jax.devices())} × {jax.devices()[0].device_kind}"
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores"
