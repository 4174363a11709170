"""The commands about training and its runs; like all, they import what works only when called."""

from pathlib import Path
from typing import Annotated

import typer

from randori.cli.options import Iterations, Json, Minutes, Plain, Seed, Settings
from randori.cli.report import print_json
from randori.errors import UserError


def run_named(name: str) -> Path:
    """Return the folder of a run that goes by a plain name."""
    if name in ("..", "") or Path(name).name != name:
        raise UserError(
            f"--name is the name of a folder in runs/, not {name!r}; "
            "use --run PATH to train in another place"
        )
    return Path("runs") / name


def train(
    game: Annotated[
        str,
        typer.Argument(
            metavar="GAME",
            show_default=False,
            help="othello:size=6, my_game.py …; only --list-settings needs none.",
        ),
    ] = "",
    learner: Annotated[str, typer.Option(help="What learns: alphazero or shapes.")] = "alphazero",
    preset: Annotated[
        str, typer.Option(help="auto, laptop, demo, gpu …; auto is gpu where there is one.")
    ] = "auto",
    minutes: Minutes = None,
    iterations: Iterations = None,
    settings: Settings = None,
    seed: Seed = 0,
    name: Annotated[str | None, typer.Option(help="Train in runs/NAME.")] = None,
    run: Annotated[Path | None, typer.Option(metavar="PATH", help="Train in this folder.")] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="MODEL", help="Begin with its weights: a run, a file, or az."
        ),
    ] = None,
    runtime: Annotated[
        str | None, typer.Option(help="auto, cuda, openvino or torch: runs the network.")
    ] = None,
    plain: Plain = False,
    json: Json = False,
    list_settings: Annotated[
        bool,
        typer.Option(
            "--list-settings",
            help="Print all settings and presets; with --json, the learner's settings.",
        ),
    ] = False,
) -> None:
    """Train an agent in a new run folder, from zero or from a trained model."""
    if name is not None and run is not None:
        raise UserError("--name and --run both say where to train; give one of them")
    path = run_named(name) if name is not None else run
    if list_settings:
        from randori.cli.training import print_settings

        print_settings(learner, json)
        return
    if not game:
        raise UserError("Missing argument 'GAME'. (see randori train --help)")
    from randori.games.registry import load_game

    load_game(game)  # a wrong name should not wait for torch
    from randori.cli.training import limits, start_training

    chosen = [*limits(minutes, iterations), *(settings or [])]
    if runtime is not None:
        chosen.append(f"runtime={runtime}")
    raise typer.Exit(
        start_training(game, learner=learner, preset=preset, settings=chosen, seed=seed,
                       path=path, source=source, plain=plain, as_json=json)
    )  # fmt: skip


def resume(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    minutes: Minutes = None,
    iterations: Iterations = None,
    settings: Settings = None,
    plain: Plain = False,
    json: Json = False,
) -> None:
    """Go on training in a run folder, from wherever it stands."""
    from randori.runs.folder import open_run

    open_run(run)
    from randori.cli.training import limits, resume_training

    chosen = [*limits(minutes, iterations), *(settings or [])]
    raise typer.Exit(resume_training(run, settings=chosen, plain=plain, as_json=json))


def doctor(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a report with charts.")
    ] = None,
    json: Json = False,
) -> None:
    """Examine a training run: what looks sick, and what to try."""
    from randori.runs.folder import open_run

    open_run(run)
    from randori.cli.doctor import run_doctor

    run_doctor(run, html=html, as_json=json)


def openings(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    plies: Annotated[int, typer.Option(min=1, max=40, help="Plies of a line.")] = 4,
    top: Annotated[int, typer.Option(min=1, max=200, help="Lines to list.")] = 12,
    fold: Annotated[bool, typer.Option("--fold", help="Take mirror images as one line.")] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a report with boards and charts.")
    ] = None,
    json: Json = False,
) -> None:
    """Show which openings a run plays as training goes on, and how they score."""
    from randori.runs.folder import open_run

    open_run(run)
    from randori.cli.openings import run_openings

    run_openings(run, plies=plies, top=top, fold=fold, html=html, as_json=json)


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, checkpoint or model.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to: a .safetensors file.")],
    force: Annotated[
        bool, typer.Option("--force", help="Replace a file that is there already.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a trained model for play alone, small enough to hand on."""
    if file.suffix != ".safetensors":
        raise UserError(f"{file} should end in .safetensors")
    from randori.cli.report import expect_new_file

    expect_new_file(file, force=force, way_out=" or add --force")
    from randori.agents.models import export_model
    from randori.runs.checkpoint import read_model

    size = export_model(run, file)
    if as_json:
        print_json({"file": str(file), "bytes": size})
        return
    agent = "shapes" if "sets" in read_model(file).info else "az"
    print(f"{file}: {size / 1e6:.2f} MB; use it as {agent}:{file}")


def reproduce(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="go-shapes.")],
    figure: Annotated[
        str | None,
        typer.Argument(metavar="[EXPERIMENT]", help="figure3 to figure6; all if none is named."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small version, in a few minutes.")
    ] = False,
    runs: Annotated[int | None, typer.Option(min=1, help="Runs of an experiment.")] = None,
    number: Annotated[
        int | None,
        typer.Option("--games", min=1, help="Training games of a run; in ratings, games a pair."),
    ] = None,
    sets: Annotated[
        str | None,
        typer.Option(metavar="A,B …", help="Shape sets to learn with: 2x2, 2x2@, ..3x3@ …"),
    ] = None,
    board: Annotated[
        str | None, typer.Option(metavar="GAME", help="Learn by these rules, not on 5×5.")
    ] = None,
    average: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Last share of games whose mean weights play."),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0.01, help="Training of each agent that is rated.")
    ] = None,
    size: Annotated[int, typer.Option(min=3, max=19, help="Board of the ratings.")] = 9,
    depth: Annotated[int, typer.Option(min=1, help="Plies of the rated search.")] = 2,
    shapes: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Trained shapes to rate and to draw.")
    ] = None,
    liberties: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Trained liberty shapes to rate.")
    ] = None,
    train: Annotated[
        bool, typer.Option("--train", help="Train what is rated, not the shipped shapes.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Runs side by side.")] = 1,
    seed: Seed = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FOLDER", help="Where results go.")
    ] = None,
    json: Json = False,
) -> None:
    """Run the experiments of a paper: tables here, results and plots in a folder."""
    from randori.cli.reproduce import Wish
    from randori.cli.reproduce import reproduce as run_paper

    folder = output or Path("runs") / f"{paper}{'-quick' if quick else ''}"
    wish = Wish(
        quick, runs, number, sets, board, average, minutes, size, depth, shapes, liberties,
        train, jobs, seed, folder, json,
    )  # fmt: skip
    run_paper(paper, figure, wish)
