"""Prepared data, checkpoints and results that cannot be used."""

import torch
from breaking import (
    RUN,
    Bad,
    Break,
    authors,
    block,
    both,
    file,
    first,
    folder,
    gone,
    torn,
    trapped,
    weights,
)

DATA = "results/tiny/data"
TRAIN, EVALUATE, ATTENTION = "train tiny vit", "evaluate tiny vit", "attention tiny vit"
AGAIN = "prepare the data again"
PREPARED = [
    Bad(
        "a file for results",
        "prepare tiny",
        ("results", "directory"),
        both(gone("results"), file("results", "x")),
    ),
    Bad("training before preparing", "train untouched vit", ("untouched", "Prepare")),
    Bad("measuring before preparing", "measure untouched", ("untouched", "Prepare")),
    Bad("torn images", TRAIN, ("images.npy", AGAIN), torn(f"{DATA}/images.npy")),
    Bad("torn labels", TRAIN, ("labels.npy", AGAIN), torn(f"{DATA}/labels.npy")),
    Bad(
        "empty images", EVALUATE, ("images.npy", AGAIN), file(f"{DATA}/images.npy", "")
    ),
    Bad("no images", EVALUATE, ("images.npy is missing",), gone(f"{DATA}/images.npy")),
    Bad("torn facts", ATTENTION, ("data.json", AGAIN), torn(f"{DATA}/data.json")),
    Bad(
        "foreign facts", TRAIN, ("data.json", "counts"), file(f"{DATA}/data.json", "{}")
    ),
    Bad(
        "facts of a list", TRAIN, ("data.json", AGAIN), file(f"{DATA}/data.json", "[]")
    ),
    Bad("a folder for facts", TRAIN, ("data.json",), folder(f"{DATA}/data.json")),
    Bad(
        "images of another size",
        TRAIN,
        ("digits at 16 pixels", "digits at 32", "python -m reattn prepare tiny"),
        block("data", image_size=32),
    ),
]

MODEL = f"{RUN}/model.pt"


def lost(content: dict) -> None:
    """A weight is missing."""
    del content["model"][first(content)]


def added(content: dict) -> None:
    """A weight is too many."""
    content["model"]["zebra"] = torch.zeros(3)


def reshaped(content: dict) -> None:
    """A weight has another shape."""
    content["model"][first(content)] = torch.zeros(7)


def broken(content: dict) -> None:
    """A weight is not a number."""
    weight = content["model"][first(content)]
    content["model"][first(content)] = torch.full_like(weight, torch.nan)


WEIGHTS = [
    ("no weights", ("model.pt is missing", "Train tiny/vit/seed0"), gone(MODEL)),
    ("torn weights", ("model.pt",), torn(MODEL)),
    ("empty weights", ("model.pt",), file(MODEL, "")),
    ("a page for weights", ("model.pt",), file(MODEL, "<html></html>")),
    ("a folder for weights", ("model.pt",), folder(MODEL)),
    ("code for weights", ("model.pt",), trapped(MODEL)),
    (
        "a tensor for weights",
        ("model.pt", "no model"),
        weights(lambda c: torch.ones(3)),
    ),
    ("a weight lost", ("model.pt", "another model"), weights(lost)),
    ("a weight too many", ("model.pt", "another model", "zebra"), weights(added)),
    ("a weight of another shape", ("model.pt", "another model"), weights(reshaped)),
    (
        "weights of text",
        ("model.pt", "another model"),
        weights(lambda content: {"model": {"a": "b"}}),
    ),
    (
        "weights of a list",
        ("model.pt", "no model"),
        weights(lambda content: {"model": [1, 2]}),
    ),
]

CHECKPOINT = "best_model.ckpt"
IMPORT = f"import vit {{project}}/{CHECKPOINT} --study tiny --replace"


def component(state: dict) -> dict:
    """The first component of an authors' checkpoint."""
    return state[next(iter(state))]


def key_of(state: dict) -> str:
    """The first key of its first component."""
    return next(iter(component(state)))


def without_key(state: dict) -> None:
    """A key is missing."""
    del component(state)[key_of(state)]


def with_key(state: dict) -> None:
    """A key is too many."""
    component(state)["zebra"] = torch.zeros(3)


def other_shape(state: dict) -> None:
    """A tensor has another shape."""
    component(state)[key_of(state)] = torch.zeros(3)


def not_numbers(state: dict) -> None:
    """A tensor is not a number."""
    tensor = component(state)[key_of(state)]
    component(state)[key_of(state)] = torch.full_like(tensor, torch.nan)


IMPORTS = [
    ("no checkpoint", ("is not a file",), None),
    ("a folder", ("is not a file",), folder(CHECKPOINT)),
    ("a page", ("torch.save",), file(CHECKPOINT, "<html></html>")),
    ("an empty file", ("torch.save",), file(CHECKPOINT, "")),
    ("code", ("torch.save",), trapped(CHECKPOINT)),
    ("a tensor", ("authors' code", "'encoder'"), authors(lambda s: torch.ones(3))),
    ("a list", ("authors' code", "'encoder'"), authors(lambda s: [1, 2])),
    (
        "another variant",
        ("missing", "more: is it of another variant?"),
        authors(variant="learned2d-9h-content"),
    ),
    ("a missing key", ("missing: ",), authors(without_key)),
    ("a key too many", ("unexpected: zebra",), authors(with_key)),
    ("another shape", ("wrong shape", "the model needs"), authors(other_shape)),
    ("a weight of NaN", ("not finite",), authors(not_numbers)),
    (
        "text for a tensor",
        ("not a tensor",),
        authors(lambda s: component(s).update({key_of(s): "x"})),
    ),
]


def import_of(name: str, words: tuple[str, ...], breaks: Break | None) -> Bad:
    """One checkpoint that cannot be imported."""
    options = {"breaks": breaks} if breaks else {}
    return Bad(f"an import of {name}", IMPORT, (CHECKPOINT, *words), **options)


AS_IT_IS = "--no-refresh"
REPORT = f"report tiny {AS_IT_IS}"
TABLE, HISTORY = "results/tiny/tables/models.csv", f"{RUN}/history.csv"
ARRAYS = "results/tiny/attention/vit.npz"
LISTED = "results/tiny/figures/curves/figures.json"
CONDITIONS = "results/tiny/measure/measurements.json"
RESULTS = [
    Bad("figures before attention", "figures untouched vit", ("vit.npz", "attention")),
    Bad(
        "charts before tables", "charts untouched comparison", ("models.csv", "tables")
    ),
    Bad(
        "a report before tables",
        f"report untouched {AS_IT_IS}",
        ("models.csv", "tables untouched"),
    ),
    Bad("torn arrays", "figures tiny vit", ("vit.npz",), torn(ARRAYS)),
    Bad("a page for arrays", "figures tiny vit", ("vit.npz",), file(ARRAYS, "<html>")),
    Bad("a torn status", ATTENTION, ("status.json",), torn(f"{RUN}/status.json")),
    Bad("a torn history", "charts tiny curves", ("history.csv",), torn(HISTORY, 0.1)),
    Bad(
        "a history cut in a row",
        "charts tiny curves",
        ("history.csv", "middle of a row"),
        torn(HISTORY, 0.9),
    ),
    Bad(
        "a binary history",
        "charts tiny curves",
        ("history.csv",),
        file(HISTORY, b"\xff"),
    ),
    Bad("an empty table", "charts tiny comparison", ("models.csv",), file(TABLE, "")),
    Bad("a torn table", REPORT, ("models.csv",), torn(TABLE, 0.1)),
    Bad("a binary table", REPORT, ("models.csv",), file(TABLE, b"\xff\xfe")),
    Bad("a folder for a table", REPORT, ("models.csv",), folder(TABLE)),
    Bad("a torn list of figures", REPORT, ("figures.json",), torn(LISTED)),
    Bad("a foreign list of figures", REPORT, ("figures.json",), file(LISTED, "[3]")),
    Bad(
        "a figure that is gone",
        REPORT,
        ("vit_curves.svg", "snakemake", "--drop-figures"),
        gone("results/tiny/figures/curves/vit_curves.svg"),
    ),
    Bad(
        "a figure that is no picture",
        REPORT,
        ("vit_curves.svg", "draw it again"),
        file("results/tiny/figures/curves/vit_curves.svg", "x"),
    ),
    Bad("torn conditions", REPORT, ("measurements.json",), torn(CONDITIONS)),
    Bad("foreign conditions", REPORT, ("measurements.json",), file(CONDITIONS, "3")),
]

BAD_RESULTS = [
    *PREPARED,
    *(Bad(name, EVALUATE, words, breaks) for name, words, breaks in WEIGHTS),
    Bad("code for weights, looked at", ATTENTION, ("model.pt",), trapped(MODEL)),
    Bad("weights of NaN, looked at", ATTENTION, ("model.pt",), weights(broken)),
    *(import_of(*entry) for entry in IMPORTS),
    Bad(
        "an import in the place of a run",
        IMPORT.removesuffix(" --replace"),
        ("holds a run", "--replace"),
        authors(),
    ),
    *RESULTS,
]
