"""A study's results, made up: what tables and report read, without training."""

import json
from pathlib import Path

from reattn.claims import judge_claims
from reattn.code import code_hash
from reattn.config import load_variant
from reattn.config.resolution import resolve_variants
from reattn.config.studies import Study
from reattn.config.variants import Variant
from reattn.tables import make_tables

NAME = "made-up"
TEST_IMAGES = 10_000
PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{w}pt" height="{h}pt" '
    'viewBox="0 0 {w} {h}"><rect x="0.5" y="0.5" width="{i}" height="{j}" '
    'fill="#dddddd" stroke="#222222"/><text x="9" y="20" '
    'font-family="DejaVu Sans" font-size="9">{text}</text></svg>\n'
)
LINE = {
    "learning_rate": 0.1,
    "train_loss": 1.5,
    "train_accuracy": 50.0,
    "test_accuracy_eval": 55.0,
    "seconds": 9.0,
}


def made_up_study(**changes: object) -> tuple[Study, dict[str, Variant]]:
    """A study of the report's models and its variants."""
    content = {
        "title": "Made-up numbers",
        "reduced": "invented numbers, for tests alone",
        "data": {"source": "digits", "image_size": 32, "note": "Not real | at *all*."},
        "groups": ["report"],
        "seeds": [0],
        "training": {"device": "cpu", "epochs": 3, "wandb": "offline"},
        "validation": {"images": 0, "reason": "nothing is selected"},
        "attention": {"images": [0], "queries": [[7, 5]]},
        **changes,
    }
    study = Study.model_validate(content)
    return study, resolve_variants(study, NAME)


def write_run(
    results: Path,
    variant: str,
    seed: int = 0,
    status: str = "ok",
    reason: str | None = None,
    **metrics: object,
) -> Path:
    """One run's status, metrics and history; None leaves a metric null."""
    folder = results / "runs" / variant / f"seed{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "study": NAME,
        "variant": variant,
        "seed": seed,
        "status": status,
        "accuracy": 71.5,
        "accuracy_authors": 70.25,
        "accuracy_best_eval": 72.0,
        "validation_accuracy": None,
        "validation_reason": "nothing is selected",
        "test_images": TEST_IMAGES,
        "epochs_run": 4,
        "image_passes": 200_000,
        "train_seconds": 312.5,
        "images_per_second": 640.0,
        "params": 123_456,
        "device": "A made-up processor",
        "threads": 1,
        "precision": "fp32",
        "batch": 100,
        "micro_batch": 100,
        "batch_normalisation_note": None,
        "commit": "0123456789abcdef0123456789abcdef01234567",
        "code_hash": code_hash(load_variant(variant).model.family),
        "data_checksum": "fedcba9876543210" * 4,
        "data_source": "digits",
        "wandb_run": f"results/{NAME}/wandb/offline-run-{variant}-{seed}",
        **metrics,
    }
    state = {"status": status, "reason": reason, "epoch": 4}
    (folder / "metrics.json").write_text(json.dumps(content))
    (folder / "status.json").write_text(json.dumps(state))
    head = ",".join(["epoch", *LINE])
    lines = [f"{epoch},{','.join(map(str, LINE.values()))}" for epoch in range(1, 5)]
    (folder / "history.csv").write_text("\n".join([head, *lines]) + "\n")
    return folder


def write_measurements(results: Path, variants: dict[str, Variant]) -> None:
    """Times, sizes and the machine."""
    statistics = ("mean", "std", "median", "q1", "q3")
    times = [
        f"wall_time{form}_ms_{statistic}"
        for form in ("", "_plain")
        for statistic in statistics
    ]
    head = ["variant", "params", "flops", *times]
    head += ["throughput_img_s", "throughput_plain_img_s", "reason"]
    rows = [
        [name, 37_394_506 // (place + 1), 15_020_000_000 - place]
        + [1012.5 + place, 110.75, 1012.4, 1012.1, 1012.9] * 2
        + [90.5, 60.25, ""]
        for place, name in enumerate(variants)
    ]
    folder = results / "measure"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [",".join(map(str, row)) for row in [head, *rows]]
    (folder / "measurements.csv").write_text("\n".join(lines) + "\n")
    conditions = {
        "device_name": "A made-up processor",
        "threads": 1,
        "precision": "fp32",
        "iterations": 300,
        "warmup": 10,
    }
    (folder / "measurements.json").write_text(json.dumps(conditions))


def make_all_tables(study: Study, variants: dict[str, Variant], results: Path) -> None:
    """Tables, and the verdicts that are made of them."""
    make_tables(study, variants, results)
    judge_claims(study, variants, results)


def write_figures(folder: Path, entries: list[dict], **size: int) -> None:
    """A figures.json and a picture for every file that it names."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "figures.json").write_text(json.dumps(entries))
    width, height = size.get("width", 454), size.get("height", 120)
    for entry in entries:
        if entry["file"]:
            inner = {"i": width - 1, "j": height - 1}
            picture = PICTURE.format(w=width, h=height, text=entry["file"], **inner)
            (folder / entry["file"]).write_text(picture)


def figure(kind: str, file: str | None, variant: str | None = None) -> dict:
    """One entry of a figures.json."""
    return {
        "file": file,
        "kind": kind,
        "caption": f"A made-up {kind} & its caption, 50 % | of *it*.",
        "alt": f'What the "{kind}" shows.',
        "variant": variant,
        "image": "china.jpg" if kind in ("query", "average") else None,
    }


def write_all_figures(results: Path, variants: dict[str, Variant]) -> None:
    """The figures that a whole study has."""
    folder = results / "figures"
    for name, variant in variants.items():
        kinds = ("query", "average")
        own = [figure(kind, f"{name}_{kind}.svg", name) for kind in kinds]
        if variant.model.family == "quadratic":
            own.append(figure("gaussians", f"{name}_gaussians.svg", name))
        if variant.model.family == "resnet":
            own = [figure("none", None, name)]
        write_figures(folder / "attention" / name, own)
    curves = [figure("curves", f"{name}_curves.svg", name) for name in variants]
    write_figures(folder / "curves", [*curves, figure("overview", "overview.svg")])
    drawn = ("ordinary-attention.svg", "hierarchical-attention.svg")
    write_figures(folder / "diagrams", [figure("diagram", file) for file in drawn])
    charts = [figure(kind, f"{kind}.svg") for kind in ("models", "comparison")]
    write_figures(folder / "comparison", charts)
